import type { AnyGadget } from "./gadget.ts";

/** Where a gadget comes from. */
export type GadgetSource =
  | { readonly kind: "built-in" }
  | { readonly kind: "project"; readonly file: string }
  | { readonly kind: "file"; readonly file: string }
  | { readonly kind: "code" };

/** A name in the catalogue. */
export interface CatalogEntry {
  readonly name: string;
  readonly source: GadgetSource;
  /** `not-trusted`: its module was not loaded, and the name is the stem of its file. `broken`: it could not be loaded. */
  readonly state: "ready" | "not-trusted" | "broken";
  /** Why it is not ready, and what to do. */
  readonly problem?: string;
  /** The gadget; a promise the first time, when its module has to be loaded. Throws when the entry is not ready. */
  load(): AnyGadget | Promise<AnyGadget>;
}

/** Names to gadgets. */
export interface Catalog {
  /** In the order in which they came: built in, project, files. */
  readonly entries: readonly CatalogEntry[];
  maybeFind(name: string): CatalogEntry | undefined;
}
