// `llm.tools` (conversations.md 3): what the model of a step may call.
import { didYouMeanNames } from "../core/did_you_mean_names.ts";
import type { AnyGadget } from "../core/gadget.ts";
import type { ToolSpec } from "../core/model.ts";
import { messageOf } from "../core/source_error.ts";
import type { StepBase } from "../parse/agent/agent.ts";
import { ConversationStepError, type StepWork } from "./conversation_work.ts";
import { notedTools } from "./noted_tools.ts";
import { orAborted } from "./or_aborted.ts";
import { toolSpecOf } from "./tool_spec.ts";

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
export async function gadgetOfStep(
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
