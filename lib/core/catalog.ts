import type { AnyGadget } from "./gadget.ts";

/** Where a gadget comes from. */
export type GadgetSource =
  | { readonly kind: "built-in" }
  | { readonly kind: "project"; readonly file: string }
  | { readonly kind: "file"; readonly file: string }
  /** `file` is where the server is configured. */
  | { readonly kind: "mcp"; readonly server: string; readonly file: string }
  | { readonly kind: "code" };

/** A name in the catalogue. */
export interface CatalogEntry {
  readonly name: string;
  readonly source: GadgetSource;
  /**
   * `not-trusted`: its module was not loaded, and the name is the stem of its file; or its server was not started, and the name is the
   * server's. `broken`: it could not be loaded; `server__*` stands for all gadgets of a server.
   */
  readonly state: "ready" | "not-trusted" | "broken";
  /** Why it is not ready, and what to do. */
  readonly problem?: string;
  /** The gadget; a promise the first time, when its module has to be loaded. Throws when the entry is not ready. */
  load(): AnyGadget | Promise<AnyGadget>;
}

/** Names to gadgets. */
export interface Catalog {
  /** In the order in which they came: built in, project, MCP servers, files. */
  readonly entries: readonly CatalogEntry[];
  maybeFind(name: string): CatalogEntry | undefined;
  /** Ends what its gadgets run on, such as MCP servers; absent when there is nothing to end. Afterwards their calls fail. */
  readonly close?: () => Promise<void>;
}

/** No gadgets at all. */
export const EMPTY_CATALOG: Catalog = { entries: [], maybeFind: () => undefined };
