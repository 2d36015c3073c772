import type { JsonObject } from "../core/json.ts";
import type { SourceError } from "../core/source_error.ts";

/** What a content is made of, as it was written: the id of a document of the collection, else a file. */
export interface ModuleSource {
  readonly name: string;
  /** A problem with it that is found later, at its place in the file. */
  problem(message: string, options?: { readonly cause?: unknown }): SourceError;
}

/** A content of a module. */
export interface ModuleContent {
  readonly id: string;
  readonly primary: readonly ModuleSource[];
  readonly secondary: readonly ModuleSource[];
}

/** A session of a module. */
export interface ModuleSession {
  readonly id: string;
  /** The ids of its contents; absent: all of the module. */
  readonly contents?: readonly string[];
}

/** A `*.module.yml` file. */
export interface ModuleFile {
  /** As it was named. */
  readonly file: string;
  readonly id: string;
  readonly sessions: readonly ModuleSession[];
  readonly contents: readonly ModuleContent[];
  /** All that stands below `module:`, keys that Orrery does not know too. */
  readonly data: JsonObject;
}
