import type { Json, JsonObject } from "../core/json.ts";
import type { Position } from "./position.ts";

/** Where a conversation is between two turns. */
export interface ConversationState {
  readonly status: "held" | "completed" | "failed";
  /** SHA-256 of the agent file that the last turn ran. */
  readonly hash: string;
  /** Absent when it is completed. */
  readonly position?: Position;
  /** Its own slots. */
  readonly slots: JsonObject;
  /** How often each step was come to: the visit is a part of the keys of its effects. */
  readonly visits: Readonly<Record<string, number>>;
  /** Of `failed`. */
  readonly error?: string;
  /** What was said at the start, when it failed before a step took it: the first hold does. */
  readonly waiting?: string;
}

/** A state as a checkpoint has it: nobody else writes there. */
export function keptState(state: Json): ConversationState;
export function keptState(state: unknown): unknown {
  return state;
}
