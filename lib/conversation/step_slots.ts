import { isJsonObject, type Json } from "../core/core.ts";
import type {
  AgentPrompt,
  AgentStep,
  ExtractionSchema,
  RequestFields,
  SlotPath,
} from "../parse/agent/agent.ts";
import { flowsOf } from "../parse/agent/tree.ts";
import type { FilePath } from "../parse/shape/shape.ts";
import { placeholdersIn } from "./fill_template.ts";

/** A slot that a step looks at. */
export interface SlotRead {
  readonly slot: SlotPath;
  /** The way to what names it, from the step. */
  readonly path: FilePath;
  /** What names it. A bare placeholder has no destination, so that a constant may be meant. */
  readonly by: "condition" | "query" | "placeholder" | "bare-placeholder";
}

/** A slot that a step writes. */
export interface SlotTarget {
  readonly slot: SlotPath;
  /** The way to what names it, from the step. */
  readonly path: FilePath;
  /** Whether it is written each time that the step is done. */
  readonly isSure: boolean;
}

/** The slots that a step looks at, those of its conditions first; what a counter or a summary adds to is written only. */
export function slotsRead(step: AgentStep): readonly SlotRead[] {
  const asked: readonly SlotRead[] = step.conditions.map(({ slot }, index) => ({
    slot,
    path: ["conditions", index],
    by: "condition",
  }));
  const query: readonly SlotRead[] = step.kind === "retriever"
    ? [{ slot: step.query, path: ["retriever", "query"], by: "query" }]
    : [];
  return [...asked, ...query, ...stepTexts(step).flatMap(slotsInText)];
}

/** The slots that the placeholders of a text name. */
export function slotsInText({ text, path }: StepText): readonly SlotRead[] {
  return placeholdersIn(text).map(({ destination, name }) => ({
    slot: { destination: destination ?? "conversation", name },
    path,
    by: destination === undefined ? "bare-placeholder" : "placeholder",
  }));
}

/** The slots that a step writes, those of the steps inside it left out. */
export function slotsWritten(step: AgentStep): readonly SlotTarget[] {
  switch (step.kind) {
    case "set-slot":
      return step.values.map(({ path: slot }, index) => sure(slot, ["set-slot", "values", index, "path"]));
    case "counter":
      return [sure(step.slot, ["counter", "slot"])];
    case "summarizer":
      return [sure({ destination: "conversation", name: "summary" }, ["summarizer"])];
    case "validator":
      return step.goals.flatMap(({ name }, index) =>
        [name, `${name}_explanation`].map((each) =>
          sure({ destination: "conversation", name: each }, ["validator", "goals", index, "name"])
        )
      );
    case "extractor":
      return step.values.map(({ target }, index) => ({
        slot: target,
        path: ["extractor", "values", index, "target", "slot"],
        isSure: false,
      }));
    case "llm":
    case "sse-call":
      return step.store === undefined ? [] : [sure(step.store, [step.kind, "store", "slot"])];
    case "retriever":
      return [sure(step.target, ["retriever", "target", "slot"])];
    case "api-call":
    case "gadget":
    case "run":
      return step.target === undefined
        ? []
        : [{ slot: step.target, path: [step.kind, "target", "slot"], isSure: step.kind === "run" }];
    case "message":
    case "chain":
    case "combined":
    case "flow":
      return [];
    default:
      return step satisfies never;
  }
}

function sure(slot: SlotPath, path: FilePath): SlotTarget {
  return { slot, path, isSure: true };
}

// The texts of a step in which placeholders are filled.

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
