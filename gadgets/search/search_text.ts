import {
  FileError,
  type Files,
  type Gadget,
  type Json,
  objectOf,
  objectOrEmpty,
  onlyFields,
  PermissionRefused,
  type World,
} from "../../lib/core/core.ts";
import { counted, formatBytes, itemsOf, textOf } from "../_words.ts";
import { binaryKind, looksBinary } from "../_text_file.ts";
import { compileGlob } from "../_glob.ts";
import {
  compilePattern,
  type LineMatch,
  literalPattern,
  type Pattern,
  searchText as searchLines,
} from "./pattern.ts";
import { SKIPPED_IN_WORDS, walk } from "../_walk.ts";

interface Input {
  readonly pattern: string;
  readonly path?: string;
  readonly regex?: boolean;
  readonly ignoreCase?: boolean;
  readonly glob?: string;
  readonly context?: number;
  readonly maxMatches?: number;
}

interface Output {
  readonly matches: readonly LineMatch[];
  readonly files: number;
  readonly truncated: boolean;
  readonly skipped?: readonly Skipped[];
}

interface Skipped {
  readonly file: string;
  readonly reason: string;
}

const DEFAULT_MATCHES = 100;
const MAX_MATCHES = 10_000;
const MAX_CONTEXT = 20;
const MAX_SKIPPED = 20;
const TIMEOUT_MS = 60_000;
/** Matches end before the result would be longer than what a run keeps of one. */
const MAX_RESULT_LENGTH = 900_000;

/** `SearchText`: lines that hold a text, in all files below a folder. */
export default function searchText(world: World): Gadget<Input> {
  return {
    name: "SearchText",
    description:
      "Searches the files below a folder line by line, for a text or, with `regex`, for a regular expression. Returns file, line, " +
      `column and text of each matching line. ${SKIPPED_IN_WORDS}, links and files that are not text are left out, hidden files are ` +
      "not. Use `glob` to search only some files. To list files by name use ListFolder.",
    input: onlyFields({
      pattern: {
        type: "string",
        minLength: 1,
        description: "What to search for: a text in one line, taken as it is.",
      },
      path: {
        type: "string",
        minLength: 1,
        description: "The folder or the file to search, relative to the project root, which is the default.",
      },
      regex: {
        type: "boolean",
        description:
          "True: `pattern` is a regular expression of RE2; `^` and `$` are the ends of a line. Look-around and back-references " +
          "cannot be used. Default: false.",
      },
      ignoreCase: {
        type: "boolean",
        description: "True: capital and small letters are the same. Default: false.",
      },
      glob: {
        type: "string",
        minLength: 1,
        description:
          'Only files that match: "*.ts" for names at any depth, "src/**/*.{ts,tsx}" for paths below `path`.',
      },
      context: {
        type: "integer",
        minimum: 0,
        maximum: MAX_CONTEXT,
        description: "How many lines to return before and after each match. Default: 0.",
      },
      maxMatches: {
        type: "integer",
        minimum: 1,
        maximum: MAX_MATCHES,
        description: `The search stops after so many matching lines. Default: ${DEFAULT_MATCHES}.`,
      },
    }, ["pattern"]),
    output: objectOf({
      matches: {
        type: "array",
        items: objectOf({
          file: { type: "string", description: "A path that ReadFile takes." },
          line: { type: "integer", description: "From 1." },
          column: { type: "integer", description: "From 1." },
          text: { type: "string", description: "The line; a long one is cut around the match." },
          before: { type: "array", items: { type: "string" } },
          after: { type: "array", items: { type: "string" } },
        }, ["file", "line", "column", "text"]),
      },
      files: { type: "integer", description: "How many files were searched." },
      truncated: { type: "boolean", description: "True when there are more matches than were returned." },
      skipped: {
        type: "array",
        description: `Files and folders that could not be searched, the first ${MAX_SKIPPED}.`,
        items: objectOf({ file: { type: "string" }, reason: { type: "string" } }, ["file", "reason"]),
      },
    }, ["matches", "files", "truncated"]),
    permissions: { read: true },
    idempotent: true,
    untrusted: false,
    timeoutMs: TIMEOUT_MS,
    examples: [
      { input: { pattern: "TODO", glob: "*.ts" } },
      { input: { pattern: "^export (async )?function \\w+", regex: true, path: "src", context: 2 } },
    ],
    run: (input, { signal }) => search(world, input, signal),
    format: formatMatches,
  };
}

async function search(world: World, input: Input, signal: AbortSignal): Promise<Output> {
  const { path = ".", glob, context = 0, maxMatches = DEFAULT_MATCHES } = input;
  const pattern = patternOf(input, deadline(world));
  const matches: LineMatch[] = [];
  const skipped: Skipped[] = [];
  let files = 0;
  let length = 0;
  const result = (truncated: boolean): Output => ({
    matches,
    files,
    truncated,
    ...(skipped.length > 0 && { skipped }),
  });
  for await (const { file, text, problem } of loadTexts(world.files, { path, glob, signal })) {
    signal.throwIfAborted();
    if (problem !== undefined && skipped.length < MAX_SKIPPED) skipped.push({ file, reason: problem });
    if (text === undefined) continue;
    files++;
    for (const match of searchLines(text, { file, pattern, context })) {
      length += JSON.stringify(match).length;
      if (matches.length === maxMatches || length > MAX_RESULT_LENGTH) return result(true);
      matches.push(match);
    }
  }
  return result(false);
}

function patternOf(
  { pattern, regex = false, ignoreCase = false }: Input,
  onSlow: () => void,
): Pick<Pattern, "maybeFind"> {
  if (!regex && /[\r\n]/.test(pattern)) {
    throw new Error(
      'Cannot search for a "pattern" with a line break: the search goes line by line; search for one line of it',
    );
  }
  if (!regex && !ignoreCase) return literalPattern(pattern);
  const source = regex ? pattern : pattern.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return compilePattern(source, { ignoreCase, onSlow });
}

/** The time is up before the gadget's own, because nothing else can stop a search inside a file. */
function deadline(world: World): () => void {
  const end = world.clock.now() + TIMEOUT_MS - 5_000;
  return () => {
    if (world.clock.now() < end) return;
    throw new Error(
      'Cannot finish the search in time: the regular expression is too costly; make its "{}", "*" and "+" fewer',
    );
  };
}

/** What SearchText found, as `grep -n` prints it: half the words of JSON, and nothing in the lines is escaped. */
function formatMatches(result: Json): string {
  const { matches, files, truncated, skipped } = objectOrEmpty(result);
  const found = itemsOf(matches).map(formatMatch);
  const between = itemsOf(matches).some((match) => objectOrEmpty(match).before !== undefined)
    ? "\n--\n"
    : "\n";
  const count = `${counted(found.length, "matching line")} in ${counted(Number(files), "file")}`;
  const notes = [
    truncated === true
      ? `${count} so far; there are more: search for something rarer, or pass a narrower glob or a larger maxMatches`
      : count,
    ...itemsOf(skipped).map((skip) =>
      `skipped ${textOf(objectOrEmpty(skip).file)}: ${textOf(objectOrEmpty(skip).reason)}`
    ),
  ];
  return [found.join(between), `[${notes.join("\n ")}]`].filter((part) => part !== "").join("\n");
}

function formatMatch(match: Json): string {
  const { file, line, column, text, before, after } = objectOrEmpty(match);
  const name = textOf(file);
  const context = (lines: readonly Json[], first: number) =>
    lines.map((textOfLine, index) => `${name}-${first + index}- ${textOf(textOfLine)}`);
  const lines = itemsOf(before);
  return [
    ...context(lines, Number(line) - lines.length),
    `${name}:${textOf(line)}:${textOf(column)}: ${textOf(text)}`,
    ...context(itemsOf(after), Number(line) + 1),
  ].join("\n");
}

/** Which files to load. */
interface LoadOptions {
  /** A folder, or one file. */
  readonly path: string;
  readonly glob?: string;
  readonly signal: AbortSignal;
}

/** A file, or why there is no text of it. */
interface LoadedText {
  /** As `Files` takes it. */
  readonly file: string;
  /** Its line breaks are LF. Undefined: it could not be read, or it is not text. */
  readonly text?: string;
  readonly problem?: string;
}

const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** The texts of all files below a folder, in the order of the walk. */
async function* loadTexts(
  files: Files,
  { path, glob, signal }: LoadOptions,
): AsyncGenerator<LoadedText> {
  const matches = glob === undefined ? () => true : compileGlob(glob);
  const { kind } = await files.stat(path);
  if (kind !== "folder") return yield await load(files, path, { signal, isAsked: true });
  for await (const entry of walk(files, { folder: path, depth: Infinity, signal })) {
    if (entry.problem !== undefined) yield { file: entry.fullPath, problem: entry.problem };
    else if (entry.kind === "file" && !entry.link && matches(entry.path)) {
      yield await load(files, entry.fullPath, { signal, isAsked: false });
    }
  }
}

async function load(
  files: Files,
  file: string,
  { signal, isAsked }: { readonly signal: AbortSignal; readonly isAsked: boolean },
): Promise<LoadedText> {
  try {
    const { size } = await files.stat(file);
    if (size > MAX_FILE_BYTES) {
      const problem = `it has ${formatBytes(size)}, at most ${formatBytes(MAX_FILE_BYTES)} are searched`;
      return { file, problem };
    }
    const bytes = await files.readBytes(file, { signal });
    if (!looksBinary(bytes)) return { file, text: linesOf(bytes) };
    // Among many files it goes without saying.
    return isAsked ? { file, problem: `it is not text but ${binaryKind(bytes)}` } : { file };
  } catch (error) {
    if (!(error instanceof FileError || error instanceof PermissionRefused)) throw error;
    return { file, problem: error.message };
  }
}

/** Bytes that are no UTF-8 become U+FFFD: a text in another encoding can still be searched for what is ASCII in it. */
function linesOf(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes);
  return text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
}
