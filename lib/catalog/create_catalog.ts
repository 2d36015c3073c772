import type { Catalog, CatalogEntry } from "../core/catalog.ts";
import type { AnyGadget } from "../core/gadget.ts";
import { checkGadget } from "../schema/check_gadget.ts";
import { catalogOf } from "./catalog_of.ts";

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
