// What `orrery.lock` says (gadgets.md 3): what was allowed for good, and exactly of what.
import type { Permissions } from "./world.ts";

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
