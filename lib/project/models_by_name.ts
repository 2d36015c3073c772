import type { Model } from "../core/model.ts";
import { findModel } from "./find_model.ts";
import { wantedModel } from "./project.ts";
import type { OpenProjectModelsOptions } from "./open_models.ts";

/** Finds each model once, since a script goes on where it was. Without a name it is that of the variable or of the settings. */
export function modelsByName(
  options: Omit<OpenProjectModelsOptions, "name">,
): (name: string | undefined) => Promise<Model> {
  const models = new Map<string | undefined, Promise<Model>>();
  return (given) => {
    const name = wantedModel(given);
    const model = models.get(name) ?? findModel({ ...options, name });
    models.set(name, model);
    return model;
  };
}
