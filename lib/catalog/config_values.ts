import type { JsonObject } from "../core/json.ts";
import type { Span } from "../core/source_error.ts";
import type { Markers } from "../parse/markers.ts";
import type { ConfigFile } from "./config_table.ts";

/** What is granted to a gadget: all that it wants, or these permissions. */
export type Grant = NonNullable<ConfigFile["grants"]>[string];

/** By gadget, file or stem of the file, as it was written. */
export type Grants = Readonly<Record<string, Grant>>;

/** Gadgets that run in the process of Orrery. */
export type Isolation = Readonly<Record<string, "none">>;

/** A folder of gadget modules. */
export interface GadgetFolder {
  /** Absolute. */
  readonly path: string;
  /** Where it was written; absent for the default, which need not exist. */
  readonly written?: { readonly span: Span; readonly source: string };
}

/** The settings of a run: those of the project over those of the user over the defaults (config.md). */
export interface Config {
  readonly calls: { readonly markers: Markers };
  /** `isolation` is what the user's own file says; a project's is in `project`. */
  readonly gadgets: { readonly folders: readonly GadgetFolder[]; readonly isolation: Isolation };
  /** What the user's own file says; a project's are in `project`. */
  readonly grants: Grants;
  readonly limits: { readonly concurrency: number; readonly timeoutMs: number; readonly resultBytes: number };
  /** What counts only after this user accepted the project (gadgets.md 3). */
  readonly project: ProjectWord;
  /** What was ignored, and why; a line each. */
  readonly notices: readonly string[];
}

/** What a project says for itself. */
export interface ProjectWord {
  readonly grants: Grants;
  readonly isolation: Isolation;
  /** Those parts as they were written, also the ones of later versions, for the acceptance; empty when there are none. */
  readonly parts: JsonObject;
}
