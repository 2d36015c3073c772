import { isJsonObject } from "../core/json.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { ConversationState } from "./conversation_state.ts";
import type { BranchPosition, Position } from "./position.ts";
import { slotPath } from "./slots.ts";

/** A state as a checkpoint has it. What is no state reads as one that has failed. */
export function readState(json: Json): ConversationState {
  const kept = object(json);
  const { status, hash, position, slots, visits, error, waiting } = kept;
  return {
    status: status === "held" || status === "completed" ? status : "failed",
    hash: String(hash),
    ...(position !== undefined && { position: readPosition(object(position)) }),
    slots: object(slots),
    visits: Object.fromEntries(Object.entries(object(visits)).map(([id, count]) => [id, Number(count)])),
    ...(typeof error === "string" && { error }),
    ...(typeof waiting === "string" && { waiting }),
  };
}

function readPosition({ at, step, branches }: JsonObject): Position {
  const id = String(step);
  if (at !== "combined") return { at: at === "held" ? "held" : "failed", step: id };
  return { at, step: id, branches: list(branches).map((branch) => readBranch(object(branch))) };
}

function readBranch({ id, writes, position, flow }: JsonObject): BranchPosition {
  return {
    id: String(id),
    writes: list(writes).map((each) => {
      const { path, value = null, step } = object(each);
      const { destination, name } = object(path);
      return { path: slotPath(`${String(destination)}.${String(name)}`), value, step: String(step) };
    }),
    ...(position !== undefined && { position: readPosition(object(position)) }),
    ...(flow !== undefined && { flow: readFlow(object(flow)) }),
  };
}

function readFlow({ from, flow }: JsonObject): NonNullable<BranchPosition["flow"]> {
  const { goto, action } = object(flow);
  if (typeof goto === "string") return { from: String(from), flow: { goto } };
  return {
    from: String(from),
    flow: { action: action === "repeat" || action === "end" ? action : "continue" },
  };
}

function object(value: Json | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

function list(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
