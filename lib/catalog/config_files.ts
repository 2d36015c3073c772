import { ProblemsError, SourceError } from "../core/source_error.ts";
import type { FileError } from "../core/world.ts";
import type { Config } from "./config/config.ts";
import { type ConfigLayers, mergeConfig } from "./config/merge.ts";
import { readConfig, type WrittenConfig } from "./config/read.ts";
import { shownPath } from "../core/paths.ts";

/** A configuration file that is there; one that cannot be read has a cause instead of a text. */
export type ConfigText =
  & { readonly path: string }
  & ({ readonly text: string; readonly cause?: never } | { readonly cause: FileError });

/** The settings of the files that are there. @throws {ProblemsError} with every problem of both */
export async function configOf(
  found: { readonly project: ConfigText | undefined; readonly user: ConfigText | undefined },
  { cwd, ...place }: Pick<ConfigLayers, "root" | "userFolder" | "ownPaths"> & { readonly cwd: string },
): Promise<Config> {
  const project = await written(found.project, cwd);
  const user = await written(found.user, cwd);
  const problems = [...project.problems, ...user.problems];
  if (problems.length > 0) throw new ProblemsError(problems);
  return mergeConfig({ project, user, ...place });
}

const ABSENT: WrittenConfig = { values: {}, at: () => undefined, problems: [], notices: [] };

async function written(found: ConfigText | undefined, cwd: string): Promise<WrittenConfig> {
  if (found === undefined) return ABSENT;
  const file = shownPath(found.path, cwd);
  if (found.cause === undefined) return await readConfig(found.text, file);
  const { cause, path } = found;
  const message = cause.message.replaceAll(path, file);
  return { ...ABSENT, problems: [new SourceError(message, { code: "E-config", cause })] };
}
