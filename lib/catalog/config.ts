import { join } from "../core/path.ts";
import type { JsonObject } from "../core/json.ts";
import { ProblemsError } from "../core/problems_error.ts";
import { SourceError, type Span } from "../core/source_error.ts";
import { FileError, type Files } from "../core/world.ts";
import type { Markers } from "../parse/markers.ts";
import type { ConfigFile } from "./config_table.ts";
import { mergeConfig } from "./merge_config.ts";
import type { WrittenConfig } from "./read_config.ts";
import { shownPath } from "./shown_path.ts";

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

/** Where the settings are. */
export interface LoadConfigOptions {
  /** The folder of the user's own `config.yaml`; without it there is none. */
  readonly userFolder?: string;
  /** The folder that files are named relative to in messages; default: the root. */
  readonly cwd?: string;
}

/**
 * Reads `orrery.yaml` of the project root and the user's own `config.yaml`. Without either nothing is loaded to read them.
 *
 * @throws {ProblemsError} with every problem of both files
 */
export async function loadConfig(
  root: string,
  files: Files,
  options: LoadConfigOptions = {},
): Promise<Config> {
  const { userFolder, cwd = root } = options;
  const project = await readFile(join(root, "orrery.yaml"), { files, cwd });
  const user = userFolder === undefined
    ? ABSENT
    : await readFile(join(userFolder, "config.yaml"), { files, cwd });
  const problems = [...project.problems, ...user.problems];
  if (problems.length > 0) throw new ProblemsError(problems);
  return mergeConfig({ project, user, root, userFolder: userFolder ?? root });
}

const ABSENT: WrittenConfig = { values: {}, at: () => undefined, problems: [], notices: [] };

async function readFile(path: string, options: { files: Files; cwd: string }): Promise<WrittenConfig> {
  const file = shownPath(path, options.cwd);
  try {
    const text = await options.files.readText(path);
    const { readConfig }: typeof import("./read_config.ts") = await import("./read_config.ts" as string);
    return await readConfig(text, file);
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause;
    if (cause.code === "not-found" || cause.code === "not-folder") return ABSENT;
    const message = cause.message.replaceAll(path, file);
    return { ...ABSENT, problems: [new SourceError(message, { code: "E-config", cause })] };
  }
}
