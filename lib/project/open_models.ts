import { FileError } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { openModels } from "../models/open_models.ts";
import type { OpenModels } from "../models/open_models.ts";
import { modelMeans } from "./model_means.ts";
import type { ModelMeansOptions } from "./model_means.ts";

/** Where the models are wanted. */
export type OpenProjectModelsOptions = ModelMeansOptions;

/**
 * The models of a project, as {@linkcode modelMeans} reaches them. The file of `script/FILE` is looked for in the working folder, then in
 * the project root.
 */
export function openProjectModels(options: OpenProjectModelsOptions): OpenModels {
  const { root, cwd } = options;
  return openModels({
    ...modelMeans(options),
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
