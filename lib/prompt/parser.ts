import type { AnyPrompt } from "./prompt_type.ts";

/** What a parser gets besides the text. */
export interface ParseCtx {
  /** The specification in force. */
  readonly prompt: AnyPrompt;
  /** Aborted with the turn. */
  readonly signal: AbortSignal;
}

/**
 * What an answer has to be, and what is made of it (prompts.md 3). A `ParseError` that it throws is told to the model, which is asked
 * again; any other exception is a defect and ends the turn.
 */
export interface Parser<O = unknown> {
  parse(text: string, ctx?: ParseCtx): O | Promise<O>;
  /** What the parser does, as JSON: it counts in the hash of the contract. */
  describe?(): unknown;
}
