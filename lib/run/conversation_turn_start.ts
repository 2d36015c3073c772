import { isJsonObject, toJson } from "../core/json.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { StepOutcome } from "../core/journal.ts";
import { slotPath } from "../conversation/slots.ts";
import type { SlotValue } from "../conversation/slots.ts";

/** What a turn begins with: everything that it takes from outside, so that it can be made again. */
export interface TurnStart {
  /** What the person said. Absent: nothing, the conversation begins or the step that failed is tried again. */
  readonly text?: string;
  /** The slots of this person by then. */
  readonly slots: { readonly session: JsonObject; readonly module: JsonObject; readonly global: JsonObject };
  /** Of the first turn: the conversation's own slots. */
  readonly preloaded?: JsonObject;
  /** Of the first turn: slots that whoever began it has set. */
  readonly given?: readonly SlotValue[];
  /** SHA-256 of the agent file that is run. */
  readonly hash: string;
}

/** As the journal keeps it. */
export function turnStartJson(start: TurnStart): Json {
  return toJson(start);
}

/** The same, read back. */
export function readTurnStart(outcome: StepOutcome): TurnStart {
  const kept = "ok" in outcome && isJsonObject(outcome.ok) ? outcome.ok : {};
  const { session, module, global } = object(kept.slots);
  const given: readonly Json[] = Array.isArray(kept.given) ? kept.given : [];
  return {
    ...(typeof kept.text === "string" && { text: kept.text }),
    slots: { session: object(session), module: object(module), global: object(global) },
    ...(kept.preloaded !== undefined && { preloaded: object(kept.preloaded) }),
    given: given.map((each) => slotValue(object(each))),
    hash: String(kept.hash),
  };
}

function slotValue({ path, value = null }: JsonObject): SlotValue {
  const { destination, name } = object(path);
  return { path: slotPath(`${String(destination)}.${String(name)}`), value };
}

function object(value: Json | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}
