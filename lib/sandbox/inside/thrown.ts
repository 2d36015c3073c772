// What the gadget throws, as Orrery is told of it. It may be anything: an error with getters that throw, a Proxy, a text.

import type { ThrownError } from "../../core/gadget_message.ts";

const MOST_MESSAGE = 65_536;
const MOST_STACK = 65_536;
const MOST_CAUSES = 8;

const refusals = new WeakMap<object, number>();

/** Notes that the error tells of a refused effect: Orrery then knows which permission was missing, whoever wraps the error. */
export function markRefusal(error: object, effect: number): void {
  refusals.set(error, effect);
}

/** The number of the refused effect behind an error, by way of its causes too. */
function refusalOf(thrown: unknown): number | undefined {
  let error = thrown;
  for (let depth = 0; depth < MOST_CAUSES && isObject(error); depth++) {
    const effect = refusals.get(error);
    if (effect !== undefined) return effect;
    error = read(error, "cause");
  }
  return undefined;
}

/** What was thrown. Never throws itself. */
export function thrownError(thrown: unknown): ThrownError {
  const message = textIn(thrown, "message");
  if (message === undefined) return { name: "Error", message: cut(shownThrown(thrown), MOST_MESSAGE) };
  const name = textIn(thrown, "name") ?? "Error";
  const stack = stackOf(thrown);
  const refusal = refusalOf(thrown);
  return {
    name: cut(name, 256),
    message: cut(message === "" ? name : message, MOST_MESSAGE),
    stack: stack && cut(stack, MOST_STACK),
    refusal,
  };
}

/** Its stack, and behind it those of the errors that it stands for, and of its causes; undefined where it has none of its own. */
function stackOf(thrown: unknown): string | undefined {
  const own = textIn(thrown, "stack");
  if (own === undefined || !isObject(thrown)) return own;
  return cut(own, MOST_STACK) + shownErrors(thrown) + shownCauses(thrown);
}

function shownErrors(thrown: object): string {
  let text = "";
  try {
    const errors = Reflect.get(thrown, "errors");
    for (let at = 0; at < MOST_CAUSES && Array.isArray(errors) && at < errors.length; at++) {
      text += `\nOne of them: ${shownCause(errors[at])}`;
    }
  } catch {
    // a Proxy, or a getter of the gadget's own
  }
  return text;
}

function shownCauses(thrown: object): string {
  let text = "";
  let above: unknown = thrown;
  let cause = read(thrown, "cause");
  for (let depth = 0; depth < MOST_CAUSES && cause !== undefined && cause !== above; depth++) {
    text += `\nCaused by: ${shownCause(cause)}`;
    above = cause;
    cause = isObject(cause) ? read(cause, "cause") : undefined;
  }
  return text;
}

function shownCause(cause: unknown): string {
  return cut(textIn(cause, "stack") ?? textIn(cause, "message") ?? shownThrown(cause), MOST_STACK / 8);
}

/** What was thrown where nobody waits for it, for the log. */
export function uncaughtText(thrown: unknown, how: string): string {
  const { name, message, stack } = thrownError(thrown);
  return `${how}: ${stack ?? (message === name ? name : `${name}: ${message}`)}\n`;
}

function textIn(thrown: unknown, name: string): string | undefined {
  const value = isObject(thrown) ? read(thrown, name) : undefined;
  return typeof value === "string" ? value : undefined;
}

function read(object: object, name: string): unknown {
  try {
    return Reflect.get(object, name);
  } catch {
    return undefined; // a getter of the gadget's own
  }
}

function shownThrown(thrown: unknown): string {
  try {
    return String(thrown);
  } catch {
    return "a value that cannot be shown was thrown"; // it has no prototype, or a toString that throws
  }
}

/** A text of at most `most` UTF-16 units and a mark where it is cut. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${startOf(text, most)}…`;
}

/** A part of a text, in UTF-16 units; an end inside a surrogate pair is taken back before it. */
export function startOf(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
}

function isObject(value: unknown): value is object {
  return (typeof value === "object" || typeof value === "function") && value !== null;
}
