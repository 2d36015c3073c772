// What validators, extractors and summarizers have in common (conversations.md 2.7).
import { JUDGE_CONSTANTS, JUDGE_INSTRUCTIONS, type JudgeKind } from "../conversation/judge_texts.ts";
import type { JsonObject } from "../core/json.ts";
import type { Message } from "../core/message.ts";
import type { JudgeFields, StepBase } from "../parse/agent/agent.ts";
import type { AnswerForm } from "./answer_form.ts";
import { constantText } from "./conversation_prompts.ts";
import { askOfStep } from "./conversation_question.ts";
import type { StepWork } from "./conversation_work.ts";

type Work = StepWork<StepBase & JudgeFields & { readonly kind: JudgeKind }>;

/** Asks a model to judge the conversation. @throws {ConversationStepError} */
export async function askJudge<Value>(
  work: Work,
  { request, form }: {
    /** What is wanted, behind the conversation. Default: nothing. */
    readonly request?: string;
    readonly form: AnswerForm<Value>;
  },
): Promise<Value> {
  const { kind, skipPrefix } = work.step;
  const prefix = constantText(work, JUDGE_CONSTANTS[kind].prefix) ?? JUDGE_INSTRUCTIONS[kind];
  const { value } = await askOfStep(work, {
    kind,
    before: skipPrefix ? [] : [{ role: "system", content: prefix }],
    behind: request === undefined ? [] : [userMessage(request)],
    memory: [{ selector: "all" }],
    temperature: temperatureOf(work),
    form,
  });
  return value;
}

/** The end of a request for an answer of a form: not every provider takes a schema. */
export function formText(schema: JsonObject): string {
  return `Answer with one JSON object and nothing else. It fits this JSON Schema:\n${JSON.stringify(schema)}`;
}

/** Where the step has none. */
function temperatureOf(work: Work): number {
  const name = JUDGE_CONSTANTS[work.step.kind].temperature;
  const written = constantText(work, name);
  if (written === undefined || work.step.temperature !== undefined) return 0;
  const temperature = written.trim() === "" ? NaN : Number(written);
  if (temperature >= 0 && temperature <= 2) return temperature;
  work.warn(`constant "${name}" must be a number from 0 to 2; 0 is taken`);
  return 0;
}

function userMessage(content: string): Message {
  return { role: "user", content };
}
