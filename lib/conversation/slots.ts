import type { SlotScope, SlotWrite } from "../core/conversation.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { SlotDestination, SlotPath } from "../parse/agent/agent.ts";

/** Slots as a part of a conversation sees them. */
export interface Slots {
  get(path: SlotPath): Json | undefined;
}

/** What is in the four places at the beginning of a turn. */
export type SlotValues = Readonly<Record<SlotDestination, JsonObject>>;

/** Whose slots a conversation has besides its own. */
export type ConversationScope = Required<SlotScope>;

/** The slots of a conversation during a turn, and what the turn has written. */
export class ConversationSlots implements Slots {
  readonly #values: Record<SlotDestination, Map<string, Json>>;
  readonly #written = new Map<string, KeptPath>();

  constructor(values: SlotValues) {
    const map = (slots: JsonObject): Map<string, Json> => new Map(Object.entries(slots));
    this.#values = {
      conversation: map(values.conversation),
      session: map(values.session),
      module: map(values.module),
      global: map(values.global),
    };
  }

  get({ destination, name }: SlotPath): Json | undefined {
    return this.#values[destination].get(name);
  }

  set(path: SlotPath, value: Json): void {
    const { destination, name } = path;
    this.#values[destination].set(name, value);
    if (destination !== "conversation") this.#written.set(slotKey(path), { destination, name });
  }

  /** Those that die with the conversation. */
  get own(): JsonObject {
    return Object.fromEntries(this.#values.conversation);
  }

  /** All of them, as `destination.name`. */
  get all(): Readonly<Record<string, Json>> {
    return Object.fromEntries(
      Object.entries(this.#values).flatMap(([destination, slots]) =>
        [...slots].map(([name, value]) => [`${destination}.${name}`, value] as const)
      ),
    );
  }

  /** What outlives the conversation and was written. */
  written(scope: ConversationScope): readonly SlotWrite[] {
    return [...this.#written.values()].map((path) => ({
      ...scopeOf(path.destination, scope),
      name: path.name,
      value: this.get(path) ?? null,
    }));
  }
}

/** Slots as a branch sees them: those of before, and its own writes. */
export class BranchSlots implements Slots {
  readonly #before: Slots;
  readonly #writes = new Map<string, BranchWrite>();

  constructor(before: Slots, writes: readonly BranchWrite[] = []) {
    this.#before = before;
    for (const write of writes) this.set(write);
  }

  get(path: SlotPath): Json | undefined {
    const own = this.#writes.get(slotKey(path));
    return own === undefined ? this.#before.get(path) : own.value;
  }

  set(write: BranchWrite): void {
    this.#writes.set(slotKey(write.path), write);
  }

  get writes(): readonly BranchWrite[] {
    return [...this.#writes.values()];
  }
}

/** A slot and what it holds. */
export interface SlotValue {
  readonly path: SlotPath;
  readonly value: Json;
}

/** What a step in a branch has written. */
export interface BranchWrite extends SlotValue {
  readonly step: string;
}

/** Of a slot that outlives its conversation. */
interface KeptPath extends SlotPath {
  readonly destination: Exclude<SlotDestination, "conversation">;
}

const DESTINATIONS: readonly SlotDestination[] = ["conversation", "session", "module", "global"];

/** A slot by its key; without a destination it is one of the conversation. */
export function slotPath(key: string): SlotPath {
  const destination = DESTINATIONS.find((one) => key.startsWith(`${one}.`));
  if (destination === undefined) return { destination: "conversation", name: key };
  return { destination, name: key.slice(destination.length + 1) };
}

/** `conversation.name` */
export function slotKey({ destination, name }: SlotPath): string {
  return `${destination}.${name}`;
}

/** Whose the slots of a destination are. */
export function scopeOf(
  destination: Exclude<SlotDestination, "conversation">,
  { user, module, session }: ConversationScope,
): SlotScope {
  if (destination === "global") return { user };
  return destination === "module" ? { user, module } : { user, module, session };
}
