// The tool calls of one answer to an @llm (documents.md 8). They run one after another; what goes wrong is told to the model as JSON.
import {
  type AnyGadget,
  type Json,
  type JsonObject,
  readArguments,
  type ToolCall,
  type ToolSpec,
} from "../../core/core.ts";
import type { Containers } from "../calls/container.ts";
import type { CallLimits } from "../calls/graph.ts";
import type { CallOutcome } from "../calls/step.ts";
import type { Run } from "../run.ts";
import { callOutcomes, markedAnswer } from "../turn/tool_round.ts";

/** What an @llm may call. */
export interface DocumentTools {
  readonly specs: readonly ToolSpec[];
  /** By name. */
  readonly gadgets: ReadonlyMap<string, AnyGadget>;
  readonly limits?: Pick<CallLimits, "timeoutMs" | "resultBytes">;
  /** Does what their calls contain. */
  readonly containers?: Containers;
}

/** A call that was answered. */
export interface ToolAnswer {
  readonly id: string;
  readonly name: string;
  /** What the model reads. */
  readonly text: string;
  /** Absent: it failed. */
  readonly result?: Json;
}

/** Answers the calls, in their order. @throws the signal's reason */
export async function runDocumentCalls(
  calls: readonly ToolCall[],
  options: {
    readonly run: Run;
    readonly signal: AbortSignal;
    readonly keyPrefix: string;
    readonly tools: DocumentTools;
  },
): Promise<readonly ToolAnswer[]> {
  const { tools } = options;
  const read = calls.map((call) => ({ id: call.id, name: call.name, ...readCall(call, tools) }));
  const limits = { ...tools.limits, concurrency: 1 };
  const outcomes = await callOutcomes(read, { ...options, ...tools, limits });
  return read.map((call) => {
    const { id, name } = call;
    const outcome = outcomes.get(id);
    if ("refusal" in call || outcome === undefined) {
      return { id, name, text: errorText("refusal" in call ? call.refusal : "") };
    }
    const text = markedAnswer({ gadget: tools.gadgets.get(name), outcome }, outcomeText(outcome));
    return { id, name, text, ...(outcome.status === "result" && { result: outcome.result }) };
  });
}

/** A call as it may run, or what the model is told instead (documents.md 8.3). */
function readCall(
  { name, arguments: text, cut }: ToolCall,
  { gadgets }: DocumentTools,
): { readonly parameters: JsonObject } | { readonly refusal: string } {
  if (cut !== undefined) return { refusal: cut };
  if (!gadgets.has(name)) return { refusal: `unknown tool "${name}"` };
  const read = readArguments(text);
  if ("json" in read) return { parameters: read.json };
  if (read.wrong === "number") return { refusal: read.message };
  return { refusal: `the arguments are not ${read.wrong === "kind" ? "a JSON object" : "valid JSON"}` };
}

function outcomeText(outcome: CallOutcome): string {
  switch (outcome.status) {
    case "result":
      return typeof outcome.result === "string" ? outcome.result : pretty(outcome.result);
    case "error":
      return errorText(outcome.failure.error);
    case "skip":
      return errorText(outcome.reason);
    default:
      return outcome satisfies never;
  }
}

function errorText(error: string): string {
  return pretty({ error });
}

function pretty(value: Json): string {
  return JSON.stringify(value, null, 2);
}
