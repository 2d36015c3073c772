// Values of a test file with their places: everything that is wrong with one is told at once.

import { isJsonObject, toJson } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { didYouMean } from "../core/nearest.ts";
import { ProblemsError } from "../core/problems_error.ts";
import { SourceError } from "../core/source_error.ts";
import type { Span } from "../core/source_error.ts";
import { yamlFound } from "../parse/check_fields.ts";
import { parseYaml } from "../parse/yaml.ts";
import type { YamlDocument } from "../parse/yaml.ts";
import type { TestSource } from "./file_test.ts";

/** How a text is to be. */
export interface TextWanted {
  readonly test: "equals" | "contains" | "matches";
  readonly text: string;
  readonly span: Span;
}

const TESTS = ["equals", "contains", "matches"] as const;

interface Origin {
  readonly source: TestSource;
  readonly yaml: YamlDocument;
  readonly problems: SourceError[];
}

/** A value of a file of tests, with its place. What is wrong with it is told to its file, and read as if it were not there. */
export class TestField {
  readonly value: Json | undefined;
  readonly #origin: Origin;
  readonly #path: readonly (string | number)[];

  private constructor(origin: Origin, path: readonly (string | number)[], value: Json | undefined) {
    this.#origin = origin;
    this.#path = path;
    this.value = value;
  }

  /** All of a file. @throws {ProblemsError} for what is no YAML */
  static async read(source: TestSource): Promise<TestField> {
    const problems: SourceError[] = [];
    const yaml = await parseYaml(source.text, { file: source.file, repeated: problems });
    return new TestField({ source, yaml, problems }, [], toJson(yaml.value));
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

  problem(message: string, what: "key" | "value" = "value"): void {
    const { problems, source: { text: source } } = this.#origin;
    problems.push(new SourceError(message, { span: this.#spanOf(what), source, code: "E-test" }));
  }

  /** @throws {ProblemsError} with all that is wrong with the file, in the order of the text, and then `others`, if there are any */
  throwProblems(others: readonly SourceError[] = []): void {
    const inOrder = this.#origin.problems.toSorted(({ span: a }, { span: b }) =>
      (a?.line ?? 0) - (b?.line ?? 0) || (a?.column ?? 0) - (b?.column ?? 0)
    );
    if (inOrder.length + others.length > 0) throw new ProblemsError([...inOrder, ...others]);
  }

  /** A mapping with these keys and no others: the same field, to ask for what is at them. */
  withKeys(keys: readonly string[]): TestField {
    for (const [key, field] of this.entries()) {
      if (keys.includes(key)) continue;
      const hint = didYouMean(key, keys) || ` The keys here are ${keys.join(", ")}.`;
      field.problem(`Unknown key ${JSON.stringify(key)}.${hint}`, "key");
    }
    return this;
  }

  /** What is at a key or an index; without a value where nothing is. */
  at(key: string | number): TestField {
    const { value } = this;
    const path = [...this.#path, key];
    if (Array.isArray(value)) return new TestField(this.#origin, path, value[Number(key)]);
    const isIn = value !== undefined && isJsonObject(value) && Object.hasOwn(value, key);
    return new TestField(this.#origin, path, isIn ? value[key] : undefined);
  }

  /** What is deeper in it. */
  below(path: readonly (string | number)[]): TestField {
    return path.reduce((field: TestField, key) => field.at(key), this);
  }

  /** The fields of a mapping whose keys are anything. */
  entries(): readonly (readonly [key: string, field: TestField])[] {
    const { value } = this;
    if (value !== undefined && value !== null && isJsonObject(value)) {
      return Object.keys(value).map((key) => [key, this.at(key)]);
    }
    return this.#none("a mapping") ?? [];
  }

  items(): readonly TestField[] {
    const { value } = this;
    if (Array.isArray(value)) return value.map((_item, index) => this.at(index));
    return this.#none("a list") ?? [];
  }

  /** A list, or its only item alone. */
  oneOrMore(): readonly TestField[] {
    return Array.isArray(this.value) ? this.items() : this.isThere ? [this] : [];
  }

  text(): string | undefined {
    return typeof this.value === "string" ? this.value : this.#none("text");
  }

  #none(expected: string): undefined {
    if (this.value !== undefined) this.problem(`Expected ${expected}, found ${yamlFound(this.value)}`);
  }

  /** A mapping of texts; a number or a truth value is its text. */
  texts(): Readonly<Record<string, string>> {
    return Object.fromEntries(
      this.entries().map(([key, field]) => {
        const { value } = field;
        const isPlain = typeof value === "number" || typeof value === "boolean";
        return [key, isPlain ? String(value) : field.text() ?? ""];
      }),
    );
  }

  choice<Choice extends string | number>(choices: readonly Choice[]): Choice | undefined {
    const { value } = this;
    const found = choices.find((choice) => choice === value);
    if (value !== undefined && found === undefined) {
      this.problem(`Expected ${choices.join(", ")}, found ${JSON.stringify(value)}`);
    }
    return found;
  }

  wholeNumber({ from, to = Infinity }: { readonly from: number; readonly to?: number }): number | undefined {
    const { value } = this;
    if (value === undefined) return undefined;
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= from && value <= to) {
      return value;
    }
    const range = to === Infinity ? `from ${from}` : `from ${from} to ${to}`;
    this.problem(`Expected a whole number ${range}, found ${JSON.stringify(value)}`);
    return undefined;
  }

  /** `true`; absent and false are the same. */
  isTrue(): boolean {
    const { value = false } = this;
    if (typeof value !== "boolean") this.problem(`Expected true, found ${JSON.stringify(value)}`);
    return value === true;
  }

  pattern(): RegExp | undefined {
    const text = this.text();
    if (text === undefined) return undefined;
    try {
      return new RegExp(text, "u");
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.problem(`Expected a regular expression (${why})`);
      return undefined;
    }
  }

  /** A text that is to be equal, or a mapping with one of `equals`, `contains` and `matches`. */
  wanted(): TextWanted | undefined {
    const { value, span } = this;
    if (value === undefined) return undefined;
    if (typeof value === "string") return { test: "equals", text: value, span };
    this.withKeys(TESTS);
    const given = TESTS.filter((test) => this.at(test).isThere);
    const [test] = given;
    if (test === undefined || given.length > 1) {
      this.problem("Expected a text, or a mapping with one of equals, contains and matches");
      return undefined;
    }
    const field = this.at(test);
    if (test === "matches") field.pattern();
    else field.text();
    return { test, text: String(field.value), span: field.span };
  }

  /** Messages by role: `user: TEXT`. */
  messages(roles: readonly string[]): readonly { readonly role: string; readonly wanted: TextWanted }[] {
    return this.items().flatMap((message) =>
      message.withKeys(roles).entries().flatMap(([role, text]) => {
        const wanted = text.wanted();
        return wanted === undefined ? [] : [{ role, wanted }];
      })
    );
  }

  /** What `read` makes of the value; what it finds wrong is told at its place. */
  reply<Reply>(read: (value: Json, problems: FieldProblem[]) => Reply): Reply {
    const found: FieldProblem[] = [];
    const reply = read(this.value ?? null, found);
    for (const { path, message, what } of found) this.below(path).problem(message, what);
    return reply;
  }
}

interface FieldProblem {
  readonly path: readonly (string | number)[];
  readonly what?: "key";
  readonly message: string;
}
