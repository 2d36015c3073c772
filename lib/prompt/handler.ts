import type { AnyPrompt } from "./prompt_type.ts";

/** Where a turn is, as a handler sees it (prompts.md 9). */
export interface HandlerState {
  readonly state: "initial" | "exception" | "interrupt" | "llm_recall" | "success" | "failure";
  /** Tool rounds so far. */
  readonly step: number;
  /** Rejected answers by step. */
  readonly exceptionRetries: Readonly<Record<number, readonly Error[]>>;
  /** The retry that is being prepared counts. */
  readonly exceptionRetriesCount: number;
  /** The steps that called tools. */
  readonly interruptSteps: readonly number[];
  /** Failures of the model that it was asked again for, by step. */
  readonly llmRecalls: Readonly<Record<number, readonly Error[]>>;
  readonly maxExceptionRetry: number;
  readonly maxInterruptSteps: number | "unlimited";
  readonly calls: readonly HandlerCall[];
  /** The call that is being answered. */
  readonly call?: HandlerCall;
  /** Rejected messages and what was said to them. */
  readonly attempts: readonly { readonly role: string; readonly content: string }[];
  readonly modelCalls: number;
}

/** A call of a tool, as a handler sees it. */
export interface HandlerCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
  /** What the model reads of it. */
  readonly text?: string;
  /** Why there is no result. */
  readonly error?: string;
  readonly result?: unknown;
}

/** What a handler's function gives: a prompt is rendered, text is sent as it is, null gives up. */
export type HandlerAnswer = AnyPrompt | string | null;

/** Decides what the model reads; `prompt` is the specification in force. */
export type HandlerFunction = {
  answer(prompt: AnyPrompt, state: HandlerState): HandlerAnswer | Promise<HandlerAnswer>;
}["answer"]; // as a method's type, so that a function may name a narrower type of state

/**
 * What the model reads when its answer breaks the contract, for each result of a tool, and when it may call no more tools
 * (prompts.md 7). A text is a template of the event's own variables. What is left out: the default texts.
 */
export interface Handler {
  /** Variables: `error_message`, `retry_count`, `max_retries`. */
  readonly onException?: string | HandlerFunction;
  /** Variables: `call_results`, `step`, `max_steps`. */
  readonly onInterrupt?: string | HandlerFunction;
  /** Variables: `step`, `max_steps`. */
  readonly onInterruptFinal?: string | HandlerFunction;
}

/** When a handler is asked. */
export type HandlerEvent = keyof Handler;
