// The step `gadget` (conversations.md 3): one call, with the machinery of all calls.
import type { StepOutcome } from "../../conversation/step_tree.ts";
import {
  type AnyGadget,
  didYouMeanNames,
  isJsonObject,
  type JsonObject,
  messageOf,
  orAborted,
  type ToolSpec,
} from "../../core/core.ts";
import type { StepBase, StepOf } from "../../parse/agent/agent.ts";
import type { CallOutcome } from "../calls/step.ts";
import { ConversationStepError, type StepWork } from "./work.ts";
import { notedTools, toolSpecOf } from "../turn/offered.ts";
import { callOutcomes } from "../turn/tool_round.ts";

type Work = StepWork<StepOf<"gadget">>;

/** Calls a gadget. @throws {ConversationStepError} where it fails and the step has no `fail` */
export async function performGadget(work: Work): Promise<StepOutcome> {
  const { name, target, success, fail } = work.step;
  const outcome = await call(work, inputOf(work));
  switch (outcome.status) {
    case "result":
      if (target !== undefined) work.setSlot(target, outcome.result);
      return success === undefined ? { kind: "next" } : { kind: "flow", flow: success };
    case "error": {
      const reason = `gadget "${name}": ${outcome.failure.error}`;
      const isKnown = outcome.failure.code !== "unverified"; // else nobody knows how it ended
      if (fail === undefined || !isKnown) throw new ConversationStepError(work.step.id, reason);
      work.warn(reason);
      return { kind: "flow", flow: fail };
    }
    case "skip":
      throw new ConversationStepError(work.step.id, `gadget "${name}": ${outcome.reason}`);
    default:
      return outcome satisfies never;
  }
}

function inputOf(work: Work): JsonObject {
  const { step } = work;
  const input = work.fillValue(step.input);
  if (isJsonObject(input)) return input;
  throw new ConversationStepError(
    step.id,
    `gadget "${step.name}" takes a mapping as its input, found ${JSON.stringify(input)}`,
  );
}

async function call(work: Work, parameters: JsonObject): Promise<CallOutcome> {
  const { run, means, step: { id, name }, key, signal } = work;
  const gadget = await gadgetOfStep(work, { name, what: "gadget" });
  const outcomes = await callOutcomes([{ id, name: gadget.name, parameters }], {
    run,
    signal,
    step: key,
    keyPrefix: `${key}/`,
    gadgets: new Map([[gadget.name, gadget]]),
    limits: means.calls,
  });
  const outcome = outcomes.get(id);
  if (outcome === undefined) throw new ConversationStepError(id, `gadget "${name}" gave no outcome`);
  return outcome;
}

// `llm.tools` (conversations.md 3): what the model of a step may call.

/** What a model is offered. */
export interface StepTools {
  readonly specs: readonly ToolSpec[];
  /** By name. */
  readonly gadgets: ReadonlyMap<string, AnyGadget>;
}

/** The gadgets and MCP tools of these names. @throws {ConversationStepError} for one that is not there or cannot be had */
export async function toolsOfStep(
  work: StepWork<StepBase>,
  names: readonly string[],
): Promise<StepTools> {
  const gadgets = new Map<string, AnyGadget>();
  for (const name of names) {
    const gadget = await gadgetOfStep(work, { name, what: "tool" });
    gadgets.set(gadget.name, gadget);
  }
  return { gadgets, specs: [...gadgets.values()].map(toolSpecOf) };
}

/** One gadget by name. @throws {ConversationStepError} */
async function gadgetOfStep(
  { run, means, step, key, signal }: StepWork<StepBase>,
  { name, what }: { readonly name: string; readonly what: "tool" | "gadget" },
): Promise<AnyGadget> {
  const tools = notedTools(run, { tools: means.tools, keyPrefix: `${key}/` });
  let gadget: AnyGadget | undefined;
  try {
    gadget = await orAborted(tools.find(name), signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new ConversationStepError(step.id, `${what} "${name}": ${messageOf(error)}`, { cause: error });
  }
  if (gadget !== undefined) return tools.around?.(gadget) ?? gadget;
  const similar = didYouMeanNames(name, await orAborted(tools.names(), signal));
  throw new ConversationStepError(step.id, `unknown ${what} "${name}"${similar}`);
}
