// The texts of a step in which placeholders are filled.

import { isJsonObject, type Json } from "../core/json.ts";
import type { AgentPrompt, AgentStep, ExtractionSchema, RequestFields } from "../parse/agent/agent.ts";
import type { FilePath } from "../parse/shape/shape.ts";
import { flowsOf } from "../parse/agent/tree.ts";

/** A text of a step, and the way to it from the step. */
export interface StepText {
  readonly text: string;
  readonly path: FilePath;
  /** Whether `${env.NAME}` is filled too (conversations.md 3). */
  readonly hasEnv?: true;
}

/** All texts of a step, those of the steps inside it left out. */
export function stepTexts(step: AgentStep): readonly StepText[] {
  const gotos = flowsOf(step).flatMap(({ flow, path }) =>
    "goto" in flow ? [{ text: flow.goto, path: [...path, "goto"] }] : []
  );
  const prompts = "prompts" in step ? promptTexts(step.prompts, [step.kind, "prompts"]) : [];
  return [...prompts, ...ownTexts(step), ...gotos];
}

/** The texts inside a value of any kind. */
export function jsonTexts(value: Json | undefined, path: FilePath): readonly StepText[] {
  if (typeof value === "string") return [{ text: value, path }];
  if (value === undefined || value === null || typeof value !== "object") return [];
  if (isJsonObject(value)) {
    return Object.entries(value).flatMap(([key, item]) => jsonTexts(item, [...path, key]));
  }
  return value.flatMap((item, index) => jsonTexts(item, [...path, index]));
}

function ownTexts(step: AgentStep): readonly StepText[] {
  switch (step.kind) {
    case "message":
      return [{ text: step.message, path: ["message", "message"] }];
    case "llm":
      return jsonTexts(step.prompt?.args, ["llm", "args"]);
    case "set-slot":
      return step.values.flatMap(({ value }, index) =>
        jsonTexts(value, ["set-slot", "values", index, "value"])
      );
    case "api-call":
    case "sse-call":
      return requestTexts(step, [step.kind]);
    case "validator":
      return step.goals.flatMap(({ goal, examples }, index) => [
        { text: goal, path: ["validator", "goals", index, "goal"] },
        ...jsonTexts(examples, ["validator", "goals", index, "examples"]),
      ]);
    case "extractor":
      return step.values.flatMap((value, index) => schemaTexts(value, ["extractor", "values", index]));
    case "gadget":
    case "run":
      return jsonTexts(step.input, [step.kind, "input"]);
    case "chain":
    case "combined":
    case "flow":
    case "retriever":
    case "counter":
    case "summarizer":
      return [];
    default:
      return step satisfies never;
  }
}

const PROMPT_KEYS = { system: "system", user: "user", assistant: "a-i" } as const;

function promptTexts(prompts: readonly AgentPrompt[], path: FilePath): readonly StepText[] {
  return prompts.flatMap((prompt, index) =>
    prompt.role === "constant"
      ? []
      : [{ text: prompt.text, path: [...path, index, PROMPT_KEYS[prompt.role]] }]
  );
}

function requestTexts({ url, headers, body }: RequestFields, path: FilePath): readonly StepText[] {
  return [
    { text: url, path: [...path, "url"], hasEnv: true },
    ...headers.map(({ value }, index) => ({
      text: value,
      path: [...path, "headers", index, "value"],
      hasEnv: true as const,
    })),
    ...jsonTexts(body, [...path, "body"]),
  ];
}

function schemaTexts(schema: ExtractionSchema, path: FilePath): readonly StepText[] {
  const { description, examples, items, properties = {} } = schema;
  return [
    { text: description, path: [...path, "description"] },
    ...jsonTexts(examples, [...path, "examples"]),
    ...(items === undefined ? [] : schemaTexts(items, [...path, "items"])),
    ...Object.entries(properties).flatMap(([key, inner]) => schemaTexts(inner, [...path, "properties", key])),
  ];
}
