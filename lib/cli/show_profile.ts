import type { AgentProfile } from "../catalog/agent_profile.ts";
import { toJson } from "../core/json.ts";
import { NO_POLICY_FLAGS } from "../policy/policy_settings.ts";
import type { PromptIndex } from "../project/prompt_index.ts";
import { runSecrets } from "../project/run_secrets.ts";
import { DEFAULT_LIMITS } from "../prompt/limits.ts";
import { printable } from "../render/shown_text.ts";
import { table } from "../render/table.ts";
import { EXIT } from "../service/exit_code.ts";
import { findProfile } from "../service/prompt/find.ts";
import { hiddenSecrets, profileData } from "../service/look/profiles.ts";
import { promptsHere } from "./prompts_here.ts";
import type { ShowOptions } from "./show_prompt.ts";

/** `orrery show profile NAME`: a profile of `orrery.yaml`, complete. */
export async function showProfile(name: string, { flags, terminal }: ShowOptions): Promise<number> {
  const { project, index } = await promptsHere({ flags, terminal });
  const profile = findProfile(name, index, { command: "show" });
  const { mask, maskJson } = runSecrets({ config: project.config, settings: NO_POLICY_FLAGS });
  await terminal.stdout.write(
    flags.json
      ? `${JSON.stringify(maskJson(profileData(profile)), null, 2)}\n`
      : mask(printable(profilePage(profile, index))),
  );
  return EXIT.ok;
}

function profilePage(profile: AgentProfile, index: PromptIndex): string {
  const { name, model, limits, modelArgs } = profile;
  const defaults = new Map<string, unknown>(Object.entries(DEFAULT_LIMITS));
  const rows = Object.entries(limits).map((
    [limit, value],
  ) => [limit, `${value}`, value === defaults.get(limit) ? "default" : ""]);
  const tactics = [...index.tactics.values()].filter(({ agents }) => agents.includes(name));
  const sections = [
    name,
    `Model: ${model}`,
    systemWords(profile, index),
    `Limits:\n${indented(table(rows))}`,
    Object.keys(modelArgs).length === 0
      ? ""
      : `Model arguments: ${JSON.stringify(hiddenSecrets(toJson(modelArgs)))}`,
    tactics.length === 0
      ? ""
      : `Tactics that it works for: ${tactics.map((tactic) => tactic.name).join(", ")}`,
  ];
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

function systemWords({ systemPrompt, system }: AgentProfile, { located }: PromptIndex): string {
  if (systemPrompt === null) return `System text:\n${indented((system ?? "").split("\n"))}`;
  const file = located.get(systemPrompt)?.claim.source.file;
  return `System prompt: ${systemPrompt}${file === undefined ? "" : `  (${file})`}`;
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}`.trimEnd()).join("\n");
}
