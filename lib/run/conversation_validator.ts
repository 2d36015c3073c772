import type { StepOutcome } from "../conversation/step_outcome.ts";
import { readVerdicts, verdictForm } from "../conversation/verdicts.ts";
import type { Verdict } from "../conversation/verdicts.ts";
import type { ConversationGoal, StepOf } from "../parse/agent_file.ts";
import { objectForm } from "./answer_form.ts";
import { askJudge, formText } from "./conversation_judge.ts";
import { ConversationStepError } from "./conversation_work.ts";
import type { StepWork } from "./conversation_work.ts";

type Work = StepWork<StepOf<"validator">>;

/** Lets a model judge the goals; a goal without a verdict is an error and never a silent fail. @throws {ConversationStepError} */
export async function performValidator(work: Work): Promise<StepOutcome> {
  const { goals, type, success, fail } = work.step;
  const schema = verdictForm(goals);
  const verdicts = await askJudge(work, {
    request: requestOf(work, formText(schema)),
    form: objectForm(schema, (answer) => readVerdicts(goals, answer)),
  });
  const decisions = goals.map((goal) => [goal, verdictOf(work, verdicts.get(goal.name), goal)] as const);
  for (const [{ name }, { decision, explanation }] of decisions) {
    work.setSlot({ destination: "conversation", name }, decision);
    if (explanation === undefined) continue;
    work.setSlot({ destination: "conversation", name: `${name}_explanation` }, explanation);
  }
  const reached = decisions.filter(([, { decision }]) => decision).length;
  const isSuccess = type === "all" ? reached === goals.length : reached > 0;
  return { kind: "flow", flow: isSuccess ? success : fail };
}

function verdictOf({ step }: Work, verdict: Verdict | undefined, { name }: ConversationGoal): Verdict {
  if (verdict !== undefined) return verdict;
  throw new ConversationStepError(step.id, `the model gave no verdict for goal "${name}"`);
}

function requestOf(work: Work, form: string): string {
  const goals = work.step.goals.map(({ name, goal, examples }) => {
    const lines = examples.map((example) => `\n  - ${work.fill(example)}`);
    return `- ${name}: ${work.fill(goal)}${lines.length === 0 ? "" : `\n  Examples:${lines.join("")}`}`;
  });
  return `Judge the conversation above by these goals, each for itself:\n${goals.join("\n")}\n\n${form}`;
}
