import { builtInEntries } from "../catalog/catalog.ts";
import type { Catalog, CatalogEntry } from "../core/catalog.ts";
import type { World } from "../core/world.ts";
import { builtInGadgets } from "../../gadgets/built_in.ts";

/** The gadgets of a project, of which the built-in ones touch another world than the project itself. */
export function catalogInWorld(catalog: Catalog, world: World): Catalog {
  const own = new Map(
    builtInEntries({ builtIns: builtInGadgets, world }).map((entry) => [entry.name, entry]),
  );
  const placed = (entry: CatalogEntry): CatalogEntry =>
    (entry.source.kind === "built-in" ? own.get(entry.name) : undefined) ?? entry;
  const { whole } = catalog;
  return {
    entries: catalog.entries.map(placed),
    whole: whole && (async () => (await whole()).map(placed)),
    maybeFind: (name) => {
      const entry = catalog.maybeFind(name);
      return entry && placed(entry);
    },
  };
}
