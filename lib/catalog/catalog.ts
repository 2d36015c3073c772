import type { AnyGadget, Catalog, CatalogEntry, EntryGrant, World } from "../core/core.ts";
import { checkGadget } from "../schema/define_gadget.ts";

/** An entry, and how it is found too as long as its real name is not known. */
export interface NamedEntry {
  readonly entry: CatalogEntry;
  readonly alsoCalled?: readonly string[];
}

/**
 * The catalogue of these entries. A name is found as it is written; an entry that is not ready, whose real name may be
 * another, also by its stem with case, `_` and `-` ignored: so that a call of `FetchPage` says what is wrong with `fetch_page.ts`.
 */
export function catalogOf(named: readonly NamedEntry[]): Catalog {
  const exact = new Map<string, CatalogEntry>();
  const folded = new Map<string, CatalogEntry>();
  for (const { entry, alsoCalled = [] } of named) {
    if (entry.state === "ready" || !exact.has(entry.name)) {
      if (exact.get(entry.name)?.state !== "ready") exact.set(entry.name, entry);
    }
    if (entry.state === "ready") continue;
    for (const name of [entry.name, ...alsoCalled].map(foldName)) {
      if (!folded.has(name)) folded.set(name, entry);
    }
  }
  return {
    entries: named.map(({ entry }) => entry),
    maybeFind: (name) => exact.get(name) ?? folded.get(foldName(name)),
  };
}

/** A name without case, `_` and `-` (gadgets.md 2). */
export function foldName(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, "");
}

/** The built-in gadgets by name; each loads its module when it is asked for. */
export type BuiltIns = Readonly<Record<string, () => Promise<(world: World) => AnyGadget>>>;

/** The entries of the built-in gadgets. */
export function builtInEntries(
  { builtIns, world, builtInGrants = {} }: {
    readonly builtIns: BuiltIns;
    readonly world: World;
    readonly builtInGrants?: Readonly<Record<string, EntryGrant>>;
  },
): readonly CatalogEntry[] {
  return Object.entries(builtIns).map(([name, load]) => {
    const entry = builtInEntry(name, { load, world });
    const grant = builtInGrants[name];
    return grant === undefined ? entry : { ...entry, grant: () => grant };
  });
}

/** Its module loads once, at the first `load`. */
function builtInEntry(
  name: string,
  options: { readonly load: BuiltIns[string]; readonly world: World },
): CatalogEntry {
  let loaded: AnyGadget | Promise<AnyGadget> | undefined;
  const load = async () => loaded = (await options.load())(options.world);
  return { name, source: { kind: "built-in" }, state: "ready", load: () => loaded ??= load() };
}

/**
 * A catalogue of gadgets that are at hand, for scripts and tests.
 *
 * @throws {TypeError} for a gadget that is none, and for two of one name
 *
 * ```ts
 * import { createCatalog } from "orrery";
 *
 * const catalog = createCatalog([{ name: "Hello", description: "Greets.", run: () => "hello" }]);
 * console.log(catalog.entries.map((entry) => entry.name)); // => [ "Hello" ]
 * ```
 */
export function createCatalog(gadgets: readonly AnyGadget[]): Catalog {
  const names = new Set<string>();
  for (const [index, gadget] of gadgets.entries()) {
    checkGadget(gadget, `gadget ${index + 1}`);
    if (names.has(gadget.name)) {
      throw new TypeError(`Two gadgets are named "${gadget.name}": a name stands for one`);
    }
    names.add(gadget.name);
  }
  return catalogOf(gadgets.map((gadget) => ({ entry: codeEntry(gadget) })));
}

function codeEntry(gadget: AnyGadget): CatalogEntry {
  return { name: gadget.name, source: { kind: "code" }, state: "ready", load: () => gadget };
}
