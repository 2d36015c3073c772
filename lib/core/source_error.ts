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
