import type { Catalog } from "../core/catalog.ts";
import { builtInEntries, catalogOf } from "./catalog_of.ts";
import type { LoadCatalogOptions } from "./catalog_site.ts";
import type { CatalogOptions } from "./project_catalog.ts";

export type { LoadCatalogOptions };

/**
 * The catalogue of a project: built-in gadgets, then the project's folders, then MCP servers, then `files` (gadgets.md 2). With a
 * sandbox a module is looked at in a process that may do nothing, once for each of its versions; without one, a module that is not trusted is
 * listed and not loaded. One that cannot be used is listed as broken.
 *
 * @throws {ProblemsError} for two gadgets of one name, a missing file or folder, and a trusted name that fits no file or several
 */
export async function loadCatalog(options: CatalogOptions): Promise<Catalog> {
  if (hasBuiltInsOnly(options)) {
    return catalogOf(builtInEntries(options).map((entry) => ({ entry })));
  }
  const { projectCatalog }: typeof import("./project_catalog.ts") = await import(
    "./project_catalog.ts" as string
  );
  return await projectCatalog(options);
}

/** Nothing is named, granted or there that could be another gadget. */
function hasBuiltInsOnly(options: CatalogOptions): boolean {
  const { config, servers, files = [], trust = [], allowed = [], look = () => "other" } = options;
  if (config === undefined || servers !== undefined) return false;
  if ([files, trust, allowed].some(({ length }) => length > 0)) return false;
  const words = [config.grants, config.project.grants, config.project.parts];
  if (words.some((word) => Object.keys(word).length > 0)) return false;
  return config.gadgets.folders.every(({ path, written }) =>
    written === undefined && look(path) === "nothing"
  );
}
