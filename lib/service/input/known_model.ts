// The name of a model is looked at before a run begins that may never ask it: neither its file nor its key has to be there.
import { acceptedConfig, type Config } from "../../catalog/config/config.ts";
import type { ModelError, ModelSettings } from "../../core/core.ts";
import { hostEnv } from "../../host/process.ts";
import { unknownName, unknownProvider } from "../../models/known_models.ts";
import { maybeProvider, meantModel } from "../../models/provider.ts";
import { UsageError } from "../exit_code.ts";
import type { NamedAs } from "./prompt_input.ts";

/** Where the name was found, and what it may stand for. */
export interface KnownModelOptions {
  /** The flag or the variable. */
  readonly from: string;
  readonly config: Config;
  /** Whether what the project says of providers counts. */
  readonly accepted: boolean;
  readonly command: string;
}

/** Where the name of a model comes from that `wantedModel` gives. */
export function modelFrom(given: string | undefined, as: NamedAs = "flag"): string {
  if (given === undefined) return "ORRERY_MODEL";
  return as === "flag" ? "--model" : "model";
}

/** @throws {UsageError} for a name that is neither an alias nor that of a model of a provider */
export function assertKnownModel(
  name: string,
  { from, config, accepted, command }: KnownModelOptions,
): void {
  const { models } = accepted ? acceptedConfig(config) : config;
  const problem = problemOf(name, models);
  if (problem === undefined) return;
  const message = problem.message.replace(/[^.?]$/, "$&.");
  throw new UsageError(`${from}: ${message} orrery list models shows what there is.`, command);
}

/** A circle of aliases is left to whoever asks the model. */
function problemOf(name: string, settings: ModelSettings): ModelError | undefined {
  const { isCycle, end, id } = meantModel(name, settings);
  if (isCycle) return undefined;
  if (id === undefined) return unknownName(end, settings);
  if (id.provider === "script" || id.provider === "replay") return undefined;
  const provider = maybeProvider(id.provider, { settings, env: hostEnv });
  return provider === undefined || provider.baseURL === ""
    ? unknownProvider(id.provider, settings)
    : undefined;
}
