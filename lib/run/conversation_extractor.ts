import { extractedValue } from "../conversation/extracted_value.ts";
import { extractionForm } from "../conversation/extraction_form.ts";
import { extractionNames } from "../conversation/extraction_names.ts";
import type { StepOutcome } from "../conversation/step_outcome.ts";
import type { StepOf } from "../parse/agent_file.ts";
import { objectForm } from "./answer_form.ts";
import { askJudge, formText } from "./conversation_judge.ts";
import type { StepWork } from "./conversation_work.ts";

/** Lets a model find values; what is found is kept, also where other values are missing. @throws {ConversationStepError} */
export async function performExtractor(work: StepWork<StepOf<"extractor">>): Promise<StepOutcome> {
  const { values, success, fail } = work.step;
  const schema = extractionForm(values, (text) => work.fill(text));
  const answer = await askJudge(work, {
    request: `Give the values that were said in the conversation above.\n\n${formText(schema)}`,
    form: objectForm(schema, (found) => ({ value: found })),
  });
  const names = extractionNames(values);
  let missing = 0;
  for (const [index, value] of values.entries()) {
    const name = names[index] ?? "";
    const read = extractedValue(value, Object.hasOwn(answer, name) ? answer[name] : undefined);
    if (typeof read === "string") missing++;
    else work.setSlot(value.target, read.found);
  }
  return { kind: "flow", flow: missing === 0 ? success : fail };
}
