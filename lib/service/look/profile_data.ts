import type { AgentProfile } from "../../catalog/agent_profile.ts";
import { toJson } from "../../core/json.ts";
import { hiddenSecrets } from "../hidden_secrets.ts";
import { objectOf } from "./gadget_data.ts";
import type { ProfileJson } from "./look.ts";

/** A profile as plain data, without what may be secret. */
export function profileData(
  { name, model, systemPrompt, system, limits, modelArgs }: AgentProfile,
): ProfileJson {
  return {
    name,
    model,
    systemPrompt,
    system,
    limits: objectOf(limits),
    modelArgs: hiddenSecrets(toJson(modelArgs)),
  };
}
