// The step `gadget` (conversations.md 3): one call, with the machinery of all calls.
import type { StepOutcome } from "../conversation/step_outcome.ts";
import { isJsonObject, type JsonObject } from "../core/json.ts";
import type { StepOf } from "../parse/agent/agent.ts";
import { CallGraph } from "./call_graph.ts";
import type { CallOutcome } from "./call_step.ts";
import { gadgetOfStep } from "./conversation_tools.ts";
import { ConversationStepError, type StepWork } from "./conversation_work.ts";
import { catalogOf } from "./tool_round.ts";

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
  const { run, means, step, key, signal } = work;
  const gadget = await gadgetOfStep(work, { name: step.name, what: "gadget" });
  const header = { invocationId: step.id, gadgetName: gadget.name, dependencies: [], line: 0 };
  const graph = new CallGraph({
    run,
    signal,
    step: key,
    keyPrefix: `${key}/`,
    catalog: catalogOf(new Map([[gadget.name, gadget]])),
    limits: means.calls,
    isLiteral: true,
  });
  graph.open(header);
  await graph.add({ ...header, parameters });
  await graph.close();
  signal.throwIfAborted();
  const [ended] = graph.outcomes();
  if (ended === undefined) throw new ConversationStepError(step.id, `gadget "${step.name}" gave no outcome`);
  return ended.outcome;
}
