import { type DialogMessage, withCause } from "../../core/core.ts";
import type { HandlerCall, HandlerState } from "../../prompt/handler.ts";
import type { AgentLimits } from "../../prompt/limits.ts";

/** Where a turn is (prompts.md 9): handlers see it, and it is in every reply and every error. */
export type CallState = HandlerState;

/** A call of a tool while it is being answered. */
export interface AgentCall extends HandlerCall {
  text?: string;
  error?: string;
  result?: unknown;
}

/** The state as its turn changes it. */
export interface TurnState extends HandlerState {
  state: HandlerState["state"];
  step: number;
  exceptionRetries: Record<number, Error[]>;
  exceptionRetriesCount: number;
  interruptSteps: number[];
  llmRecalls: Record<number, Error[]>;
  calls: AgentCall[];
  call?: AgentCall;
  attempts: DialogMessage[];
  modelCalls: number;
}

/** A turn that has not begun. */
export function initialState(limits: AgentLimits): TurnState {
  return {
    state: "initial",
    step: 0,
    exceptionRetries: {},
    exceptionRetriesCount: 0,
    interruptSteps: [],
    llmRecalls: {},
    maxExceptionRetry: limits.exceptionRetries,
    maxInterruptSteps: limits.interruptSteps,
    calls: [],
    attempts: [],
    modelCalls: 0,
  };
}

/** Notes an error under the step that the turn is at. */
export function noteError(errors: Record<number, Error[]>, step: number, error: Error): void {
  (errors[step] ??= []).push(error);
}

/** A copy for a handler: what it writes there changes nothing. */
export function stateNow(state: TurnState): CallState {
  const lists = (errors: Record<number, Error[]>) =>
    Object.fromEntries(Object.entries(errors).map(([step, list]) => [step, [...list]]));
  return Object.freeze({
    ...state,
    exceptionRetries: lists(state.exceptionRetries),
    llmRecalls: lists(state.llmRecalls),
    interruptSteps: [...state.interruptSteps],
    calls: [...state.calls],
    attempts: [...state.attempts],
  });
}

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
    super(message, withCause(options));
    this.code = options.code;
    this.state = options.state;
  }
}
