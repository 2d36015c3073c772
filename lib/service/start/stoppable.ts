import {
  type AnyGadget,
  type Catalog,
  type CatalogEntry,
  linkedSignal,
  type Model,
  ModelError,
  type ModelPart,
  type ModelRequest,
  whenAborted,
  wrappedModel,
} from "../../core/core.ts";

/** Gives what holds for the answer that is being written. */
type Turn = () => AbortSignal;

/** Some providers refuse a message that is empty. */
const NOTHING_SAID = "[stopped]";

/** How an answer is stopped. */
export interface StoppableOptions {
  /**
   * What a model that is asked again after the stop does: it `says` that it was stopped, or `fails`, so that nobody asks it for a better
   * answer. Default `says`.
   */
  readonly whenStopped?: "says" | "fails";
}

/** A model whose answer ends where it is stopped: what it had said stays said, so that a resumed conversation is the same. */
export function stoppableModel(
  model: Model,
  turn: Turn,
  { whenStopped = "says" }: StoppableOptions = {},
): Model {
  return wrappedModel(model, (request) => untilStopped(model, { request, stop: turn(), whenStopped }));
}

async function* untilStopped(
  model: Model,
  { request, stop, whenStopped }: {
    readonly request: ModelRequest;
    readonly stop: AbortSignal;
    readonly whenStopped: StoppableOptions["whenStopped"];
  },
): AsyncGenerator<ModelPart> {
  if (stop.aborted && whenStopped === "fails") {
    throw new ModelError("the answer was stopped", { code: "aborted" });
  }
  using both = linkedSignal([stop, request.signal]);
  let hasSpoken = false;
  try {
    for await (const part of partsUntil(model.stream({ ...request, signal: both.signal }), stop)) {
      hasSpoken ||= part.type === "text" || part.type === "call";
      yield part;
      if (part.type === "finish") return;
    }
  } catch (error) {
    if (!stop.aborted || request.signal?.aborted) throw error;
  }
  if (!hasSpoken) yield { type: "text", text: NOTHING_SAID };
  yield { type: "finish", reason: "other", usage: { input: 0, output: 0 }, model: model.id };
}

/** Also a model that does not hear of it is left. */
async function* partsUntil(parts: AsyncIterable<ModelPart>, stop: AbortSignal): AsyncGenerator<ModelPart> {
  const iterator = parts[Symbol.asyncIterator]();
  const stopped = whenAborted(stop);
  try {
    while (!stop.aborted) {
      const pulled = iterator.next();
      pulled.catch(() => undefined);
      const next = await Promise.race([pulled, stopped]);
      if (next === undefined || next.done === true) return;
      yield next.value;
    }
  } finally {
    iterator.return?.()?.catch(() => undefined); // not waited for: it may hang
  }
}

/** A catalogue whose gadgets are aborted with the answer that called them. */
export function stoppableCatalog(catalog: Catalog, turn: Turn): Catalog {
  const entries = catalog.entries.map((entry) => stoppableEntry(entry, turn));
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  return {
    ...catalog,
    entries,
    maybeFind: (name) => {
      const entry = catalog.maybeFind(name);
      return byName.get(name) ?? (entry && stoppableEntry(entry, turn));
    },
  };
}

function stoppableEntry(entry: CatalogEntry, turn: Turn): CatalogEntry {
  return {
    ...entry,
    load() {
      const loaded = entry.load();
      return loaded instanceof Promise
        ? loaded.then((gadget) => stoppableGadget(gadget, turn))
        : stoppableGadget(loaded, turn);
    },
  };
}

/** A gadget that is aborted with the answer that called it. */
export function stoppableGadget(gadget: AnyGadget, turn: Turn): AnyGadget {
  if (gadget.run === undefined) return gadget;
  return {
    ...gadget,
    run: (input, context) =>
      gadget.run?.(input, { ...context, signal: linkedSignal([context.signal, turn()]).signal }),
  };
}
