import type { AgentStep, SlotPath } from "../parse/agent/agent.ts";
import type { FilePath } from "../parse/shape/shape.ts";
import { placeholdersIn } from "./fill_template.ts";
import { type StepText, stepTexts } from "./step_texts.ts";

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
