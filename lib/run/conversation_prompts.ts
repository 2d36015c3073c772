import { slotText } from "../conversation/fill_template.ts";
import type { Message } from "../core/message.ts";
import type { AgentPrompt, StepBase } from "../parse/agent/agent.ts";
import type { StepWork } from "./conversation_work.ts";

/** The prompts of a step as messages, filled (conversations.md 2.7). A constant that is not there gives none, with a warning. */
export function promptMessages(
  work: StepWork<StepBase>,
  prompts: readonly AgentPrompt[],
): readonly Message[] {
  return prompts.flatMap((prompt): readonly Message[] => {
    if (prompt.role !== "constant") return [{ role: prompt.role, content: work.fill(prompt.text) }];
    const content = constantText(work, prompt.name);
    if (content !== undefined) return [{ role: "system", content }];
    work.warn(`there is no constant "${prompt.name}"; its prompt is left out`);
    return [];
  });
}

/** A constant as text, filled; undefined when there is none of that name. */
export function constantText(work: StepWork<StepBase>, name: string): string | undefined {
  const { constants } = work;
  return Object.hasOwn(constants, name) ? work.fill(slotText(constants[name])) : undefined;
}
