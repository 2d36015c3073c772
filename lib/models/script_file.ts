import {
  didYouMean,
  isJsonObject,
  type Json,
  type JsonObject,
  messageOf,
  parseJson,
  ProblemsError,
  SourceError,
  type Span,
  toJson,
} from "../core/core.ts";
import { parseYaml, type YamlDocument } from "../parse/yaml/yaml.ts";

/** One reply of a script file (turn.md 1). */
export interface ScriptReply {
  /** Told piece by piece. */
  readonly chunks: readonly string[];
  /** Before each piece. */
  readonly delayMs: number;
  /** The calls after the text: the provider's own, not blocks. */
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  readonly error?: { readonly status?: number; readonly message: string; readonly retryAfterMs?: number };
  /** The last message must match. */
  readonly when?: RegExp;
  /** It is never used up. */
  readonly repeat: boolean;
}

/** What is wrong with a reply, and where in it. */
export interface ReplyProblem {
  readonly path: readonly (string | number)[];
  /** Default: the value. */
  readonly what?: "key";
  readonly message: string;
}

const CONTENT = ["text", "chunks", "object", "error"] as const;
const KEYS = [...CONTENT, "calls", "delayMs", "when", "repeat"] as const;
const ERROR_KEYS = ["status", "message", "retryAfterMs"] as const;
const CALL_KEYS = ["name", "input"] as const;

/** Reads one reply, strictly; `problems` gets what is wrong with it. */
export function readReply(value: Json, problems: ReplyProblem[]): ScriptReply {
  const reader = new Reader(problems);
  const reply = reader.object(value, { path: [], keys: KEYS, what: "a reply such as `text: Hello`" });
  const given = CONTENT.filter((key) => Object.hasOwn(reply, key));
  if (given.length > 1) {
    reader.problem([given[1] ?? ""], `Found ${given.join(" and ")}, expected one of them`);
  }
  if (given.length === 0 && reply.calls === undefined) {
    reader.problem([], "Found a reply that says nothing, expected text, chunks, calls, object or error");
  }
  const when = reader.when(reply.when);
  const error = reply.error === undefined ? undefined : reader.error(reply.error);
  return {
    chunks: chunksOf(reply, reader),
    delayMs: reader.number(reply.delayMs, ["delayMs"]) ?? 0,
    calls: reply.calls === undefined ? [] : reader.calls(reply.calls),
    error,
    when,
    repeat: reader.boolean(reply.repeat, ["repeat"]) ?? false,
  };
}

function chunksOf(reply: JsonObject, reader: Reader): readonly string[] {
  if (reply.text !== undefined) return [reader.text(reply.text, ["text"])];
  if (reply.object !== undefined) return [JSON.stringify(reply.object)];
  if (reply.chunks === undefined) return [];
  return reader.list(reply.chunks, ["chunks"]).map((chunk, index) => reader.text(chunk, ["chunks", index]));
}

type Path = readonly (string | number)[];

class Reader {
  readonly #problems: ReplyProblem[];

  constructor(problems: ReplyProblem[]) {
    this.#problems = problems;
  }

  problem(path: Path, message: string): void {
    this.#problems.push({ path, message });
  }

  object(
    value: Json,
    want: { readonly path: Path; readonly keys: readonly string[]; readonly what: string },
  ): JsonObject {
    if (value === null || !isJsonObject(value)) {
      this.problem(want.path, `Found ${shown(value)}, expected ${want.what}`);
      return {};
    }
    for (const key of Object.keys(value).filter((key) => !want.keys.includes(key))) {
      const hint = didYouMean(key, want.keys) || ` The keys here are ${want.keys.join(", ")}.`;
      const message = `Unknown key ${JSON.stringify(key)}.${hint}`;
      this.#problems.push({ path: [...want.path, key], what: "key", message });
    }
    return value;
  }

  list(value: Json, path: Path): readonly Json[] {
    if (Array.isArray(value)) return value;
    this.problem(path, `Found ${shown(value)}, expected a list`);
    return [];
  }

  text(value: Json | undefined, path: Path): string {
    if (typeof value === "string") return value;
    this.problem(path, `Found ${shown(value)}, expected text`);
    return "";
  }

  number(value: Json | undefined, path: Path): number | undefined {
    if (value === undefined || (typeof value === "number" && Number.isSafeInteger(value) && value >= 0)) {
      return value;
    }
    this.problem(path, `Found ${shown(value)}, expected a whole number from 0`);
    return undefined;
  }

  boolean(value: Json | undefined, path: Path): boolean | undefined {
    if (value === undefined || typeof value === "boolean") return value;
    this.problem(path, `Found ${shown(value)}, expected true or false`);
    return undefined;
  }

  when(value: Json | undefined): RegExp | undefined {
    if (value === undefined) return undefined;
    try {
      return new RegExp(this.text(value, ["when"]), "u");
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      this.problem(["when"], `Found ${shown(value)}, expected a regular expression (${why})`);
      return undefined;
    }
  }

  error(value: Json): NonNullable<ScriptReply["error"]> {
    const error = this.object(value, {
      path: ["error"],
      keys: ERROR_KEYS,
      what: "an error such as `{ status: 500 }`",
    });
    const status = this.number(error.status, ["error", "status"]);
    const retryAfterMs = this.number(error.retryAfterMs, ["error", "retryAfterMs"]);
    return {
      message: error.message === undefined
        ? "the script says so"
        : this.text(error.message, ["error", "message"]),
      status,
      retryAfterMs,
    };
  }

  calls(value: Json): ScriptReply["calls"] {
    return this.list(value, ["calls"]).map((each, index) => {
      const path = ["calls", index];
      const { name, input = {} } = this.object(each, {
        path,
        keys: CALL_KEYS,
        what: "a call: name and input",
      });
      return { name: this.text(name, [...path, "name"]), arguments: JSON.stringify(input) };
    });
  }
}

function shown(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/**
 * Reads the replies of a script: JSON lines when the file ends in `.jsonl` or `.ndjson`, else a YAML list.
 *
 * @throws {ProblemsError} with every problem and its place
 */
export async function readScript(text: string, file: string): Promise<readonly ScriptReply[]> {
  const problems: SourceError[] = [];
  const replies = /\.(jsonl|ndjson)$/i.test(file)
    ? fromLines(text, { file, problems })
    : await fromYaml(text, { file, problems });
  if (problems.length > 0) throw new ProblemsError(problems);
  return replies;
}

interface Source {
  readonly file: string;
  readonly problems: SourceError[];
}

async function fromYaml(text: string, { file, problems }: Source): Promise<readonly ScriptReply[]> {
  const document = await parseYaml(text, { file, repeated: problems });
  const value = toJson(document.value);
  if (!Array.isArray(value)) {
    const found = value === null ? "an empty file" : "something else";
    problems.push(
      problemAt({ file, line: 1, column: 1 }, {
        text,
        message: `Found ${found}, expected a list of replies`,
      }),
    );
    return [];
  }
  return value.map((item: Json, index) => {
    const found: ReplyProblem[] = [];
    const reply = readReply(item, found);
    for (const { path, what, message } of found) {
      const span = nearestSpan(document, { path: [index, ...path], what });
      problems.push(problemAt(span ?? { file, line: 1, column: 1 }, { text, message }));
    }
    return reply;
  });
}

/** The place of what is at the path or, where nothing is, of what it would be in. */
function nearestSpan(
  document: YamlDocument,
  { path, what }: { readonly path: readonly (string | number)[]; readonly what: "key" | undefined },
): Span | undefined {
  for (let length = path.length; length > 0; length--) {
    const span = document.at(path.slice(0, length), what);
    if (span !== undefined) return span;
  }
  return undefined;
}

function fromLines(text: string, { file, problems }: Source): readonly ScriptReply[] {
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    const found: ReplyProblem[] = [];
    const reply = readLine(line, found);
    for (const { message } of found) {
      problems.push(problemAt({ file, line: index + 1, column: 1, length: line.length }, { text, message }));
    }
    return [reply];
  });
}

function readLine(line: string, found: ReplyProblem[]): ScriptReply {
  try {
    return readReply(parseJson(line), found);
  } catch (error) {
    found.push({ path: [], message: `Found a line that is not JSON (${messageOf(error)})` });
    return readReply({ text: "" }, []);
  }
}

function problemAt(span: Span, say: { readonly text: string; readonly message: string }): SourceError {
  return new SourceError(say.message, { span, source: say.text, code: "E-script" });
}
