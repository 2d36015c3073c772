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
    super(message, withCause(options));
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

/** Something wrong with a file, where a reader has to look. */
export interface Problem {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** From 1, where it is known: not of modules and of files that cannot be read. */
  readonly column?: number;
  readonly message: string;
}

/** What kind of mistake it was: in a template, in a definition, while rendering, in a registry, in the files of a project. */
export type PromptErrorCode = "template" | "render" | "define" | "registry" | "discover";

/**
 * A prompt is wrong, or was used wrongly (prompts.md).
 *
 * ```ts
 * import { definePrompt, PromptError } from "orrery";
 *
 * const greet = definePrompt({ path: "greet", template: "Hello {name}!" });
 * try {
 *   greet({} as { name: string });
 * } catch (error) {
 *   if (error instanceof PromptError) console.log(error.code, error.message);
 * } // => render prompt "greet": missing variables: name
 * ```
 */
export class PromptError extends Error {
  override readonly name = "PromptError";
  readonly code: PromptErrorCode;
  /** Of `discover`: everything that was found, by file and line. */
  readonly problems?: readonly Problem[];

  constructor(
    message: string,
    options: {
      readonly code: PromptErrorCode;
      readonly problems?: readonly Problem[];
      readonly cause?: unknown;
    },
  ) {
    super(message, withCause(options));
    this.code = options.code;
    if (options.problems !== undefined) this.problems = options.problems;
  }
}

/** Options of an error: one without a cause has no property of that name. */
export function withCause({ cause }: { readonly cause?: unknown }): ErrorOptions | undefined {
  return cause === undefined ? undefined : { cause };
}

/** Something was defined, or used, as it cannot be. */
export function defineError(message: string): PromptError {
  return new PromptError(message, { code: "define" });
}

/** One thing that an answer breaks. */
export interface ParseIssue {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/**
 * An answer that breaks its contract: the model is told and asked again (prompts.md 3).
 *
 * ```ts
 * import { ParseError } from "orrery";
 *
 * const error = new ParseError("<score> must be a number, got high");
 * console.log(error.message, error.issues.length); // => <score> must be a number, got high 0
 * ```
 */
export class ParseError extends Error {
  override readonly name = "ParseError";
  readonly issues: readonly ParseIssue[];

  constructor(message: string, issues: readonly ParseIssue[] = []) {
    super(message);
    this.issues = issues;
  }
}
