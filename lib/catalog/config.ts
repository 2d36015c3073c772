import { dirname, join } from "../core/path.ts";
import { FileError } from "../core/world.ts";
import type { Files, Sight } from "../core/world.ts";
import type { ConfigText } from "./config_files.ts";
import { defaultConfig } from "./config_values.ts";
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
  /** Looks at a path, so that a file which is not there costs next to nothing. Default: each is read, and not there then. */
  readonly look?: (path: string) => Sight;
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
  const { userFolder, cwd = root, look = () => "other" } = options;
  const maybeRead = (path: string) => look(path) === "nothing" ? undefined : maybeFile(path, files);
  const [project, user] = await Promise.all([
    maybeRead(join(root, "orrery.yaml")),
    userFolder === undefined ? undefined : maybeRead(join(userFolder, "config.yaml")),
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

/** How the search looks at the machine. */
export interface ProjectRootOptions {
  readonly look: (path: string) => Sight;
  /** The user's home folder: the search goes no further up. */
  readonly home?: string | undefined;
}

/**
 * The project root: the nearest folder with `orrery.yaml`, from `start` upwards; the search ends silently at the home folder,
 * at a folder with `.git`, and at one that may not be read, each of them looked at last. None: `start` (config.md).
 *
 * @param start absolute: the folder of the file that is run, or the working folder
 */
export function findProjectRoot(start: string, { look, home }: ProjectRootOptions): string {
  for (let folder = start;; folder = dirname(folder)) {
    const config = look(join(folder, "orrery.yaml"));
    if (config === "file" || config === "other") return folder;
    if (config === "closed" || folder === home || dirname(folder) === folder) return start;
    if (look(join(folder, ".git")) !== "nothing") return start;
  }
}
