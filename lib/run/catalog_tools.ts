import { type Catalog, type CatalogEntry, EntryError } from "../core/catalog.ts";
import { ModelError } from "../core/model.ts";
import type { ToolSource } from "./offered.ts";

/** The gadgets of a catalogue by name; it is made when the first one is looked for. One that is not trusted is refused: `permission`. */
export function catalogTools(catalog: () => Promise<Catalog>): ToolSource {
  return {
    async find(name) {
      const entry = (await catalog()).maybeFind(name);
      if (entry?.state === "not-trusted") throw notTrusted(entry);
      try {
        return await entry?.load();
      } catch (error) {
        if (!(error instanceof EntryError)) throw error;
        if (error.entry === undefined) return undefined;
        throw error.entry.state === "not-trusted" ? notTrusted(error.entry) : error;
      }
    },
    names: async () => (await wholeCatalog(await catalog())).map((entry) => entry.name),
  };
}

/** Its entries, with those of servers that were not needed so far. */
export async function wholeCatalog(catalog: Catalog): Promise<readonly CatalogEntry[]> {
  return await catalog.whole?.() ?? catalog.entries;
}

function notTrusted(entry: CatalogEntry): ModelError {
  const { name, problem = `Gadget "${name}" is not trusted`, flag = `--trust ${name}` } = entry;
  return new ModelError(problem, { code: "permission", flag });
}
