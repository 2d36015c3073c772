import { frozenCopy, isPlainObject } from "../core/frozen_copy.ts";
import { isRecord } from "../core/json.ts";
import { shown } from "../schema/issue.ts";
import type { Handler, HandlerEvent, HandlerFunction } from "./handler.ts";
import { orRefuse, promptProblem, type Refuse, refuseUnknownKeys } from "./prompt_problem.ts";
import { type PromptText, templateText } from "./prompt_text.ts";

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
