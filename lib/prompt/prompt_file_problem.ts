import type { Problem } from "../core/prompt_error.ts";

/** Something wrong with a file that may define prompts. */
export interface PromptFileProblem extends Problem {
  /**
   * The path of the prompt that it is about; with a `/` at its end what the paths of a module begin with; null where that cannot be known.
   * Undefined for what is no problem of prompts.
   */
  readonly key?: string | null;
  /** The path is what the file's name says: what it says itself cannot be read. */
  readonly isUnsure?: true;
}
