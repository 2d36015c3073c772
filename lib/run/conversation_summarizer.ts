import { slotText } from "../conversation/fill_template.ts";
import type { StepOutcome } from "../conversation/step_outcome.ts";
import type { SlotPath, StepOf } from "../parse/agent_file.ts";
import { textForm } from "./answer_form.ts";
import { askJudge } from "./conversation_judge.ts";
import type { StepWork } from "./conversation_work.ts";

const SUMMARY: SlotPath = { destination: "conversation", name: "summary" };

/** Lets a model summarize the conversation into the slot `summary`. @throws {ConversationStepError} */
export async function performSummarizer(work: StepWork<StepOf<"summarizer">>): Promise<StepOutcome> {
  const { type, skipPrefix } = work.step;
  const summary = await askJudge(work, {
    ...(skipPrefix ? {} : { request: "Write the summary of the conversation above." }),
    form: textForm,
  });
  const before = type === "append" ? slotText(work.slot(SUMMARY)) : "";
  work.setSlot(SUMMARY, before === "" ? summary : `${before}\n${summary}`);
  return { kind: "next" };
}
