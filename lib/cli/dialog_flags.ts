import type { Model } from "../core/model.ts";
import { limitsOf, type ProjectSettings } from "../project/project.ts";
import type { DialogInput } from "../service/start/dialog.ts";
import { budgetWithin } from "../service/input/budget.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";

/** The flags that `ask` and `chat` share. */
export type DialogFlags = Pick<
  ParsedCommand<typeof COMMANDS.ask>["flags"],
  "model" | "tools" | "system" | "tools-mode" | "budget" | "temperature" | "concurrency" | "timeout"
>;

/** What the flags and the settings say of a dialog. */
export function inputOf(
  flags: DialogFlags,
  { project, budget, name, model }: {
    readonly project: ProjectSettings;
    readonly budget: DialogInput["budget"];
    readonly name: string | undefined;
    readonly model: Model;
  },
): Omit<DialogInput, "text" | "schema" | "tools"> {
  const { limits, calls, toolsMode } = project.config;
  const mode = flags["tools-mode"] ?? toolsMode;
  return {
    model: name ?? model.id,
    modelId: model.id,
    contextTokens: model.contextTokens,
    toolsMode: mode === "native" ? "native" : "blocks",
    system: flags.system,
    temperature: flags.temperature,
    budget: budgetWithin(limits, budget),
    markers: calls.markers,
    limits: limitsOf(project, flags),
    rounds: limits.turns,
    contractRetries: limits.retries,
  };
}
