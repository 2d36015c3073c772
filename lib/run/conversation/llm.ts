// The step `llm` (conversations.md 2.8, 3). Text is said and stored; an answer of a form is a value, for the slot: only where there is none
// it is said, as JSON.
import type { StepOutcome } from "../../conversation/step_tree.ts";
import { JUDGE_CONSTANTS, JUDGE_INSTRUCTIONS, type JudgeKind } from "../../conversation/verdicts.ts";
import { type Json, type JsonObject, type Message, messageOf, objectOrEmpty } from "../../core/core.ts";
import type { JudgeFields, LlmFields, StepBase, StepOf } from "../../parse/agent/agent.ts";
import { toolsOfStep } from "./gadget.ts";
import { askOfStep, constantText } from "./question.ts";
import { ConversationStepError, type StepWork } from "./work.ts";
import { type AnswerForm, schemaForm, textForm } from "../turn/answer_contract.ts";

type Work = StepWork<StepOf<"llm">>;

/** Asks a model, or a prompt, and says what it answered. @throws {ConversationStepError}; what the prompt throws */
export async function performLlmStep(work: Work): Promise<StepOutcome> {
  const { step } = work;
  const { text, value } = step.prompt === undefined ? await ask(work) : await askPrompt(work, step.prompt);
  if (typeof value === "string" || step.store === undefined) work.say(text);
  if (step.store !== undefined) work.setSlot(step.store, value);
  return { kind: "next", isHeld: step.hold };
}

interface Answer {
  readonly text: string;
  readonly value: Json;
}

async function ask(work: Work): Promise<Answer> {
  const { schema, tools } = work.step;
  const form = formOf(work);
  const { text, value } = await askOfStep(work, {
    kind: "llm",
    before: schema === undefined ? [] : [formMessage(schema)],
    memory: [],
    form,
    isSpoken: schema === undefined,
    ...(tools === undefined ? {} : { tools: await toolsOfStep(work, tools) }),
  });
  return { text: typeof value === "string" ? value : text, value };
}

async function askPrompt(work: Work, { path, args }: NonNullable<LlmFields["prompt"]>): Promise<Answer> {
  const filled = work.fillValue(args);
  const value = await work.means.askPrompt(path, { args: objectOrEmpty(filled), work });
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.trim() === "") throw new ConversationStepError(work.step.id, "the model gave an empty answer");
  return { text, value };
}

function formOf({ step }: Work): AnswerForm<Json> {
  if (step.schema === undefined) return textForm;
  try {
    return schemaForm(step.schema);
  } catch (cause) {
    throw new ConversationStepError(step.id, messageOf(cause), { cause });
  }
}

/** Not every provider takes a schema. */
function formMessage(schema: JsonObject): Message {
  const content = `Your answer is one JSON value that fits this JSON Schema, and nothing else:\n${
    JSON.stringify(schema)
  }`;
  return { role: "system", content };
}

// What validators, extractors and summarizers have in common (conversations.md 2.7).

type JudgeWork = StepWork<StepBase & JudgeFields & { readonly kind: JudgeKind }>;

/** Asks a model to judge the conversation. @throws {ConversationStepError} */
export async function askJudge<Value>(
  work: JudgeWork,
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
function temperatureOf(work: JudgeWork): number {
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
