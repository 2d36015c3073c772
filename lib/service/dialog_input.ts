import type { JsonSchema } from "../core/gadget.ts";
import { isJsonObject, toJson } from "../core/json.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Markers } from "../parse/call_header.ts";
import type { Budget } from "../run/budget.ts";
import type { CallLimits } from "../run/call_graph.ts";
import { limitsFrom, markersFrom } from "./kept_limits.ts";

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
  const input: JsonObject = isJsonObject(kept) ? kept : {};
  const { text, model, modelId, contextTokens, system, tools, schema, temperature } = input;
  return {
    ...(typeof text === "string" && { text }),
    model: String(model),
    modelId: String(modelId ?? model),
    ...(typeof contextTokens === "number" && { contextTokens }),
    ...(typeof system === "string" && { system }),
    tools: Array.isArray(tools) ? tools.map(String) : [],
    toolsMode: input.toolsMode === "native" ? "native" : "blocks",
    ...(schema !== undefined && isJsonObject(schema) && { schema }),
    ...(typeof temperature === "number" && { temperature }),
    budget: budgetFrom(input.budget),
    markers: markersFrom(input.markers),
    limits: limitsFrom(input.limits),
    rounds: typeof input.rounds === "number" ? input.rounds : 10,
    contractRetries: typeof input.contractRetries === "number" ? input.contractRetries : 3,
  };
}

/** A budget that was kept. */
export function budgetFrom(kept: Json | undefined): Budget {
  const { turns, tokens, cost, timeMs } = kept !== undefined && isJsonObject(kept) ? kept : {};
  return {
    ...(typeof turns === "number" && { turns }),
    ...(typeof tokens === "number" && { tokens }),
    ...(typeof cost === "number" && { cost }),
    ...(typeof timeMs === "number" && { timeMs }),
  };
}
