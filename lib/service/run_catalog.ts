import type { Catalog, CatalogEntry } from "../core/catalog.ts";
import type { AnyGadget } from "../core/gadget.ts";
import type { World } from "../core/world.ts";
import { builtInGadgets } from "../../gadgets/built_in.ts";
import type { BuiltInGadget } from "../../gadgets/built_in.ts";

/** The gadgets of a project for one run: the built-in ones touch the world of the run. Most runs call one or two of them. */
export class RunCatalog implements Catalog {
  readonly #shared: Catalog;
  readonly #world: World;
  readonly #own = new Map<string, CatalogEntry>();

  constructor(shared: Catalog, world: World) {
    this.#shared = shared;
    this.#world = world;
  }

  get entries(): readonly CatalogEntry[] {
    return this.#shared.entries.map((entry) => this.#placed(entry));
  }

  maybeFind(name: string): CatalogEntry | undefined {
    const entry = this.#shared.maybeFind(name);
    return entry && this.#placed(entry);
  }

  #placed(entry: CatalogEntry): CatalogEntry {
    const { name, source } = entry;
    if (source.kind !== "built-in") return entry;
    let own = this.#own.get(name);
    if (own === undefined) this.#own.set(name, own = new BuiltInEntry(name, this.#world));
    return own;
  }
}

class BuiltInEntry implements CatalogEntry {
  readonly name: string;
  readonly source = BUILT_IN;
  readonly state = "ready";
  readonly #world: World;
  #gadget: AnyGadget | undefined;

  constructor(name: string, world: World) {
    this.name = name;
    this.#world = world;
  }

  load(): AnyGadget | Promise<AnyGadget> {
    if (this.#gadget !== undefined) return this.#gadget;
    const make = LOADED.get(this.name);
    if (make === undefined) return this.#load();
    return this.#gadget = sharing(make(this.#world));
  }

  async #load(): Promise<AnyGadget> {
    const load = builtInGadgets[this.name];
    if (load === undefined) throw new Error(`There is no built-in gadget ${this.name}`);
    const make = await load();
    LOADED.set(this.name, make);
    return this.#gadget ??= sharing(make(this.#world));
  }
}

const BUILT_IN = { kind: "built-in" } as const;

/** Modules that are loaded: from then on nobody waits for one. */
const LOADED = new Map<string, BuiltInGadget>();

/** By name, as it was made first. */
const SHARED = new Map<string, AnyGadget>();

/** What checks an input is made once for each schema: that of all runs is the same one. */
function sharing(gadget: AnyGadget): AnyGadget {
  const first = SHARED.get(gadget.name);
  if (first === undefined) {
    SHARED.set(gadget.name, gadget);
    return gadget;
  }
  if (first === gadget) return gadget;
  const { input, output } = first;
  return {
    ...gadget,
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
  };
}
