import { join } from "../core/path.ts";
import { FileError, type Files } from "../core/world.ts";
import type { ConfigText } from "./config_files.ts";
import { defaultConfig } from "./config_defaults.ts";
import type { Config } from "./config_values.ts";

export type {
  Config,
  GadgetFolder,
  Grant,
  Grants,
  Isolation,
  Limits,
  McpServers,
  ProjectWord,
  Providers,
} from "./config_values.ts";

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
  const [project, user] = await Promise.all([
    maybeFile(join(root, "orrery.yaml"), files),
    userFolder === undefined ? undefined : maybeFile(join(userFolder, "config.yaml"), files),
  ]);
  if (project === undefined && user === undefined) return defaultConfig(root);
  const { configOf }: typeof import("./config_files.ts") = await import("./config_files.ts" as string);
  return await configOf({ project, user }, { root, userFolder: userFolder ?? root, cwd });
}

async function maybeFile(path: string, files: Files): Promise<ConfigText | undefined> {
  try {
    return { path, text: await files.readText(path) };
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause;
    return cause.code === "not-found" || cause.code === "not-folder" ? undefined : { path, cause };
  }
}
