import { acceptedConfig, type Config } from "../catalog/config/config.ts";
import { systemClock } from "../core/clock.ts";
import { hostModelFetch } from "../host/model_fetch.ts";
import { realPath } from "../host/paths.ts";
import { hostEnv, hostEnvProblem } from "../host/process.ts";
import type { OpenModelsOptions } from "../models/open_models.ts";
import { providerHosts } from "../models/provider/provider.ts";
import { createPolicy } from "../policy/policy.ts";
import { NO_POLICY_FLAGS, type PolicySettings } from "../policy/policy_settings.ts";

/** Where models are wanted. */
export interface ModelMeansOptions {
  readonly root: string;
  readonly cwd: string;
  readonly config: Config;
  /** What `orrery.yaml` says of providers counts only then. */
  readonly isAccepted: boolean;
  readonly settings?: PolicySettings;
  /** The model that will be asked, so that the hosts of its provider may be reached. Default: the configured one. */
  readonly name?: string;
}

/**
 * What the models of a project are reached with. The hosts of the chosen one and of its fallbacks may be reached without a flag, since
 * the user chose them; `--deny-net` refuses them all the same.
 */
export function modelMeans(
  { root, cwd, config, isAccepted, settings = NO_POLICY_FLAGS, name }: ModelMeansOptions,
): Omit<OpenModelsOptions, "files" | "replay"> {
  const { models } = isAccepted ? acceptedConfig(config) : config;
  const wanted = name ?? models.default;
  const hosts = wanted === undefined ? [] : providerHosts(wanted, { settings: models, env: hostEnv });
  const { allow } = settings;
  const net = { all: allow.net.all, list: [...allow.net.list, ...hosts] };
  const policy = createPolicy({ ...settings, allow: { ...allow, net } }, { root, cwd, realPath });
  return {
    settings: models,
    fetch: hostModelFetch({ check: (request) => policy.check(request) }),
    env: hostEnv,
    unreadable: hostEnvProblem,
    clock: systemClock,
  };
}
