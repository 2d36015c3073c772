// The step `llm` (conversations.md 2.8, 3). Text is said and stored; an answer of a form is a value, for the slot: only where there is none
// it is said, as JSON.
import type { StepOutcome } from "../conversation/step_outcome.ts";
import { isJsonObject, type Json, type JsonObject } from "../core/json.ts";
import type { Message } from "../core/message.ts";
import { messageOf } from "../core/source_error.ts";
import type { LlmFields, StepOf } from "../parse/agent/agent.ts";
import { type AnswerForm, schemaForm, textForm } from "./answer_form.ts";
import { askOfStep } from "./conversation_question.ts";
import { toolsOfStep } from "./conversation_tools.ts";
import { ConversationStepError, type StepWork } from "./conversation_work.ts";

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
  const value = await work.means.askPrompt(path, { args: isJsonObject(filled) ? filled : {}, work });
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
