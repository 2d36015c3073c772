import { isPromise } from "../core/is_promise.ts";
import type { GadgetContext } from "../core/gadget.ts";
import type { AnyGadget } from "../core/gadget.ts";
import type { Json } from "../core/json.ts";
import { checkInput, issuesText } from "../schema/check_input.ts";
import type { Checked } from "../schema/issue.ts";
import { measure } from "../schema/measure.ts";
import { ResultError, resultOf } from "./call_value.ts";
import { fillPlaceholders } from "./placeholders.ts";
import type { ResultOf } from "./placeholders.ts";

/** The parameters do not fit the gadget; one issue a line, each behind its path. */
export class InputError extends Error {
  override readonly name = "InputError";
}

/** One run of a gadget. */
export interface GadgetRun {
  readonly gadget: AnyGadget;
  /** The parameters as {@linkcode fillInput} gave them. */
  readonly input: unknown;
  readonly maxBytes: number;
  /** Takes secrets out, before a long result is cut: half of one could not be found. */
  mask(value: Json): Json;
  /** The gadget is about to start: its input is there and fits. */
  onStart(): void;
  context(parameters: Readonly<Record<string, unknown>>): GadgetContext;
}

/** The parameters of a call with their placeholders filled. @throws {PlaceholderError | InputError} */
export function fillInput(tree: unknown, resultOf: ResultOf): unknown {
  const { problem } = measure(tree);
  if (problem !== undefined) throw new InputError(`The parameters cannot be read: ${problem}`);
  return fillPlaceholders(tree, resultOf);
}

/**
 * Checks the input by the gadget's schema, runs it and gives its result as JSON. Not a promise when neither the schema nor
 * the gadget is asynchronous.
 *
 * @throws {InputError | ResultError} and whatever the gadget throws.
 */
export function runGadget(run: GadgetRun): Json | Promise<Json> {
  const checked = checkInput(run.gadget.input, run.input);
  if (!isPromise(checked)) return perform(run, checked);
  return checked.then((settled) => {
    run.context({}).signal.throwIfAborted(); // the call may have timed out while its input was checked
    return perform(run, settled);
  });
}

function perform(run: GadgetRun, checked: Checked): Json | Promise<Json> {
  if (!checked.ok) throw new InputError(issuesText(checked.issues));
  const { gadget, maxBytes } = run;
  const input: unknown = checked.value;
  const context = run.context(isRecord(input) ? input : {});
  run.onStart();
  const given = invoke(gadget, input, context);
  const asJson = (value: unknown): Json =>
    resultOf(value, { gadgetName: gadget.name, maxBytes, mask: run.mask });
  if (isPromise(given)) {
    return given.then((value) => isStream(value) ? joined(value, run, context).then(asJson) : asJson(value));
  }
  return isStream(given) ? joined(given, run, context).then(asJson) : asJson(given);
}

/** The one place where a value that passed the gadget's schema becomes the gadget's own input type. */
function invoke(gadget: AnyGadget, input: unknown, context: GadgetContext): unknown {
  const run: unknown = gadget.run;
  return typeof run === "function" ? Reflect.apply(run, gadget, [input, context]) : undefined;
}

/** A streamed result, text or bytes of UTF-8: each piece is told as it comes, and stays part of the whole. */
async function joined(
  stream: AsyncIterable<unknown>,
  run: GadgetRun,
  context: GadgetContext,
): Promise<string> {
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  for await (const piece of stream) {
    context.signal.throwIfAborted();
    if (typeof piece !== "string" && !(piece instanceof Uint8Array)) throw notText(piece, run.gadget.name);
    const text = typeof piece === "string" ? piece : decoder.decode(piece, { stream: true });
    pieces.push(text);
    context.log(text);
  }
  return pieces.join("") + decoder.decode();
}

function notText(piece: unknown, gadgetName: string): ResultError {
  const found = piece === null ? "null" : Array.isArray(piece) ? "an array" : `a ${typeof piece}`;
  return new ResultError(
    `The stream of ${gadgetName} gave ${found}; a streamed result is text, or bytes of UTF-8`,
  );
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
