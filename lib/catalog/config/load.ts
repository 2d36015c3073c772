import { join } from "node:path";
import { FileError, type Files, ProblemsError, shownPath, type Sight, SourceError } from "../../core/core.ts";
import { mergeConfig } from "./merge.ts";
import type { WrittenConfig } from "./read.ts";
import type { Config } from "./config.ts";

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
 * Reads `orrery.yaml` of the project root and the user's own `config.yaml`. Without either the defaults hold.
 *
 * @throws {ProblemsError} with every problem of both files
 */
export async function loadConfig(
  root: string,
  files: Files,
  options: LoadConfigOptions = {},
): Promise<Config> {
  const { userFolder, cwd = root, look = () => "other", ownPaths } = options;
  const layer = (path: string) => look(path) === "nothing" ? ABSENT : written(path, files, cwd);
  const [project, user] = await Promise.all([
    layer(join(root, "orrery.yaml")),
    userFolder === undefined ? ABSENT : layer(join(userFolder, "config.yaml")),
  ]);
  const problems = [...project.problems, ...user.problems];
  if (problems.length > 0) throw new ProblemsError(problems);
  return mergeConfig({ project, user, root, userFolder: userFolder ?? root, ownPaths });
}

const ABSENT: WrittenConfig = { values: {}, at: () => undefined, problems: [] };

/** A configuration file; one that cannot be read is a problem, one that is not there says nothing. */
async function written(path: string, files: Files, cwd: string): Promise<WrittenConfig> {
  const file = shownPath(path, cwd);
  try {
    const { readConfig }: typeof import("./read.ts") = await import("./read.ts" as string);
    return await readConfig(await files.readText(path), file);
  } catch (cause) {
    if (!(cause instanceof FileError)) throw cause;
    if (cause.code === "not-found" || cause.code === "not-folder") return ABSENT;
    const message = cause.message.replaceAll(path, file);
    return { ...ABSENT, problems: [new SourceError(message, { code: "E-config", cause })] };
  }
}
