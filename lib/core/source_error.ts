/** A place in a text. Lines and columns count from 1, columns in UTF-16 units; offsets count from 0. */
export interface Span {
  /** The file as the user named it; absent for text that came from nowhere, such as a string in a program. */
  readonly file?: string;
  readonly line: number;
  readonly column: number;
  /** How many UTF-16 units the caret underlines; 1 when absent. */
  readonly length?: number;
}

/** What can go wrong with something a user wrote, as data. The frame with the caret is drawn in `lib/render/`. */
export interface SourceErrorOptions {
  readonly span?: Span;
  /** What to do about it: one sentence. */
  readonly hint?: string;
  /** The text of the file, so that the line can be shown. */
  readonly source?: string;
  /** A short stable name for scripts, such as `E-config`. */
  readonly code?: string;
  readonly cause?: unknown;
}

/**
 * An error of something a user wrote: it says where, what was found, what was expected, and what to do.
 *
 * ```ts
 * import { SourceError } from "orrery";
 *
 * const error = new SourceError("Unknown key", { span: { file: "orrery.yaml", line: 2, column: 3 }, hint: "Take it out" });
 * console.log(error.place); // => orrery.yaml:2:3
 * ```
 */
export class SourceError extends Error {
  override readonly name = "SourceError";
  readonly span: Span | undefined;
  readonly hint: string | undefined;
  readonly source: string | undefined;
  readonly code: string | undefined;

  constructor(message: string, options: SourceErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.span = options.span;
    this.hint = options.hint;
    this.source = options.source;
    this.code = options.code;
  }

  /** `file:line:column` as far as it is known; the empty text when nothing is. */
  get place(): string {
    if (this.span === undefined) return "";
    const { file, line, column } = this.span;
    return `${file === undefined ? "" : `${file}:`}${line}:${column}`;
  }
}

/** What to say of anything that was thrown: the message of an `Error`, the text of everything else. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message === "" ? thrown.name : thrown.message;
  if (typeof thrown === "string") return thrown;
  try {
    return String(thrown);
  } catch {
    return "a value that cannot be shown was thrown"; // it has no prototype, or a toString that throws
  }
}

/** Compares problems of one file, for a sort: by line and column; one without a column stands before those of its line. */
export function byPlace(
  a: { readonly line: number; readonly column?: number },
  b: { readonly line: number; readonly column?: number },
): number {
  return a.line - b.line || (a.column ?? 0) - (b.column ?? 0);
}

/**
 * The place of an offset in a text: line and column from 1, a line ends with LF.
 *
 * @param offset in UTF-16 units, from 0; one beyond the text means its end
 */
export function spanAt(
  text: string,
  offset: number,
  options: { readonly file?: string; readonly length?: number } = {},
): Span {
  const end = Math.min(Math.max(0, offset), text.length);
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) {
    line++;
    lineStart = at + 1;
  }
  return { ...options, line, column: end - lineStart + 1 };
}

/** `column 7`, and for a text of several lines `line 2, column 7`: how a message names a place in a short text. */
export function placeInWords(text: string, span: Span): string {
  return text.includes("\n") ? `line ${span.line}, column ${span.column}` : `column ${span.column}`;
}

/**
 * Everything that was found wrong with what a user wrote, thrown together: the message has one `place: text` a line.
 *
 * ```ts
 * import { ProblemsError, SourceError } from "orrery";
 *
 * const problem = new SourceError("is no moon", { span: { file: "moons.yml", line: 3, column: 5 } });
 * console.log(new ProblemsError([problem]).message); // => moons.yml:3:5: is no moon
 * ```
 */
export class ProblemsError extends Error {
  override readonly name = "ProblemsError";
  /** At least one, in the order of the text. */
  readonly problems: readonly SourceError[];

  constructor(problems: readonly SourceError[]) {
    super(problems.map(lineOf).join("\n"));
    this.problems = problems;
  }
}

function lineOf(problem: SourceError): string {
  return problem.place === "" ? problem.message : `${problem.place}: ${problem.message}`;
}
