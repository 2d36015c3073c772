import { type SlotRead, slotsRead, slotsWritten, type SlotTarget } from "../conversation/step_slots.ts";
import { conditionText } from "../conversation/failing_condition.ts";
import type { AgentFile, AgentStep, StepFlow } from "../parse/agent/agent.ts";
import { flowsOf, stepPlaces } from "../parse/agent/tree.ts";

/** A step, in short. */
export interface OutlinedStep {
  readonly id: string;
  readonly kind: AgentStep["kind"];
  /** How many chains and combined steps it stands in. */
  readonly depth: number;
  /** From 1. */
  readonly line: number;
  readonly isHolding: boolean;
  /** `conversation.age greater-than 17` */
  readonly conditions: readonly string[];
  /** Where it goes on, by the key that says so: `flow`, `success`, `fail`. */
  readonly flows: Readonly<Record<string, string>>;
  /** `conversation.name` */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

/** What an agent consists of, its steps in the order of the file. */
export function agentOutline(agent: AgentFile): readonly OutlinedStep[] {
  return stepPlaces(agent.root).map(({ step, path }) => ({
    id: step.id,
    kind: step.kind,
    depth: (path.length - 2) / 2, // a key and a number for each
    line: step.span.line,
    isHolding: (step.kind === "message" || step.kind === "llm") && step.hold,
    conditions: step.conditions.map(conditionText),
    flows: Object.fromEntries(flowsOf(step).map(({ flow, path }) => [String(path.at(-1)), flowText(flow)])),
    reads: names(slotsRead(step), agent),
    writes: names(slotsWritten(step), agent),
  }));
}

/** `goto ask`, `repeat` */
function flowText(flow: StepFlow): string {
  return "goto" in flow ? `goto ${flow.goto}` : flow.action;
}

/** Each slot once; a placeholder that names a constant is none. */
function names(slots: readonly (SlotRead | SlotTarget)[], { constants }: AgentFile): readonly string[] {
  const own = slots.filter((slot) =>
    !("by" in slot && slot.by === "bare-placeholder" && Object.hasOwn(constants, slot.slot.name))
  );
  return [...new Set(own.map(({ slot }) => `${slot.destination}.${slot.name}`))];
}
