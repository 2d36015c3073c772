import type { Catalog, CatalogEntry } from "../core/catalog.ts";
import type { Contained, ContainerGadget } from "../core/container_gadget.ts";
import type { AnyGadget } from "../core/gadget.ts";
import { didYouMean } from "../core/nearest.ts";
import { messageOf } from "../core/source_error.ts";
import { isJsonObject, toJson } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { jsonSchemaOf } from "../schema/standard_schema.ts";
import { CallError, callErrorCode } from "./call_step.ts";
import type { Run } from "./run.ts";

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
  return run.lookUp(`${keyPrefix}gadget:${name}`, () => look(catalog, name), {
    note: gadgetNote,
    from: gadgetFromNote,
  });
}

function look(catalog: Catalog, name: string): AnyGadget | CallError | Promise<AnyGadget | CallError> {
  const entry = catalog.maybeFind(name);
  if (entry === undefined) return unknownGadget(catalog, name);
  if (entry.state === "not-trusted") {
    return new CallError(problemOf(entry), "not-trusted", `--trust ${entry.name}`);
  }
  if (entry.state === "broken") return new CallError(problemOf(entry), "unavailable");
  try {
    const loaded = entry.load();
    return loaded instanceof Promise
      ? loaded.then((gadget) => runnable(gadget), (error) => new CallError(messageOf(error), "unavailable"))
      : runnable(loaded);
  } catch (error) {
    return new CallError(messageOf(error), "unavailable");
  }
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
  const input = found.input === undefined ? undefined : jsonSchemaOf(found.input);
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
  });
}

/** A gadget of a replay: it does nothing. */
export function gadgetFromNote(noted: Json): AnyGadget | CallError {
  const note = isJsonObject(noted) ? noted : {};
  const { failure } = note;
  if (failure !== undefined && isJsonObject(failure)) {
    const { error, code, flag } = failure;
    return new CallError(
      String(error),
      callErrorCode(String(code)),
      flag === undefined ? undefined : String(flag),
    );
  }
  const gadget: AnyGadget = {
    name: String(note.name),
    ...(typeof note.description === "string" && { description: note.description }),
    ...(note.input !== undefined && isJsonObject(note.input) && { input: note.input }),
    ...(Array.isArray(note.examples) && { examples: note.examples.flatMap(exampleFrom) }),
    ...(typeof note.timeoutMs === "number" && { timeoutMs: note.timeoutMs }),
    ...(typeof note.maxConcurrent === "number" && { maxConcurrent: note.maxConcurrent }),
    ...(note.exclusive === true && { exclusive: true }),
    ...(note.untrusted === true && { untrusted: true }),
    ...(note.repeatable === true && { repeatable: true }),
    ...(note.formats === true && { format: () => "" }), // what it says is in the record
    run: () => null,
  };
  const contains = CONTAINED.find((kind) => kind === note.contains);
  if (contains === undefined) return gadget;
  const container: ContainerGadget = { ...gadget, contains };
  return container;
}

function exampleFrom(json: Json): NonNullable<AnyGadget["examples"]> {
  if (!isJsonObject(json)) return [];
  const { input, comment } = json;
  return input === undefined || !isJsonObject(input)
    ? []
    : [{ input, ...(typeof comment === "string" && { comment }) }];
}
