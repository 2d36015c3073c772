import {
  type AnyGadget,
  type Catalog,
  type CatalogEntry,
  type Contained,
  CutText,
  decodeSegment,
  didYouMean,
  EntryError,
  FILLS,
  type GadgetContext,
  InputError,
  isFilling,
  isJsonObject,
  isPromise,
  isRecord,
  isStream,
  type Json,
  jsonSchemaOf,
  messageOf,
  notResultText,
  objectOrEmpty,
  ResultError,
  toJson,
} from "../../core/core.ts";
import type { Checked } from "../../schema/issue.ts";
import { mapChildren, measure, TextValue } from "../../schema/text_value.ts";
import { issuesText, validateInput } from "../../schema/validate.ts";
import type { GraphCall } from "./graph.ts";
import { CallError, callErrorCode } from "./step.ts";
import { joinedStream } from "./joined_stream.ts";
import type { Run } from "../run.ts";

/** One run of a gadget. */
export interface GadgetRun {
  readonly gadget: AnyGadget;
  /** The parameters as {@linkcode fillInput} gave them. */
  readonly input: unknown;
  readonly maxBytes: number;
  /** Takes secrets out, before a long result is cut: half of one could not be found. */
  mask(value: Json): Json;
  /** The same of a text whose end is missing: without an end that may be the beginning of a secret. */
  maskStart(text: string): string;
  /** The gadget is about to start: its input is there and fits. */
  onStart(): void;
  context(parameters: Readonly<Record<string, unknown>>): GadgetContext;
}

/**
 * The parameters of a call with their placeholders filled. What a gadget fills itself it gets as it stands, with the results among the values
 * for it.
 *
 * @throws {PlaceholderError | InputError}
 */
export function fillInput(tree: unknown, resultOf: ResultOf, gadget?: AnyGadget): unknown {
  const { problem } = measure(tree);
  if (problem !== undefined) throw new InputError(`The parameters cannot be read: ${problem}`);
  if (gadget === undefined || !isFilling(gadget) || !isRecord(tree)) return fillPlaceholders(tree, resultOf);
  const { text: key, values: into } = gadget[FILLS];
  const { [key]: written, ...others } = tree;
  const filled = fillPlaceholders(others, resultOf);
  const text = written instanceof TextValue ? written.text : written;
  if (typeof text !== "string" || !isRecord(filled)) return fillPlaceholders(tree, resultOf);
  const found = resultsIn(text, resultOf);
  const { [into]: values = {} } = filled;
  if (found.length === 0 || !isRecord(values)) return { ...filled, [key]: written };
  return { ...filled, [key]: written, [into]: { ...values, ...Object.fromEntries(found) } };
}

/** The results that a text names, each as `results.ID`. @throws {PlaceholderError} */
function resultsIn(text: string, resultOf: ResultOf): readonly (readonly [string, Json])[] {
  return [...text.matchAll(PLACEHOLDER)].flatMap((match) => {
    if (look(match, resultOf) === undefined) return [];
    const id = match[1] ?? "";
    return [[`results.${id}`, ownCopy(resultOf(id) ?? null)] as const];
  });
}

/**
 * Checks the input by the gadget's schema, runs it and gives its result as JSON. Not a promise when neither the schema nor
 * the gadget is asynchronous.
 *
 * @throws {InputError | ResultError} and whatever the gadget throws.
 */
export function runGadget(run: GadgetRun): Json | Promise<Json> {
  const checked = validateInput(run.gadget.input, run.input);
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
  const { mask, maskStart } = run;
  const asJson = (value: unknown): Json =>
    value instanceof CutText
      ? cutResult(value, { maxBytes, maskStart })
      : resultOf(value, { gadgetName: gadget.name, maxBytes, mask });
  const joined = async (stream: AsyncIterable<unknown>): Promise<Json> => {
    const { signal } = context;
    const log = (text: string): void => context.log(text);
    return asJson(await joinedStream(stream, { gadgetName: gadget.name, maxBytes, signal, log }));
  };
  if (isPromise(given)) return given.then((value) => isStream(value) ? joined(value) : asJson(value));
  return isStream(given) ? joined(given) : asJson(given);
}

/** The one place where a value that passed the gadget's schema becomes the gadget's own input type. */
function invoke(gadget: AnyGadget, input: unknown, context: GadgetContext): unknown {
  const run: unknown = gadget.run;
  return typeof run === "function" ? Reflect.apply(run, gadget, [input, context]) : undefined;
}

/** A placeholder leads nowhere; the message says where it stopped. */
export class PlaceholderError extends Error {
  override readonly name = "PlaceholderError";
}

/** The result of a dependency by its id; undefined where the text stays as it is. @throws {PlaceholderError} */
export type ResultOf = (id: string) => Json | undefined;

/** A result in a text, with the id of its call. */
export const PLACEHOLDER = /\{\{results\.([A-Za-z_][A-Za-z0-9_.-]*)((?:\/[^{}\r\n]*)?)\}\}/g;
const WHOLE = new RegExp(`^${PLACEHOLDER.source}$`);

/**
 * The parameters with `{{results.ID}}` and `{{results.ID/pointer}}` replaced, at any depth and once (calls.md 5 and 7). A text that is
 * one placeholder becomes the result itself; inside a longer text a string is inserted as it is, all else as JSON. The text stays
 * as it is for an id that `resultOf` does not know.
 *
 * @throws {PlaceholderError} when a pointer leads nowhere.
 */
function fillPlaceholders(tree: unknown, resultOf: ResultOf): unknown {
  if (tree instanceof TextValue) {
    return fillText(tree.text, resultOf, (text) => text === tree.text ? tree : new TextValue(text));
  }
  if (typeof tree === "string") return fillText(tree, resultOf, (text) => text);
  if (typeof tree !== "object" || tree === null) return tree;
  return mapChildren(tree, (child) => fillPlaceholders(child, resultOf));
}

function fillText(text: string, resultOf: ResultOf, asText: (text: string) => unknown): unknown {
  if (!text.includes("{{results.")) return asText(text);
  const whole = WHOLE.exec(text);
  const value = whole === null ? undefined : look(whole, resultOf);
  if (value !== undefined) return ownCopy(value);
  return asText(text.replaceAll(PLACEHOLDER, (...match) => {
    const found = look(match, resultOf);
    return found === undefined ? match[0] : typeof found === "string" ? found : JSON.stringify(found);
  }));
}

/** A gadget may change what it gets; the result belongs to the run. */
export function ownCopy(value: Json): Json {
  return typeof value === "object" && value !== null ? structuredClone(value) : value;
}

function look(match: readonly unknown[], resultOf: ResultOf): Json | undefined {
  const [placeholder, id, pointer] = match.map(String);
  const result = resultOf(id ?? "");
  if (result === undefined || pointer === undefined || pointer === "") return result;
  let value = result;
  const segments = pointer.slice(1).split("/").map(decodeSegment);
  for (const [at, segment] of segments.entries()) {
    const next = childOf(value, segment);
    if (next === undefined) {
      throw nowhere(placeholder ?? "", [id ?? "", ...segments.slice(0, at)].join("/"), { segment, value });
    }
    value = next;
  }
  return value;
}

function childOf(value: Json, segment: string): Json | undefined {
  if (Array.isArray(value)) return /^(?:0|[1-9][0-9]*)$/.test(segment) ? value[Number(segment)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, segment) ? value[segment] : undefined;
}

function nowhere(
  placeholder: string,
  place: string,
  stop: { segment: string; value: Json },
): PlaceholderError {
  const { segment, value } = stop;
  const found = Array.isArray(value)
    ? `a list of ${value.length}`
    : isJsonObject(value)
    ? `an object with ${
      Object.keys(value).slice(0, 8).map((key) => JSON.stringify(key)).join(", ") || "no keys"
    }`
    : value === null
    ? "null"
    : `a ${typeof value}`;
  return new PlaceholderError(
    `Cannot fill ${placeholder}: "${segment}" is not in ${place}, which is ${found}`,
  );
}

/**
 * Why a call cannot name the result of an id that is not among its dependencies; undefined where the text may be meant as it is: the call has
 * none, and no call of that id is known.
 */
export function strangeResult(
  id: string,
  { gadgetName, invocationId, dependencies }: Pick<GraphCall, "gadgetName" | "invocationId" | "dependencies">,
  { isKnown }: { readonly isKnown: boolean },
): string | undefined {
  if (dependencies.includes(id) || dependencies.length === 0 && !isKnown) return undefined;
  const near = isKnown ? "" : didYouMean(id, dependencies);
  const own = invocationId.includes("#") ? "" : invocationId;
  const header = [gadgetName, own, [...dependencies, id].join(",")].join(":");
  const advice = near === ""
    ? `Name it in the header of this call: ${header}`
    : `${near.trim()} If not, the header is ${header}`;
  return `Cannot fill {{results.${id}}}: this call does not depend on ${JSON.stringify(id)}. ${advice}`;
}

/** Default of `limits.result-bytes`: 1 MiB. */
export const RESULT_BYTES = 1_048_576;

/**
 * What a gadget gave, as JSON of at most `maxBytes` of UTF-8. A longer text is cut at a character; anything else that is longer is
 * cut as its JSON text; either ends with a line that says how much is missing (gadgets.md 1).
 *
 * @throws {ResultError} when it is no JSON.
 */
export function resultOf(
  given: unknown,
  options: { gadgetName: string; maxBytes: number; mask: (value: Json) => Json },
): Json {
  const { gadgetName, maxBytes, mask } = options;
  const value = mask(jsonOf(given, gadgetName));
  if (typeof value === "boolean" || typeof value === "number" || value === null) return value;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length * 3 <= maxBytes) return value; // no UTF-16 unit takes more than three bytes
  const { length } = new TextEncoder().encode(text);
  return length <= maxBytes ? value : new CutText(text, length).shortened(maxBytes, limitWords(maxBytes));
}

/** The same of what was cut already where it came from. */
function cutResult(
  { text, wholeBytes }: CutText,
  { maxBytes, maskStart }: Pick<GadgetRun, "maxBytes" | "maskStart">,
): string {
  return new CutText(maskStart(text), wholeBytes).shortened(maxBytes, limitWords(maxBytes));
}

function limitWords(maxBytes: number): string {
  return `limits.result-bytes is ${maxBytes}`;
}

function jsonOf(given: unknown, gadgetName: string): Json {
  try {
    return toJson(given);
  } catch (error) {
    throw new ResultError(notResultText(gadgetName, messageOf(error)));
  }
}

/**
 * The gadget of a call, or the error of the call: a promise only when its module has to be loaded first. A record keeps what is
 * found, so that a replay needs no catalogue.
 */
export function findGadget(
  catalog: Catalog,
  { name, run, keyPrefix = "" }: {
    readonly name: string;
    readonly run: Run;
    /** Of where it is looked for: two places may know different gadgets of one name. */
    readonly keyPrefix?: string;
  },
): AnyGadget | CallError | Promise<AnyGadget | CallError> {
  return run.lookUp(`${keyPrefix}gadget:${name}`, () => lookUp(catalog, name), {
    note: gadgetNote,
    from: gadgetFromNote,
  });
}

function lookUp(catalog: Catalog, name: string): AnyGadget | CallError | Promise<AnyGadget | CallError> {
  const entry = catalog.maybeFind(name);
  if (entry === undefined) return unknownGadget(catalog, name);
  if (entry.state !== "ready") return unready(entry);
  try {
    const loaded = entry.load();
    return loaded instanceof Promise ? loaded.then(runnable, notLoaded) : runnable(loaded);
  } catch (error) {
    return notLoaded(error);
  }
}

function unready(entry: CatalogEntry): CallError {
  return entry.state === "not-trusted"
    ? new CallError(problemOf(entry), "not-trusted", entry.flag ?? `--trust ${entry.name}`)
    : new CallError(problemOf(entry), "unavailable");
}

function notLoaded(error: unknown): CallError {
  if (!(error instanceof EntryError)) return new CallError(messageOf(error), "unavailable");
  return error.entry === undefined ? new CallError(error.message, "unknown-gadget") : unready(error.entry);
}

function runnable(gadget: AnyGadget): AnyGadget | CallError {
  if (gadget.run !== undefined) return gadget;
  return new CallError(`Gadget "${gadget.name}" is declared only: it has no run function`, "unavailable");
}

function problemOf(entry: CatalogEntry): string {
  return entry.problem ?? `Gadget "${entry.name}" is ${entry.state}`;
}

function unknownGadget(catalog: Catalog, name: string): CallError {
  // Those of the project first: what is not known was most likely to be one of them.
  const isBuiltIn = ({ source }: CatalogEntry): boolean => source.kind === "built-in";
  const { entries } = catalog;
  const names = [...entries.filter((entry) => !isBuiltIn(entry)), ...entries.filter(isBuiltIn)]
    .map((entry) => entry.name);
  const near = didYouMean(name, names);
  const what = near === ""
    ? ` Known: ${names.slice(0, 12).join(", ")}${names.length > 12 ? ", \u2026" : ""}.`
    : near;
  return new CallError(
    `Unknown gadget "${name}".${names.length === 0 ? " The catalogue is empty." : what}`,
    "unknown-gadget",
  );
}

/** What runs inside of the calls of a gadget; undefined for one whose call is a step of its own. */
export function containedBy(gadget: AnyGadget): Contained | undefined {
  return "contains" in gadget ? CONTAINED.find((kind) => kind === gadget.contains) : undefined;
}

const CONTAINED: readonly Contained[] = ["prompt", "document", "callee"];

/** What a replay has to know of a gadget: all but its code. */
export function gadgetNote(found: AnyGadget | CallError): Json {
  if (found instanceof CallError) return { failure: { ...found.failure } };
  const { name, description, examples, timeoutMs, maxConcurrent, exclusive, untrusted, repeatable } = found;
  const input = found.input && jsonSchemaOf(found.input);
  return toJson({
    name,
    description,
    input,
    examples,
    timeoutMs,
    maxConcurrent,
    exclusive,
    untrusted,
    repeatable,
    contains: containedBy(found),
    formats: found.format !== undefined || undefined,
    fills: isFilling(found) ? found[FILLS] : undefined,
  });
}

/** A gadget of a replay: it does nothing. */
export function gadgetFromNote(noted: Json): AnyGadget | CallError {
  const { failure, formats, fills, ...known } = objectOrEmpty(noted);
  if (failure !== undefined) {
    const { error, code, flag } = objectOrEmpty(failure);
    return new CallError(
      String(error),
      callErrorCode(String(code)),
      flag === undefined ? undefined : String(flag),
    );
  }
  return {
    ...known as unknown as Omit<AnyGadget, "run">, // as `gadgetNote` has written it
    ...(formats === true && { format: () => "" }), // what it says is in the record
    ...(fills !== undefined && { [FILLS]: fills }),
    run: () => null,
  };
}
