import { messageOf } from "../core/core.ts";
import { foundValue } from "../schema/issue.ts";
import type { HandlerEvent, HandlerState, HandlerText } from "./handler.ts";
import { makePrompt } from "./define_prompt.ts";
import { isPrompt, partsOf, type PromptParts } from "./parts.ts";
import { literalText } from "./prompt_text.ts";
import type { AnyPrompt } from "./prompt.ts";

/** A handler that gives nothing to go on with (prompts.md 7); the cause is what it threw. */
export class HandlerError extends Error {
  override readonly name = "HandlerError";
}

/** What a handler is asked with. */
export interface HandlerRequest {
  /** The specification in force. */
  readonly spec: AnyPrompt;
  /** The path that the turn began with. */
  readonly rootPath: string;
  /** From 1: the retry or the tool round of the turn. */
  readonly n: number;
  /** The event's variables. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly state: HandlerState;
}

/**
 * Asks the handler of the specification in force: the specification that follows, and the text that the model reads.
 *
 * @throws {HandlerError}
 */
export async function handlerChild(
  event: HandlerEvent,
  request: HandlerRequest,
): Promise<Child> {
  try {
    const handler = partsOf(request.spec).handlers[event];
    return typeof handler === "function"
      ? childByAnswer(event, request, await handler(specOf(request), request.state))
      : childByText(event, request, handler);
  } catch (error) {
    throw error instanceof HandlerError
      ? error
      : problem(event, request, { message: `failed: ${messageOf(error)}`, cause: error });
  }
}

interface Child {
  readonly prompt: AnyPrompt;
  readonly text: string;
}

function childByAnswer(event: HandlerEvent, request: HandlerRequest, answer: unknown): Child {
  if (typeof answer === "string") {
    return childByText(event, request, { template: answer, text: literalText(answer) });
  }
  if (answer === null) throw problem(event, request, { message: "gave up" });
  if (!isPrompt(answer)) {
    const message = `must return a prompt, a string or null, found ${foundValue(answer)}`;
    throw problem(event, request, { message });
  }
  const prompt = makePrompt({ ...partsOf(answer), rootPath: request.rootPath, ...toolsAfter(event) });
  return { prompt, text: prompt(request.values) };
}

/** The renderer is not inherited: handler texts are of the built-in grammar, or not templates at all. */
function childByText(
  event: HandlerEvent,
  { spec, rootPath, n, values }: HandlerRequest,
  { template, text }: HandlerText,
): Child {
  const path = `__${rootPath}_${suffixOf(event, n)}`;
  const changes = { path, rootPath, template, text, renderer: null, ...toolsAfter(event) };
  return { prompt: makePrompt({ ...partsOf(spec), ...changes }), text: text.render(values) };
}

function suffixOf(event: HandlerEvent, n: number): string {
  switch (event) {
    case "onException":
      return `exception_${n}`;
    case "onInterrupt":
      return `interrupt_${n}`;
    case "onInterruptFinal":
      return "interrupt_final";
    default:
      return event satisfies never;
  }
}

/** After the final notice nothing is offered any more. */
function toolsAfter(event: HandlerEvent): Partial<PromptParts> {
  return event === "onInterruptFinal" ? NO_TOOLS : {};
}

const NO_TOOLS = { tools: Object.freeze([]), mcp: Object.freeze([]), addons: Object.freeze({}) };

/** The specification as a handler gets it: it says which turn it is of. */
function specOf({ spec, rootPath }: HandlerRequest): AnyPrompt {
  return spec.rootPath === rootPath ? spec : makePrompt({ ...partsOf(spec), rootPath });
}

function problem(
  event: HandlerEvent,
  { rootPath }: HandlerRequest,
  { message, ...options }: { readonly message: string; readonly cause?: unknown },
): HandlerError {
  return new HandlerError(`handler ${event} of prompt ${JSON.stringify(rootPath)} ${message}`, options);
}
