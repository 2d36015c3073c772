import type { Models } from "../core/model.ts";
import { workingFolder } from "../host/paths.ts";
import { NO_POLICY_FLAGS } from "../policy/policy_settings.ts";
import { openProjectModels } from "./open_models.ts";
import { openSettings } from "./project.ts";

/** The models of the project that the working folder is in, for a program that wants this one. */
export async function hereModels(name: string): Promise<Models> {
  const cwd = workingFolder();
  const project = await openSettings(cwd, { cwd });
  return openProjectModels({
    ...project,
    cwd,
    isAccepted: false,
    name,
    settings: { ...NO_POLICY_FLAGS, ownModel: name },
  });
}
