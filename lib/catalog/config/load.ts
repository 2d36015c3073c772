import { dirname, join } from "node:path";
import {
  FileError,
  type Files,
  isInside,
  ProblemsError,
  shownPath,
  type Sight,
  SourceError,
} from "../../core/core.ts";
import { type ConfigLayers, mergeConfig } from "./merge.ts";
import { readConfig, type WrittenConfig } from "./read.ts";
import { type Config, defaultConfig } from "./config.ts";

/** Where the settings are. */
export interface LoadConfigOptions {
  /** The folder of the user's own `config.yaml`; without it there is none. */
  readonly userFolder?: string;
  /** The folder that files are named relative to in messages; default: the root. */
  readonly cwd?: string;
  /** The absolute paths that a path of the user's own settings means, with and without its links followed. Default: from their folder. */
  readonly ownPaths?: (written: string) => readonly string[];
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
  const { userFolder, cwd = root, look = () => "other", ownPaths } = options;
  const maybeRead = (path: string) => look(path) === "nothing" ? undefined : maybeFile(path, files);
  const [project, user] = await Promise.all([
    maybeRead(join(root, "orrery.yaml")),
    userFolder === undefined ? undefined : maybeRead(join(userFolder, "config.yaml")),
  ]);
  if (project === undefined && user === undefined) return defaultConfig(root);
  return await configOf({ project, user }, {
    root,
    userFolder: userFolder ?? root,
    cwd,
    ownPaths,
  });
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
  readonly home?: string;
  /** The working folder: absolute. */
  readonly cwd: string;
}

/**
 * The project root: the nearest folder with `orrery.yaml`, from `start` upwards; the search ends silently at the home folder,
 * at a folder with `.git`, and at one that may not be read, each of them looked at last. None: that of the working folder when `start` is in
 * it, so that what is kept of a run is found where it was started, else `start` (config.md).
 *
 * @param start absolute: the folder of the file that is run, or the working folder
 */
export function findProjectRoot(start: string, options: ProjectRootOptions): string {
  const { look, home, cwd } = options;
  for (let folder = start;; folder = dirname(folder)) {
    const config = look(join(folder, "orrery.yaml"));
    if (config === "file" || config === "other") return folder;
    const isLast = config === "closed" || folder === home || dirname(folder) === folder;
    if (isLast || look(join(folder, ".git")) !== "nothing") break;
  }
  return start !== cwd && isInside(start, cwd) ? findProjectRoot(cwd, options) : start;
}

/** A configuration file that is there; one that cannot be read has a cause instead of a text. */
type ConfigText =
  & { readonly path: string }
  & ({ readonly text: string; readonly cause?: never } | { readonly cause: FileError });

/** The settings of the files that are there. @throws {ProblemsError} with every problem of both */
async function configOf(
  found: { readonly project: ConfigText | undefined; readonly user: ConfigText | undefined },
  { cwd, ...place }: Pick<ConfigLayers, "root" | "userFolder" | "ownPaths"> & { readonly cwd: string },
): Promise<Config> {
  const project = await written(found.project, cwd);
  const user = await written(found.user, cwd);
  const problems = [...project.problems, ...user.problems];
  if (problems.length > 0) throw new ProblemsError(problems);
  return mergeConfig({ project, user, ...place });
}

const ABSENT: WrittenConfig = { values: {}, at: () => undefined, problems: [] };

async function written(found: ConfigText | undefined, cwd: string): Promise<WrittenConfig> {
  if (found === undefined) return ABSENT;
  const file = shownPath(found.path, cwd);
  if (found.cause === undefined) return await readConfig(found.text, file);
  const { cause, path } = found;
  const message = cause.message.replaceAll(path, file);
  return { ...ABSENT, problems: [new SourceError(message, { code: "E-config", cause })] };
}
