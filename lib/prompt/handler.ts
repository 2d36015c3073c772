import { frozenCopy, isPlainObject, isRecord } from "../core/core.ts";
import { shown } from "../schema/issue.ts";
import { orRefuse, promptProblem, type Refuse, refuseUnknownKeys } from "./prompt_problem.ts";
import { type PromptText, templateText } from "./prompt_text.ts";
import type { AnyPrompt } from "./prompt.ts";

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

/** A handler's text, read. */
export interface HandlerText {
  readonly template: string;
  readonly text: PromptText;
}

/** What holds for each event. */
export type HandlerTexts = { readonly [Event in HandlerEvent]-?: HandlerText | HandlerFunction };

/** What is said where a prompt has no handler of its own (prompts.md 7). */
export const DEFAULT_HANDLER = Object.freeze({
  onException: "Error: {error_message}. Please fix.",
  onInterrupt: "{call_results}",
  onInterruptFinal: "You are reaching the limit of tool calls. Provide the final response.",
});

const VARIABLES: { readonly [Event in HandlerEvent]-?: readonly string[] } = {
  onException: ["error_message", "retry_count", "max_retries"],
  onInterrupt: ["call_results", "step", "max_steps"],
  onInterruptFinal: ["step", "max_steps"],
};

const EVENTS = Object.keys(VARIABLES) as HandlerEvent[]; // its type says so

const DEFAULTS = ofEvents((event) => readText(event, DEFAULT_HANDLER[event], ""));

function ofEvents(read: (event: HandlerEvent) => HandlerText | HandlerFunction): HandlerTexts {
  return Object.fromEntries(EVENTS.map((event) => [event, read(event)])) as HandlerTexts; // one for each
}

/** A handler as it is kept, and what holds by it. An instance of a class is kept as it is, with fields of its own. */
export function readHandler(
  value: unknown,
  path: string,
  refuse: Refuse,
): { readonly handler: Handler; readonly handlers: HandlerTexts } {
  if (!isRecord(value)) {
    const message = `handler must be an object such as { onException: "…" }, found ${shown(value)}`;
    refuse(["handler"], promptProblem(path, message));
    return { handler: {}, handlers: DEFAULTS };
  }
  const isPlain = isPlainObject(value);
  if (isPlain) refuseUnknownKeys(value, EVENTS, { path, where: "handler: ", at: ["handler"], refuse });
  const given = Object.entries(value).filter(([, each]) => each !== undefined);
  return {
    handlers: ofEvents((event) =>
      orRefuse(refuse, ["handler", event], () => readEvent(event, value, path)) ?? DEFAULTS[event]
    ),
    handler: isPlain ? frozenCopy(Object.fromEntries(given)) : value,
  };
}

function readEvent(
  event: HandlerEvent,
  handler: Readonly<Record<string, unknown>>,
  path: string,
): HandlerText | HandlerFunction {
  const value = handler[event];
  if (value === undefined) return DEFAULTS[event];
  if (typeof value === "string") return readText(event, value, path);
  if (isHandlerFunction(value)) return (prompt, state) => value.call(handler, prompt, state);
  throw promptProblem(path, `handler ${event} must be text or a function, found ${shown(value)}`);
}

/** What it takes and gives shows when it is called. */
function isHandlerFunction(value: unknown): value is HandlerFunction {
  return typeof value === "function";
}

function readText(event: HandlerEvent, template: string, path: string): HandlerText {
  const text = templateText(template, `${path} ${event}`);
  const known = VARIABLES[event];
  const unknown = text.vars.filter((name) => !known.includes(name));
  if (unknown.length === 0) return { template, text };
  throw promptProblem(
    path,
    `handler ${event} uses unknown variables: ${unknown.join(", ")} (known: ${known.join(", ")})`,
  );
}
