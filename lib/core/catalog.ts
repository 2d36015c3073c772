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

// What `orrery.lock` says (gadgets.md 3): what was allowed for good, and exactly of what.

/** The name of the file at the project root. */
export const LOCK_FILE = "orrery.lock";

/** A file that belongs to a gadget. */
export interface ModuleHash {
  /** Real and absolute. */
  readonly path: string;
  /** Of its bytes, in hex. */
  readonly sha256: string;
}

/** A gadget of a module, as far as it matters to whether it may run. */
export interface GadgetToGrant {
  readonly name: string;
  /** Its module, as it was found: absolute. */
  readonly file: string;
  /** What its manifest asks for; paths relative to the project root. */
  readonly permissions: Permissions;
  /** Every module that it loads, its own too. */
  readonly modules: readonly ModuleHash[];
  /** Of paths in `permissions` that are links in the project, or lie behind one: where each leads. Default: none is. */
  readonly links?: Readonly<Record<string, string>>;
}

/** A gadget that was allowed for good. Files are named from the project root, with `/`. */
export interface LockedGadget {
  readonly name: string;
  readonly file: string;
  /** What it may do. */
  readonly permissions: Permissions;
  /** The SHA-256 of each module, in hex. */
  readonly modules: Readonly<Record<string, string>>;
  /** Where paths that it asks for lead, when they are links; absent when none is. */
  readonly links?: Readonly<Record<string, string>>;
}

/** An MCP server that was allowed for good. */
export interface LockedServer {
  readonly name: string;
  /** As it stands in the settings, variables not replaced: the command with its arguments, or the URL. */
  readonly reached: { readonly command: readonly string[] } | { readonly url: string };
  /** Of all that decides what starting or reaching it means, in hex. */
  readonly sha256: string;
  /** The SHA-256 of the description and the schema of each tool, in hex. */
  readonly tools: Readonly<Record<string, string>>;
}

/** What was allowed for good in a project. */
export interface Lock {
  readonly gadgets: readonly LockedGadget[];
  readonly servers: readonly LockedServer[];
}

/** What is not the same in both, by name and in order, a line each. */
export function changesByName(
  before: Readonly<Record<string, string>>,
  now: Readonly<Record<string, string>>,
  words: (name: string, was: string | undefined, is: string | undefined) => string,
): readonly string[] {
  return Object.keys({ ...before, ...now }).sort().flatMap((name) => {
    const [was, is] = [before, now].map((texts) => Object.hasOwn(texts, name) ? texts[name] : undefined);
    return was === is ? [] : [words(name, was, is)];
  });
}

/** Nothing was. */
export const EMPTY_LOCK: Lock = { gadgets: [], servers: [] };

/** What a gadget did with its permissions in runs that are kept. */
export interface UsedPermission {
  readonly kind: keyof Permissions;
  /** As the policy was asked: a real path, or a folder that many of them lie in, `host:port`, a command, the name of a variable. */
  readonly value: string;
  /** How often. */
  readonly count: number;
}

/** What a gadget did in the runs that are kept of a project. */
export interface GadgetUse {
  /** How often a call of it began. */
  readonly calls: number;
  /** What was allowed of what it asked for. Of one entry of its grant not every value is here when they are many. */
  readonly used: readonly UsedPermission[];
}
