import { acceptedConfig } from "../catalog/config_accepted.ts";
import type { Config } from "../catalog/config.ts";
import { followAliases, maybeModelId } from "../core/model_id.ts";
import { hostEnv } from "../host/process.ts";
import { maybeProvider } from "../models/provider.ts";
import { PROVIDER_KINDS } from "../models/provider_kinds.ts";
import { didYouMean } from "../parse/document_near.ts";
import { wantedModel } from "./project.ts";

/** What is wrong with the name of a model, in the words of documents.md 7.6; undefined when it may be asked. */
export function modelProblem(
  given: string | undefined,
  { config, accepted }: { readonly config: Config; readonly accepted: boolean },
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
  if (id.provider === "script" || id.provider === "replay") return undefined;
  const provider = maybeProvider(id.provider, { settings: models, env: hostEnv });
  if (provider !== undefined && provider.baseURL !== "") return undefined;
  const known = [...Object.keys(PROVIDER_KINDS), ...Object.keys(models.providers ?? {}), "script", "replay"];
  return `unknown provider "${id.provider}"${didYouMean(id.provider, known)}`;
}
