import type { StepOutcome } from "../conversation/step_outcome.ts";
import type { StepOf } from "../parse/agent_file.ts";
import type { StepWork } from "./conversation_work.ts";

/** Runs a document or a prompt as a part of the run; what it returns goes to the slot (conversations.md 3). @throws what is wrong with it */
export async function performRunFile(work: StepWork<StepOf<"run">>): Promise<StepOutcome> {
  const { run, means, step, key, signal } = work;
  const input = step.input === undefined ? {} : { input: work.fillValue(step.input) };
  const value = await means.runFile(step.file, { run, keyPrefix: `${key}/`, signal, ...input });
  if (step.target !== undefined) work.setSlot(step.target, value);
  return { kind: "next" };
}
