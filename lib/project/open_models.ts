import { acceptedConfig } from "../catalog/config_accepted.ts";
import type { Config } from "../catalog/config.ts";
import { systemClock } from "../core/clock.ts";
import { FileError } from "../core/world.ts";
import { hostEnv, hostEnvProblem } from "../host/deno_grants.ts";
import { hostFiles } from "../host/files.ts";
import { hostModelFetch } from "../host/model_fetch.ts";
import { openModels } from "../models/open_models.ts";
import type { OpenModels } from "../models/open_models.ts";
import { providerHosts } from "../models/provider_hosts.ts";
import { createPolicy } from "../policy/policy.ts";
import { NO_POLICY_FLAGS } from "../policy/policy_settings.ts";
import type { PolicySettings } from "../policy/policy_settings.ts";
import { realPath } from "../host/paths.ts";

/** Where the models are wanted. */
export interface OpenProjectModelsOptions {
  readonly root: string;
  readonly cwd: string;
  readonly config: Config;
  /** What `orrery.yaml` says of providers counts only then. */
  readonly isAccepted: boolean;
  readonly settings?: PolicySettings;
  /** The model that will be asked, so that the hosts of its provider may be reached; none but offline models without it. */
  readonly name?: string | undefined;
}

/**
 * The models of a project. The hosts of the chosen model's provider and of its fallbacks may be reached without a flag, since the user
 * chose them; `--deny-net` refuses them all the same. The file of `script/FILE` is looked for in the working folder, then in the
 * project root.
 */
export function openProjectModels(
  { root, cwd, config, isAccepted, settings = NO_POLICY_FLAGS, name }: OpenProjectModelsOptions,
): OpenModels {
  const { models } = isAccepted ? acceptedConfig(config) : config;
  const wanted = name ?? models.default;
  const hosts = wanted === undefined ? [] : providerHosts(wanted, { settings: models, env: hostEnv });
  const { allow } = settings;
  const net = { all: allow.net.all, list: [...allow.net.list, ...hosts] };
  const policy = createPolicy({ ...settings, allow: { ...allow, net } }, { root, cwd, realPath });
  return openModels({
    settings: models,
    fetch: hostModelFetch({ check: (request) => policy.check(request) }),
    env: hostEnv,
    unreadable: hostEnvProblem,
    clock: systemClock,
    files: { readText: (path) => readNear(path, [cwd, root]) },
    replay: async (file) => {
      const { replayModel }: typeof import("./replay_model.ts") = await import("./replay_model.ts" as string);
      return replayModel(file, await readNear(file, [cwd, root]));
    },
  });
}

async function readNear(path: string, [first = "", ...others]: readonly string[]): Promise<string> {
  try {
    return await hostFiles({ root: first }).readText(path);
  } catch (error) {
    if (others.length === 0 || !(error instanceof FileError) || error.code !== "not-found") throw error;
    return await readNear(path, others).catch(() => Promise.reject(error));
  }
}
