import type { JsonSchema } from "../core/gadget.ts";
import { type Json, toJson } from "../core/json.ts";
import type { Markers } from "../parse/calls/header.ts";
import type { Budget } from "../run/budget.ts";
import type { CallLimits } from "../run/call_graph.ts";
import { budgetFrom, limitsFrom, markersFrom, numberFrom, objectFrom, textFrom } from "./kept_input.ts";

/** What a question or a conversation is made of: kept with the run, so that a resumed one is the same. */
export interface DialogInput {
  /** The question; absent for a conversation. */
  readonly text?: string;
  /** As it was named: an alias keeps its fallbacks. */
  readonly model: string;
  /** What that was when the run began. */
  readonly modelId: string;
  /** Of that model's window; absent when not known. */
  readonly contextTokens?: number;
  readonly system?: string;
  readonly tools: readonly string[];
  readonly toolsMode: "blocks" | "native";
  readonly schema?: JsonSchema;
  readonly temperature?: number;
  readonly budget: Budget;
  readonly markers: Markers;
  readonly limits: CallLimits;
  /** How many answers may call gadgets. */
  readonly rounds: number;
  readonly contractRetries: number;
}

/** As a run keeps it. */
export function dialogJson(input: DialogInput): Json {
  return toJson(input);
}

/** What a run has kept. */
export function dialogInput(kept: Json): DialogInput {
  const input = objectFrom(kept);
  const { model, tools, schema } = input;
  return {
    text: textFrom(input.text),
    model: String(model),
    modelId: String(input.modelId ?? model),
    contextTokens: numberFrom(input.contextTokens),
    system: textFrom(input.system),
    tools: Array.isArray(tools) ? tools.map(String) : [],
    toolsMode: input.toolsMode === "native" ? "native" : "blocks",
    schema: schema === undefined ? undefined : objectFrom(schema),
    temperature: numberFrom(input.temperature),
    budget: budgetFrom(input.budget),
    markers: markersFrom(input.markers),
    limits: limitsFrom(input.limits),
    rounds: numberFrom(input.rounds) ?? 10,
    contractRetries: numberFrom(input.contractRetries) ?? 3,
  };
}
