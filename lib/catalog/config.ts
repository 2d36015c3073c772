import { join } from "../core/path.ts";
import { ProblemsError } from "../core/problems_error.ts";
import { SourceError } from "../core/source_error.ts";
import { FileError, type Files } from "../core/world.ts";
import type { Config } from "./config_values.ts";
import { mergeConfig } from "./merge_config.ts";
import type { WrittenConfig } from "./read_config.ts";
import { shownPath } from "./shown_path.ts";

export type { Config, GadgetFolder, Grant, Grants, Isolation, ProjectWord } from "./config_values.ts";

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
