import type { CatalogEntry } from "../core/catalog.ts";
import type { AnyGadget } from "../core/gadget.ts";
import type { World } from "../core/world.ts";

/** The built-in gadgets by name; each loads its module when it is asked for. */
export type BuiltIns = Readonly<Record<string, () => Promise<(world: World) => AnyGadget>>>;

/** The entries of the built-in gadgets. */
export function builtInEntries(
  { builtIns, world }: { readonly builtIns: BuiltIns; readonly world: World },
): readonly CatalogEntry[] {
  return Object.entries(builtIns).map(([name, load]) => builtInEntry(name, { load, world }));
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
