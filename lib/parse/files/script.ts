import { type Json, messageOf, parseJson, ProblemsError, SourceError } from "../../core/core.ts";
import {
  ANYTHING,
  FilePart,
  type FilePath,
  type Finding,
  FLAG,
  inWords,
  listOf,
  mapping,
  pathText,
  Shape,
  TEXT,
  wholeNumber,
} from "../shape/shape.ts";
import { readShape } from "../shape/yaml_reading.ts";

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

const COUNT = wholeNumber(0);

const CALL = mapping("a call", { name: TEXT, input: ANYTHING.or({}) }).to(({ name, input }) => ({
  name,
  arguments: JSON.stringify(input),
}));

const ERROR = mapping("an error", {
  status: COUNT.optional,
  message: TEXT.or("the script says so"),
  retryAfterMs: COUNT.optional,
});

const PATTERN = TEXT.to((source, part) => {
  try {
    return new RegExp(source, "u");
  } catch (error) {
    part.refuse(`must be a regular expression (${messageOf(error)})`);
    return undefined;
  }
});

/** What a reply says: one of these, or calls alone. */
const SAYING = ["text", "chunks", "object", "error"];

const REPLY: Shape<ScriptReply> = mapping("a reply", {
  text: TEXT.optional,
  chunks: listOf(TEXT).or([]),
  object: ANYTHING.optional,
  error: ERROR.optional,
  calls: listOf(CALL).optional,
  delayMs: COUNT.or(0),
  when: PATTERN.optional,
  repeat: FLAG.or(false),
}, {
  rules: [{
    check(part, { hasUnknown }) {
      const said = part.keys.filter((key) => SAYING.includes(key));
      if (said.length > 1) {
        part.child(said[1] ?? "")?.refuse(
          `stands beside ${inWords(said.slice(0, 1))}: a reply says one thing`,
        );
      }
      if (said.length > 0 || hasUnknown || part.child("calls") !== undefined) return;
      part.refuse("is a reply that says nothing; it needs text, chunks, calls, object or error");
    },
  }],
}).to(({ text, chunks, object, calls = [], ...reply }) => ({
  ...reply,
  calls,
  chunks: text !== undefined ? [text] : object !== undefined ? [JSON.stringify(object)] : chunks,
}));

const REPLIES = listOf(REPLY);

/** Reads one reply; `tell` is told what is wrong with it, and where in it. */
export function readReply(value: Json, tell: (path: FilePath, finding: Finding) => void): ScriptReply {
  const nowhere = { line: 1, column: 1 };
  return REPLY.read(new FilePart(value, [], { tell, written: () => undefined, span: () => nowhere }));
}

/**
 * Reads the replies of a script: JSON lines when the file ends in `.jsonl` or `.ndjson`, else a YAML list.
 *
 * @throws {ProblemsError} with every problem and its place
 */
export async function readScript(text: string, file: string): Promise<readonly ScriptReply[]> {
  if (!/\.(jsonl|ndjson)$/i.test(file)) return (await readShape(REPLIES, { file, text })).value;
  const problems: SourceError[] = [];
  const replies = text.split("\n").flatMap((written, index) => {
    if (written.trim() === "") return [];
    const span = { file, line: index + 1, column: 1, length: written.length };
    const refuse = (message: string): void =>
      void problems.push(new SourceError(message, { span, source: text, code: "E-file" }));
    try {
      return [readReply(parseJson(written), (path, { message }) => refuse(`${pathText(path)}: ${message}`))];
    } catch (error) {
      refuse(`This line is not JSON (${messageOf(error)})`);
      return [];
    }
  });
  if (problems.length > 0) throw new ProblemsError(problems);
  return replies;
}
