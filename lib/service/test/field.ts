// Values of a test file with their places: the schema of the format says what fits, and everything that is wrong is told at once.
import {
  decodeSegment,
  isJsonObject,
  type Json,
  type JsonObject,
  type Message,
  ProblemsError,
  SourceError,
  type Span,
  textOf,
  toJson,
} from "../../core/core.ts";
import { readReply, type ScriptReply } from "../../parse/files/script.ts";
import { parseYaml, type YamlDocument } from "../../parse/yaml/yaml.ts";
import { textDiff } from "../../render/text_diff.ts";
import { validateInput } from "../../schema/validate.ts";

/** A file of tests, as it is read. */
export interface TestSource {
  readonly text: string;
  /** As it was named. */
  readonly file: string;
  /** The same, absolute. */
  readonly path: string;
}

/** Something that is not as expected. */
export interface TestFailure {
  /** What was looked at: `value`, `blocks/summary`, ... */
  readonly what: string;
  /** Of the expectation. */
  readonly span: Span;
  /** In one sentence. */
  readonly message: string;
  /** Line by line, where two texts were compared. */
  readonly diff?: string;
}

type Path = readonly (string | number)[];

interface Origin {
  readonly source: TestSource;
  readonly yaml: YamlDocument;
  readonly problems: Map<string, SourceError>;
  /** Where the schema was not met. */
  readonly refused: string[];
}

/** A value of a file of tests, with its place. What is not as the schema says is read as if it were not there. */
export class TestField {
  readonly value: Json | undefined;
  readonly #origin: Origin;
  readonly #path: Path;

  private constructor(origin: Origin, path: Path, value: Json | undefined) {
    this.#origin = origin;
    this.#path = path;
    this.value = value;
  }

  /** All of a file; what does not fit the schema is a problem of it. @throws {ProblemsError} for what is no YAML */
  static async read(source: TestSource, schema: JsonObject): Promise<TestField> {
    const repeated: SourceError[] = [];
    const yaml = await parseYaml(source.text, { file: source.file, repeated });
    const problems = new Map(repeated.map((problem, index) => [`repeated ${index}`, problem]));
    const root = new TestField({ source, yaml, problems, refused: [] }, [], toJson(yaml.value));
    const checked = await validateInput(schema, root.value ?? null);
    for (const { pointer, message } of checked.ok ? [] : checked.issues) {
      const field = root.below(pointer === "" ? [] : pointer.split("/").map(decodeSegment));
      field.problem(
        pointer === "" ? message : `${pointer}: ${message}`,
        /^unknown|^cannot be a name|^not allowed/.test(message) ? "key" : "value",
      );
      root.#origin.refused.push(`${JSON.stringify(field.#path).slice(0, -1)},`);
    }
    return root;
  }

  get isThere(): boolean {
    return this.value !== undefined;
  }

  /** Of the value, or of what it would be in. */
  get span(): Span {
    return this.#spanOf("value");
  }

  get keySpan(): Span {
    return this.#spanOf("key");
  }

  #spanOf(what: "key" | "value"): Span {
    const { yaml, source: { file } } = this.#origin;
    for (let length = this.#path.length; length > 0; length--) {
      const span = yaml.at(this.#path.slice(0, length), what);
      if (span !== undefined) return span;
    }
    return { file, line: 1, column: 1 };
  }

  /** Tells what is wrong, but where the schema has told it already. */
  problem(message: string, what: "key" | "value" = "value"): void {
    const { problems, refused, source: { text: source } } = this.#origin;
    const place = `${JSON.stringify(this.#path).slice(0, -1)},`;
    if (refused.some((each) => place.startsWith(each))) return;
    const span = this.#spanOf(what);
    problems.set(
      `${span.line}:${span.column} ${message}`,
      new SourceError(message, { span, source, code: "E-test" }),
    );
  }

  /** @throws {ProblemsError} with all that is wrong with the file, in the order of the text, and then `others`, if there are any */
  throwProblems(others: readonly SourceError[] = []): void {
    const inOrder = [...this.#origin.problems.values()].sort(({ span: a }, { span: b }) =>
      (a?.line ?? 0) - (b?.line ?? 0) || (a?.column ?? 0) - (b?.column ?? 0)
    );
    if (inOrder.length + others.length > 0) throw new ProblemsError([...inOrder, ...others]);
  }

  /** What is at a key or an index; without a value where nothing is. */
  at(key: string | number): TestField {
    const { value } = this;
    const name = Array.isArray(value) ? Number(key) : key;
    const isIn = typeof value === "object" && value !== null && Object.hasOwn(value, name);
    return new TestField(
      this.#origin,
      [...this.#path, name],
      isIn ? toJson(Reflect.get(value, name)) : undefined,
    );
  }

  /** What is deeper in it. */
  below(path: Path): TestField {
    return path.reduce((field: TestField, key) => field.at(key), this);
  }

  /** The fields of a mapping. */
  entries(): readonly (readonly [key: string, field: TestField])[] {
    const { value } = this;
    const isMapping = typeof value === "object" && value !== null && isJsonObject(value);
    return isMapping ? Object.keys(value).map((key) => [key, this.at(key)]) : [];
  }

  items(): readonly TestField[] {
    return Array.isArray(this.value) ? this.value.map((_item, index) => this.at(index)) : [];
  }

  /** A list, or its only item alone. */
  oneOrMore(): readonly TestField[] {
    return Array.isArray(this.value) ? this.items() : this.isThere ? [this] : [];
  }

  text(): string | undefined {
    return typeof this.value === "string" ? this.value : undefined;
  }

  number(): number | undefined {
    return typeof this.value === "number" ? this.value : undefined;
  }

  /** A mapping of texts; a number or a truth value is its text. */
  texts(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.entries().map(([key, { value }]) => [key, String(value)]));
  }

  /** How a text is to be, as it stands in a difference. */
  wantedText(): string {
    const [test, text] = this.#wanted();
    return test === "equals" ? text : `(${test} ${JSON.stringify(text)})`;
  }

  #wanted(): readonly [test: string, text: string, field: TestField] {
    const [[test, field] = ["equals", this]] = this.entries();
    return [test, field.text() ?? "", field];
  }

  /** What is wanted here is not what was found. */
  failure(what: string, message: string, more: Partial<TestFailure> = {}): readonly TestFailure[] {
    return [{ what, span: this.span, message, ...more }];
  }

  /**
   * What is not as it should be with a text, where this field says how it should be: the text itself, or one of equals, contains and
   * matches. White space at the end does not count where texts are to be equal.
   */
  failures(found: string | undefined, what: string): readonly TestFailure[] {
    if (!this.isThere) return [];
    const [test, text, field] = this.#wanted();
    if (found === undefined) return field.failure(what, `there is no ${what}`);
    if (test === "equals") {
      const [a, b] = [text.trimEnd(), found.trimEnd()];
      return a === b ? [] : field.failure(what, `${what} is another one`, { diff: textDiff(a, b) });
    }
    if (test === "contains" ? found.includes(text) : new RegExp(text, "u").test(found)) return [];
    const verb = test === "contains" ? "does not contain" : "does not match";
    const shown = found.length > SHOWN ? `${found.slice(0, SHOWN)}\u2026` : found;
    return field.failure(what, `${what} ${verb} ${JSON.stringify(text)}: ${JSON.stringify(shown)}`);
  }

  /** The messages of a model call, where this field lists them: `ROLE: TEXT` each. @param what they are of; `the` stands before that in sentences */
  messageFailures(
    found: readonly Message[],
    { what, the = "", span }: { readonly what: string; readonly the?: string; readonly span: Span },
  ): readonly TestFailure[] {
    const wanted = this.items().flatMap((message) => message.entries());
    const roles = found.map(({ role }) => role).join(", ") || "none";
    const wantedRoles = wanted.map(([role]) => role).join(", ") || "none";
    if (roles !== wantedRoles) {
      return this.failure(what, `in ${the}${what} the messages are ${roles}, expected ${wantedRoles}`, {
        span,
        diff: textDiff(
          linesOf(wanted.map(([role, text]) => `${role}: ${text.wantedText()}`)),
          linesOf(found.map((message) => `${message.role}: ${textOf(message)}`)),
        ),
      });
    }
    return wanted.flatMap(([role, text], index) => {
      const message = found[index];
      return text.failures(message && textOf(message), `${role} message ${index + 1} of ${the}${what}`);
    });
  }

  /** The reply of a model; what is wrong with it is told at its place. */
  reply(): ScriptReply {
    return readReply(this.value ?? null, (path, { message, at = "value" }) => {
      const field = this.below(path);
      if (typeof at === "string") field.problem(message, at);
      else field.at(at.key).problem(message, "key");
    });
  }
}

const SHOWN = 2000;

/** Texts as the lines of a difference. */
export function linesOf(texts: readonly string[]): string {
  return texts.map((text) => `${text.trimEnd()}\n`).join("");
}
