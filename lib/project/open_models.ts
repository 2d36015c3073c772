import { maybeModelId, modelIdText } from "../core/model_id.ts";
import { resolve } from "node:path";
import { FileError, PermissionRefused, type Policy } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { realPath } from "../host/paths.ts";
import { hostEnv } from "../host/process.ts";
import { openModels } from "../models/open_models.ts";
import type { OpenModels } from "../models/open_models.ts";
import { createPolicy } from "../policy/policy.ts";
import { NO_POLICY_FLAGS } from "../policy/policy_settings.ts";
import { modelMeans } from "./model_means.ts";
import type { ModelMeansOptions } from "./model_means.ts";

/** Where the models are wanted. */
export type OpenProjectModelsOptions = ModelMeansOptions;

/**
 * The models of a project, as {@linkcode modelMeans} reaches them. The file of `script/FILE` or `replay/FILE` is looked for in the working
 * folder, then in the project root. Whoever asks over HTTP, and a document that came with a project, may name one too: so it is in the
 * project, or where the flags let a run read, unless the user has named it himself.
 */
export function openProjectModels(options: OpenProjectModelsOptions): OpenModels {
  const { root, cwd, settings = NO_POLICY_FLAGS } = options;
  const policy = createPolicy(settings, { root, cwd, realPath });
  const own = [settings.ownModel, hostEnv("ORRERY_MODEL")?.trim()].map((name = "") => {
    const id = maybeModelId(name);
    return id && modelIdText(id);
  });
  const readText = async (file: string, kind: "script" | "replay"): Promise<string> => {
    const check = own.includes(`${kind}/${file}`) ? () => undefined : policy.check;
    return await readNear(file, { folders: [cwd, root], check });
  };
  return openModels({
    ...modelMeans(options),
    files: { readText: (file) => readText(file, "script") },
    replay: async (file) => {
      const { replayModel }: typeof import("./replay_model.ts") = await import("./replay_model.ts" as string);
      return replayModel(file, await readText(file, "replay"));
    },
  });
}

interface NearOptions {
  readonly folders: readonly string[];
  readonly check: Policy["check"];
}

async function readNear(
  path: string,
  { folders: [first = "", ...folders], check }: NearOptions,
): Promise<string> {
  try {
    check({ kind: "read", value: realPath(resolve(first, path)) });
    return await hostFiles({ root: first }).readText(path);
  } catch (error) {
    if (error instanceof PermissionRefused) {
      throw new FileError(error.message, { path, code: "denied", cause: error });
    }
    if (folders.length === 0 || !(error instanceof FileError) || error.code !== "not-found") throw error;
    return await readNear(path, { folders, check }).catch(() => Promise.reject(error));
  }
}
