import {
  didYouMean,
  isRecord,
  type Json,
  type JsonObject,
  messageOf,
  parseJson,
  ProblemsError,
  shownJson,
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

const CONTENT = ["text", "chunks", "object", "error"];
const KEYS = [...CONTENT, "calls", "delayMs", "when", "repeat"];

type Path = ReplyProblem["path"];

/** Reads one reply, strictly; `problems` gets what is wrong with it. */
export function readReply(value: Json, problems: ReplyProblem[]): ScriptReply {
  const refuse = (path: Path, message: string, what?: "key"): void =>
    void problems.push({ path, what, message });
  const unfit = (value: Json | undefined, path: Path, wanted: string): void =>
    refuse(path, `Found ${value === undefined ? "nothing" : shownJson(value)}, expected ${wanted}`);

  const mappingOf = (value: Json, path: Path, keys: readonly string[], wanted: string): JsonObject => {
    if (!isRecord(value)) {
      unfit(value, path, wanted);
      return {};
    }
    for (const key of Object.keys(value).filter((each) => !keys.includes(each))) {
      const hint = didYouMean(key, keys) || ` The keys here are ${keys.join(", ")}.`;
      refuse([...path, key], `Unknown key ${JSON.stringify(key)}.${hint}`, "key");
    }
    return value;
  };
  const listOf = <Item>(
    value: Json | undefined,
    path: Path,
    item: (value: Json, path: Path) => Item,
  ): readonly Item[] => {
    if (Array.isArray(value)) return value.map((each: Json, index) => item(each, [...path, index]));
    if (value !== undefined) unfit(value, path, "a list");
    return [];
  };
  const textOf = (value: Json | undefined, path: Path): string => {
    if (typeof value === "string") return value;
    unfit(value, path, "text");
    return "";
  };
  const countOf = (value: Json | undefined, path: Path): number | undefined => {
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
    if (value !== undefined) unfit(value, path, "a whole number from 0");
    return undefined;
  };
  const patternOf = (value: Json | undefined, path: Path): RegExp | undefined => {
    if (value === undefined) return undefined;
    try {
      return new RegExp(textOf(value, path), "u");
    } catch (error) {
      unfit(value, path, `a regular expression (${messageOf(error)})`);
      return undefined;
    }
  };
  const errorOf = (value: Json, path: Path): NonNullable<ScriptReply["error"]> => {
    const wanted = "an error such as `{ status: 500 }`";
    const keys = ["status", "message", "retryAfterMs"];
    const { status, message = "the script says so", retryAfterMs } = mappingOf(value, path, keys, wanted);
    return {
      message: textOf(message, [...path, "message"]),
      status: countOf(status, [...path, "status"]),
      retryAfterMs: countOf(retryAfterMs, [...path, "retryAfterMs"]),
    };
  };
  const callOf = (value: Json, path: Path): ScriptReply["calls"][number] => {
    const { name, input = {} } = mappingOf(value, path, ["name", "input"], "a call: name and input");
    return { name: textOf(name, [...path, "name"]), arguments: JSON.stringify(input) };
  };

  const reply = mappingOf(value, [], KEYS, "a reply such as `text: Hello`");
  const { text, chunks, object, error, calls, delayMs, when, repeat = false } = reply;
  const given = CONTENT.filter((key) => Object.hasOwn(reply, key));
  if (given.length > 1) refuse([given[1] ?? ""], `Found ${given.join(" and ")}, expected one of them`);
  if (given.length === 0 && calls === undefined) {
    refuse([], "Found a reply that says nothing, expected text, chunks, calls, object or error");
  }
  if (typeof repeat !== "boolean") unfit(repeat, ["repeat"], "true or false");
  return {
    chunks: text !== undefined
      ? [textOf(text, ["text"])]
      : object !== undefined
      ? [JSON.stringify(object)]
      : listOf(chunks, ["chunks"], textOf),
    delayMs: countOf(delayMs, ["delayMs"]) ?? 0,
    calls: listOf(calls, ["calls"], callOf),
    error: error === undefined ? undefined : errorOf(error, ["error"]),
    when: patternOf(when, ["when"]),
    repeat: repeat === true,
  };
}

/**
 * Reads the replies of a script: JSON lines when the file ends in `.jsonl` or `.ndjson`, else a YAML list.
 *
 * @throws {ProblemsError} with every problem and its place
 */
export async function readScript(text: string, file: string): Promise<readonly ScriptReply[]> {
  const problems: SourceError[] = [];
  const refuse = (span: Span, message: string): void =>
    void problems.push(new SourceError(message, { span: { file, ...span }, source: text, code: "E-script" }));
  const replies = /\.(jsonl|ndjson)$/i.test(file)
    ? fromLines(text, refuse)
    : fromYaml(await parseYaml(text, { file, repeated: problems }), refuse);
  if (problems.length > 0) throw new ProblemsError(problems);
  return replies;
}

type Refuse = (span: Span, message: string) => void;

function fromYaml(document: YamlDocument, refuse: Refuse): readonly ScriptReply[] {
  const value = toJson(document.value);
  if (!Array.isArray(value)) {
    const found = value === null ? "an empty file" : "something else";
    refuse({ line: 1, column: 1 }, `Found ${found}, expected a list of replies`);
    return [];
  }
  return value.map((item: Json, index) => {
    const found: ReplyProblem[] = [];
    const reply = readReply(item, found);
    for (const { path, what, message } of found) refuse(document.near([index, ...path], what), message);
    return reply;
  });
}

function fromLines(text: string, refuse: Refuse): readonly ScriptReply[] {
  return text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    const span = { line: index + 1, column: 1, length: line.length };
    try {
      const found: ReplyProblem[] = [];
      const reply = readReply(parseJson(line), found);
      for (const { message } of found) refuse(span, message);
      return [reply];
    } catch (error) {
      refuse(span, `Found a line that is not JSON (${messageOf(error)})`);
      return [];
    }
  });
}
