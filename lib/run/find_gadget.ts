import type { Catalog, CatalogEntry } from "../core/catalog.ts";
import type { AnyGadget } from "../core/gadget.ts";
import { didYouMean } from "../core/nearest.ts";
import { messageOf } from "../core/source_error.ts";
import { CallError } from "./call_error.ts";

/**
 * The gadget of a call, or the error of the call: a promise only when its module has to be loaded first.
 */
export function findGadget(
  catalog: Catalog,
  name: string,
): AnyGadget | CallError | Promise<AnyGadget | CallError> {
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
  const names = catalog.entries.map((entry) => entry.name);
  const near = didYouMean(name, names);
  const what = near === ""
    ? ` Known: ${names.slice(0, 12).join(", ")}${names.length > 12 ? ", …" : ""}.`
    : near;
  return new CallError(
    `Unknown gadget "${name}".${names.length === 0 ? " The catalogue is empty." : what}`,
    "unknown-gadget",
  );
}
