import { frozenCopy, isPlainObject } from "../core/frozen_copy.ts";
import { isRecord } from "../core/json.ts";
import { shown } from "../schema/issue.ts";
import type { Handler, HandlerEvent, HandlerFunction } from "./handler.ts";
import { promptProblem } from "./prompt_problem.ts";
import { type PromptText, templateText } from "./prompt_text.ts";
import { refuseUnknownKeys } from "./refuse_unknown_keys.ts";

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

const DEFAULTS: HandlerTexts = {
  onException: readText("onException", DEFAULT_HANDLER.onException, ""),
  onInterrupt: readText("onInterrupt", DEFAULT_HANDLER.onInterrupt, ""),
  onInterruptFinal: readText("onInterruptFinal", DEFAULT_HANDLER.onInterruptFinal, ""),
};

/**
 * A handler as it is kept, and what holds by it. An instance of a class is kept as it is, with fields of its own.
 *
 * @throws {PromptError} `define` or `template`
 */
export function readHandler(
  value: unknown,
  path: string,
): { readonly handler: Handler; readonly handlers: HandlerTexts } {
  if (!isRecord(value)) {
    throw promptProblem(
      path,
      `handler must be an object such as { onException: "…" }, found ${shown(value)}`,
    );
  }
  const isPlain = isPlainObject(value);
  if (isPlain) refuseUnknownKeys(value, { known: Object.keys(VARIABLES), path, where: "handler: " });
  const read = (event: HandlerEvent) => readEvent(event, value, path);
  return {
    handlers: {
      onException: read("onException"),
      onInterrupt: read("onInterrupt"),
      onInterruptFinal: read("onInterruptFinal"),
    },
    handler: isPlain ? frozenCopy(withoutUndefined(value)) : value,
  };
}

function withoutUndefined(handler: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(handler).filter(([, value]) => value !== undefined));
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
