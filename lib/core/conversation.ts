import type { Json } from "./json.ts";

/** A message of a conversation (conversations.md 2.1). */
export interface LogEntry {
  /** From 1, in the order in which they were said. */
  readonly n: number;
  readonly who: "user" | "assistant";
  readonly text: string;
  /** Of the assistant: the step that said it. Of the user: the step or steps that it answers. */
  readonly steps: readonly string[];
}

/** Whose slots: with a session those of the session, with a module alone those of the module, else the user's own (`global`). */
export interface SlotScope {
  readonly user: string;
  readonly module?: string;
  readonly session?: string;
}

/** A slot that outlives its conversation. */
export interface SlotWrite extends SlotScope {
  readonly name: string;
  readonly value: Json;
}

/** Where a conversation is behind a turn: what the next turn begins with. */
export interface Checkpoint {
  /** From 1: the turn that it is behind. */
  readonly n: number;
  /** The engine's own. */
  readonly state: Json;
  /** How many messages the log has by then. */
  readonly messages: number;
}

/** What a turn leaves behind; durable as one. */
export interface ConversationSave {
  readonly state: Json;
  /** Those that are new, in order; their `n` go on where the log ends. */
  readonly messages: readonly LogEntry[];
  readonly slots: readonly SlotWrite[];
}

/** The step of a conversation that keeps what its turn begins with: `{text?, …}`. @param turn from 1 */
export function turnKey(turn: number): string {
  return `turn[${turn}]`;
}
