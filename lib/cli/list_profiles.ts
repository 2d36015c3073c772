import type { AgentProfile } from "../catalog/agent_profile.ts";
import type { Json } from "../core/json.ts";
import type { Terminal } from "../host/terminal.ts";
import type { PromptIndex } from "../project/prompt_index.ts";
import { DEFAULT_LIMITS } from "../prompt/limits.ts";
import { shown } from "../schema/issue.ts";
import { EXIT } from "../service/exit_code.ts";
import { profileData } from "../service/look/profile_data.ts";
import { isTypable, problemLines, tableText } from "./list_prompts.ts";
import type { ListLook } from "./list_prompts.ts";

/** `orrery list profiles`: the agents of `orrery.yaml` (prompts.md 10). */
export async function listProfiles(index: PromptIndex, look: ListLook, terminal: Terminal): Promise<number> {
  if (look.names) await terminal.stdout.write(profileNames(index).map((name) => `${name}\n`).join(""));
  else if (look.json) await terminal.stdout.write(`${JSON.stringify(profilesJson(index), null, 2)}\n`);
  else {
    await terminal.stdout.write(profileTable(index));
    const isNothing = index.profiles.size + index.problemsOf.profiles.length === 0;
    await terminal.stderr.write(isNothing ? `${NOTHING}\n` : problemLines(index.problemsOf.profiles, index));
  }
  return EXIT.ok;
}

const NOTHING =
  "The project has no profiles: they are the entries of agents: in orrery.yaml, each with name, model, and systemPrompt " +
  "or system";

/** What can be typed behind `--profile`. */
export function profileNames({ profiles }: PromptIndex): readonly string[] {
  return [...profiles.keys()].filter(isTypable);
}

/** The same as plain data. */
export function profilesJson({ profiles, problemsOf }: PromptIndex): { readonly [name: string]: Json } {
  return {
    profiles: [...profiles.values()].map(profileData),
    problems: problemsOf.profiles.map(({ file, line, message }) => ({ file, line, message })),
  };
}

/** Empty where there is nothing. */
export function profileTable({ profiles }: PromptIndex): string {
  return tableText(
    ["PROFILE", "MODEL", "SYSTEM", "LIMITS"],
    [...profiles.values()].map(({ name, model, systemPrompt, system, limits }) => [
      name,
      model,
      systemPrompt ?? shown(system),
      changedLimits(limits),
    ]),
  );
}

function changedLimits(limits: AgentProfile["limits"]): string {
  const defaults = new Map<string, unknown>(Object.entries(DEFAULT_LIMITS));
  const changed = Object.entries(limits).filter(([name, value]) => value !== defaults.get(name));
  return changed.length === 0 ? "default" : changed.map((limit) => limit.join(" ")).join(", ");
}
