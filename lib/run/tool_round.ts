// The calls of one answer of an agent's model (prompts.md 9.3). What cannot run is answered too: every failure is a text that the model
// reads, and the calls that are left run at once.
import type { Catalog } from "../core/catalog.ts";
import type { AnyGadget, GadgetContext } from "../core/gadget.ts";
import { isJsonObject, type Json, type JsonObject, toJson } from "../core/json.ts";
import type { ToolCall } from "../core/message.ts";
import { display } from "../prompt/value_text.ts";
import { CallGraph, type CallLimits } from "./call_graph.ts";
import type { AgentCall } from "./call_state.ts";
import type { CallOutcome } from "./call_step.ts";
import { type CallMemory, lookAtCall, type LookedCall, type RunnableCall } from "./look_at_call.ts";
import type { Run } from "./run.ts";
import { toldResult } from "./told_result.ts";
import { markedAnswer, markedText } from "./tool_results.ts";

/** What a round needs. */
export interface ToolRoundOptions {
  readonly run: Run;
  readonly signal: AbortSignal;
  readonly keyPrefix: string;
  /** What the model was offered, by name. */
  readonly tools: ReadonlyMap<string, AnyGadget>;
  /** How many run at once. */
  readonly parallel: number;
  readonly memory: CallMemory;
  readonly given: Pick<GadgetContext, "deps" | "dialog">;
  readonly bounds?: CallBounds;
}

/** Bounds of each call. */
export type CallBounds = Pick<CallLimits, "timeoutMs" | "resultBytes">;

/** Answers the calls, in their order. @throws the signal's reason */
export async function runToolRound(
  calls: readonly ToolCall[],
  options: ToolRoundOptions,
): Promise<readonly AgentCall[]> {
  const { run, memory, signal, keyPrefix } = options;
  const looked: LookedCall[] = [];
  const written = new Set<string>();
  for (const call of calls) looked.push(await lookAtCall(call, { ...options, written }));
  const outcomes = await perform(looked, options);
  signal.throwIfAborted();
  for (const one of looked) {
    const outcome = outcomes.get(one.call.id);
    if (one.gadget === undefined || outcome === undefined) continue;
    await settle(one, { outcome, run, keyPrefix });
    if (one.call.error === undefined) memory.add(one.identity);
  }
  return looked.map(({ call }) => maskedCall(call, run));
}

async function perform(
  looked: readonly LookedCall[],
  { run, signal, keyPrefix, parallel, given, bounds }: ToolRoundOptions,
): Promise<ReadonlyMap<string, CallOutcome>> {
  const graph = new CallGraph({
    run,
    signal,
    keyPrefix,
    step: `${keyPrefix}model`,
    catalog: catalogOf(gadgetsOf(looked)),
    limits: { ...bounds, concurrency: parallel },
    given,
    isLiteral: true,
  });
  for (const one of looked) {
    const { id: invocationId, name: gadgetName } = one.call;
    const header = { invocationId, gadgetName, dependencies: [], line: 0 };
    graph.open(header);
    if (one.gadget !== undefined) await graph.add({ ...header, parameters: keptInput(one) });
    else graph.refuse(header, one.call.error ?? one.call.text ?? "");
  }
  await graph.close();
  return new Map([...graph.outcomes()].map(({ call, outcome }) => [call.invocationId, outcome]));
}

/** What the journal has of the input: that, or what it was made from when it is no JSON. */
function keptInput({ input, parameters }: RunnableCall): JsonObject {
  try {
    const json = toJson(input);
    return isJsonObject(json) ? json : parameters;
  } catch {
    return parameters;
  }
}

/** The gadgets by name. Their input is checked already, and what a Standard Schema gives need not be what it takes. */
function gadgetsOf(looked: readonly LookedCall[]): ReadonlyMap<string, AnyGadget> {
  const inputs = new Map<string, unknown>();
  const gadgets = new Map<string, AnyGadget>();
  for (const one of looked) {
    if (one.gadget === undefined) continue;
    inputs.set(one.call.id, one.input);
    gadgets.set(one.gadget.name, withInputs(one.gadget, inputs));
  }
  return gadgets;
}

function withInputs(gadget: AnyGadget, inputs: ReadonlyMap<string, unknown>): AnyGadget {
  const { input: _checked, ...rest } = gadget;
  const run: unknown = gadget.run;
  return {
    ...rest,
    run: (_kept, context) =>
      typeof run === "function"
        ? Reflect.apply(run, gadget, [inputs.get(context.invocationId), context])
        : undefined,
  };
}

/** Gadgets that are there already, by name. */
export function catalogOf(gadgets: ReadonlyMap<string, AnyGadget>): Catalog {
  return {
    entries: [],
    maybeFind(name) {
      const gadget = gadgets.get(name);
      return gadget && { name, source: { kind: "code" }, state: "ready", load: () => gadget };
    },
  };
}

/** The text of a result, a schema or an error is the gadget's own: it may hold anything. */
function maskedCall(call: AgentCall, run: Run): AgentCall {
  if (call.text !== undefined) call.text = run.mask(call.text);
  if (call.error !== undefined) call.error = run.mask(call.error);
  return call;
}

async function settle(
  { call, gadget, parameters }: RunnableCall,
  { outcome, run, keyPrefix }: {
    readonly outcome: CallOutcome;
    readonly run: Run;
    readonly keyPrefix: string;
  },
): Promise<void> {
  if (outcome.status !== "result") {
    call.error = outcome.status === "error" ? outcome.failure.error : outcome.reason;
    call.text = markedAnswer({ gadget, outcome }, `Error: ${call.error}`);
    return;
  }
  call.result = outcome.result;
  const told = gadget.format === undefined
    ? { text: plainText({ call, parameters, result: outcome.result }) }
    : await toldResult(run, {
      key: `${keyPrefix}text:${call.id}`,
      gadget,
      call: { gadgetName: call.name, invocationId: call.id, parameters },
      result: outcome.result,
    });
  if ("error" in told) call.error = told.error;
  call.text = markedText(gadget, "error" in told ? `Error: ${told.error}` : told.text);
}

interface Answered {
  readonly call: AgentCall;
  readonly parameters: JsonObject;
  readonly result: Json;
}

function plainText({ call, parameters, result }: Answered): string {
  const written = JSON.stringify(parameters);
  return `Return of calling function ${call.name} with arguments ${written}:\n---\n${display(result)}\n---`;
}
