import type { AnyGadget } from "./gadget.ts";
import type { Permissions } from "./world.ts";

/** Where a gadget comes from. */
export type GadgetSource =
  | { readonly kind: "built-in" }
  | { readonly kind: "project"; readonly file: string }
  | { readonly kind: "file"; readonly file: string }
  /** `file` is where the server is configured. */
  | { readonly kind: "mcp"; readonly server: string; readonly file: string }
  | { readonly kind: "code" };

/** Whether a gadget may run, as far as that is known before anybody is asked. */
export interface EntryGrant {
  /** `not-needed`: it asks for nothing. `open`: somebody is asked, or the call is refused. */
  readonly state: "granted" | "not-needed" | "open";
  /** Who has granted it. */
  readonly from: readonly string[];
  /** What that lets it do, which may be more or less than it asks for; absent when nobody has granted it anything. */
  readonly permissions?: Permissions;
  /** What is not as it was when it was allowed, a line each. */
  readonly changes: readonly string[];
}

/** A name in the catalogue. */
export interface CatalogEntry {
  readonly name: string;
  readonly source: GadgetSource;
  /**
   * `not-trusted`: its server was not started, and the name is the server's. `broken`: it could not be loaded; `server__*` stands for all gadgets of a server.
   */
  readonly state: "ready" | "not-trusted" | "broken";
  /** Why it is not ready, and what to do. */
  readonly problem?: string;
  /** What would let one that is not trusted run. Default: `--trust` with its name. */
  readonly flag?: string;
  /** What its module told the console when it was looked at; absent when that was nothing. */
  readonly said?: string;
  /** What was said before of whether it may run; absent for a gadget that needs no grant of its own, as a built-in one without. */
  readonly grant?: () => EntryGrant;
  /** The gadget; a promise the first time, when its module has to be loaded. Throws when the entry is not ready. */
  load(): AnyGadget | Promise<AnyGadget>;
}

/** Names to gadgets. */
export interface Catalog {
  /** In the order in which they came: built in, project, MCP servers, files. */
  readonly entries: readonly CatalogEntry[];
  maybeFind(name: string): CatalogEntry | undefined;
  /** All entries, once what starts when it is first needed, such as MCP servers, has started. Default: `entries`. */
  readonly whole?: () => Promise<readonly CatalogEntry[]>;
  /** Ends what its gadgets run on, such as MCP servers; absent when there is nothing to end. Afterwards their calls fail. */
  readonly close?: () => Promise<void>;
}

/** `load` of an entry whose server was started only then: the entry that it has is not ready, or it has none. */
export class EntryError extends Error {
  override readonly name = "EntryError";
  readonly entry: CatalogEntry | undefined;

  constructor(message: string, entry: CatalogEntry | undefined) {
    super(message);
    this.entry = entry;
  }
}

/** No gadgets at all. */
export const EMPTY_CATALOG: Catalog = { entries: [], maybeFind: () => undefined };
