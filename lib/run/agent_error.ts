import type { CallState } from "./call_state.ts";

/** Why a turn of an agent has no answer (prompts.md 9). */
export type AgentErrorCode =
  | "exceptions" // no valid answer after all retries
  | "interrupts" // it went on calling tools after the limit
  | "provider"
  | "rate_limit"
  | "aborted"
  | "config" // an unknown tool, or an addon that the model does not have: nothing was asked
  | "handler"
  | "parser"; // a defect of a parser, not of the answer

/**
 * A turn has failed. The dialog keeps what was accepted, the user's message included, and can be gone on with.
 *
 * ```ts
 * import { AgentError, createAgent, fakeModel } from "orrery";
 *
 * const agent = createAgent({ name: "bot", model: fakeModel([]), system: "Be brief." });
 * try {
 *   await agent.open().say("Hello?").call();
 * } catch (error) {
 *   if (error instanceof AgentError) console.log(error.code, error.state.modelCalls); // => provider 1
 * }
 * ```
 */
export class AgentError extends Error {
  override readonly name = "AgentError";
  readonly code: AgentErrorCode;
  /** Where the turn was, with its counts and the messages that were rejected. */
  readonly state: CallState;

  constructor(
    message: string,
    options: { readonly code: AgentErrorCode; readonly state: CallState; readonly cause?: unknown },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.state = options.state;
  }
}
