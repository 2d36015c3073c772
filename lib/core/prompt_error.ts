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
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    if (options.problems !== undefined) this.problems = options.problems;
  }
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
