import type { Message } from "../core/message.ts";
import type { ModelRequest } from "../core/model.ts";
import type { MemorySelection, ModelFields, StepBase } from "../parse/agent_file.ts";
import type { AnswerForm } from "./answer_form.ts";
import { modelOfStep } from "./conversation_model.ts";
import { promptMessages } from "./conversation_prompts.ts";
import type { StepTools } from "./conversation_tools.ts";
import { QuestionTurn } from "./conversation_turn.ts";
import type { TurnAnswer } from "./conversation_turn.ts";
import { ConversationStepError } from "./conversation_work.ts";
import type { AskedModel, StepWork } from "./conversation_work.ts";
import { runTurn } from "./turn.ts";

/** What a step asks besides what its fields say. */
export interface StepQuestion<Value> {
  readonly kind: AskedModel["kind"];
  /** Before the prompts. Default: nothing. */
  readonly before?: readonly Message[];
  /** Behind the memory. Default: nothing. */
  readonly behind?: readonly Message[];
  /** Where the step selects nothing. */
  readonly memory: readonly MemorySelection[];
  /** Where the step has none. Default: the provider's. */
  readonly temperature?: number;
  readonly form: AnswerForm<Value>;
  readonly tools?: StepTools;
  /** Default false. */
  readonly isSpoken?: boolean;
}

/** Asks the model of a step. @throws {ConversationStepError}; {BudgetError}; {DivergedError}; the reason of the signal */
export async function askOfStep<Value>(
  work: StepWork<StepBase & ModelFields>,
  question: StepQuestion<Value>,
): Promise<TurnAnswer<Value>> {
  const { run, means, step, key, signal } = work;
  const { kind, before = [], behind = [], form, tools, isSpoken = false } = question;
  const prompts = promptMessages(work, step.prompts);
  const selections = step.memory ?? question.memory;
  const memory = selections.length === 0 ? [] : work.memory(selections, step.memoryLimit);
  const messages = [...before, ...prompts, ...memory, ...behind];
  if (messages.length === 0) {
    throw new ConversationStepError(
      step.id,
      "there is nothing to send to the model: no prompts, and no memory yet",
    );
  }
  const model = await modelOfStep(work, { step: step.id, kind, prompts, memory, schema: form.schema });
  const turn = new QuestionTurn({
    work,
    model,
    messages,
    sampling: samplingOf(step, question.temperature),
    form,
    isSpoken,
    tools,
  });
  return await runTurn(turn, { run, budget: means.budget, signal, place: `${key}/` });
}

function samplingOf(
  step: Pick<ModelFields, "temperature" | "effort">,
  otherwise: number | undefined,
): Pick<ModelRequest, "temperature" | "args"> {
  const temperature = step.temperature ?? otherwise;
  return {
    ...(temperature === undefined ? {} : { temperature }),
    args: step.effort && { reasoningEffort: step.effort },
  };
}
