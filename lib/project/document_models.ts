import { resolve } from "node:path";
import { acceptedConfig } from "../catalog/config/config.ts";
import { isInside } from "../catalog/paths.ts";
import { followAliases, maybeModelId } from "../core/model_id.ts";
import { lookAt, realPath } from "../host/paths.ts";
import { hostEnv } from "../host/process.ts";
import { maybeProvider, PROVIDER_KINDS } from "../models/provider/provider.ts";
import { didYouMean } from "../parse/document/near.ts";
import { type ProjectSettings, wantedModel } from "./project.ts";

/** What is wrong with the name of a model, in the words of documents.md 7.6; undefined when it may be asked. A script has to be there. */
export function modelProblem(
  given: string | undefined,
  { config, accepted, root, cwd }: Pick<ProjectSettings, "config" | "root" | "cwd"> & {
    readonly accepted: boolean;
  },
): string | undefined {
  const { models } = accepted ? acceptedConfig(config) : config;
  const name = wantedModel(given) ?? models.default;
  if (name === undefined) return "no model is configured";
  const { aliases = {} } = models;
  const { way, isCycle } = followAliases(name, aliases);
  if (isCycle) return `the aliases of the model "${name}" lead back to themselves`;
  const end = way.at(-1) ?? name;
  const id = maybeModelId(end);
  if (id === undefined) return `unknown model "${end}"${didYouMean(end, Object.keys(aliases))}`;
  if (id.provider === "script" || id.provider === "replay") {
    // Whether one is there outside of the project is told to nobody: it is refused, or read, when it is asked.
    const isThere = id.provider === "script" && id.model === "echo" ||
      [cwd, root].map((folder) => realPath(resolve(folder, id.model)))
        .some((path) => !isInside(path, root) || lookAt(path) !== "nothing");
    return isThere ? undefined : `the model ${end} cannot be opened: there is no file "${id.model}"`;
  }
  const provider = maybeProvider(id.provider, { settings: models, env: hostEnv });
  if (provider !== undefined && provider.baseURL !== "") return undefined;
  const known = [...Object.keys(PROVIDER_KINDS), ...Object.keys(models.providers ?? {}), "script", "replay"];
  return `unknown provider "${id.provider}"${didYouMean(id.provider, known)}`;
}
