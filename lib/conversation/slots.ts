import {
  isJsonObject,
  type Json,
  type JsonObject,
  objectOrEmpty,
  type SlotScope,
  type SlotWrite,
} from "../core/core.ts";
import type {
  AgentFile,
  SlotDestination,
  SlotPath,
  SlotSource,
  SourceSelection,
} from "../parse/agent/agent.ts";
import { parseJsonPath } from "../schema/json_path.ts";

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

/** Of a slot; a state holds slots some levels down, and what has more than 500 cannot be kept. */
export const SLOT_LEVELS = 400;
/** 16 MiB, in UTF-16 units; each part of a list or mapping counts as one more. */
const MAX_SIZE = 16 * 1024 * 1024;

/**
 * Why a value is too much for a slot, in words behind `it has`; undefined when it is not. A value may hold the same part many times, so that
 * it is small in memory and endless as text.
 */
export function slotProblem(value: Json): string | undefined {
  const open: (readonly [Json, number])[] = [[value, 0]];
  let size = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [part, level] = next;
    size += typeof part === "string" ? part.length + 1 : 1;
    if (size > MAX_SIZE) return "more than 16 MB";
    if (typeof part !== "object" || part === null) continue;
    if (level >= SLOT_LEVELS) return `more than ${SLOT_LEVELS} levels`;
    for (const [key, inside] of Object.entries(part)) {
      size += Array.isArray(part) ? 0 : key.length;
      open.push([inside, level + 1]);
    }
  }
  return undefined;
}

// Slots that are filled before the first step of a conversation (conversations.md 2.11).

/**
 * The slots that the file asks for, out of `{user, module, session, "user-config", "user-context-log"}`; what is not there, or null, is not
 * set.
 *
 * @throws {Error} for a module or session that is named and not there: `slots[0]: there is no module "x"`
 */
export function preloadSlots({ preloads }: Pick<AgentFile, "preloads">, context: Json): JsonObject {
  const data = objectOrEmpty(context);
  const found = preloads.map(({ name, source }, index) => [name, sourceValue(source, data, index)] as const);
  return Object.fromEntries(
    found.flatMap(([name, value]) => value === undefined || value === null ? [] : [[name, value]]),
  );
}

function sourceValue(source: SlotSource, context: JsonObject, index: number): Json | undefined {
  switch (source.kind) {
    case "user":
      return at(context.user, source.path);
    case "module":
      return at(moduleOf(source.module, context, index), source.path);
    case "session":
      return at(sessionOf(source, context, index), source.path);
    case "user-config":
      return at(field(context["user-config"], source.key), source.path);
    case "user-context-log": {
      const entries = field(context["user-context-log"], source.key);
      const list: readonly Json[] = Array.isArray(entries) ? entries : [];
      return at(source.filter === "latest" ? list.at(-1) : list[0], source.path);
    }
    default:
      return source satisfies never;
  }
}

function moduleOf(selection: SourceSelection, { module }: JsonObject, index: number): Json | undefined {
  if ("selector" in selection || field(module, "id") === selection.from) return module;
  throw new Error(`slots[${index}]: there is no module "${selection.from}"`);
}

function sessionOf(
  { session, module }: Extract<SlotSource, { readonly kind: "session" }>,
  context: JsonObject,
  index: number,
): Json | undefined {
  const sessions = field(moduleOf(module, context, index), "sessions");
  if ("selector" in session || field(context.session, "id") === session.from) return context.session;
  const all: readonly Json[] = Array.isArray(sessions) ? sessions : [];
  const found = all.find((one) => field(one, "id") === session.from);
  if (found === undefined) throw new Error(`slots[${index}]: there is no session "${session.from}"`);
  return found;
}

/** A field, or what a JSONPath selects: several values as a list. */
function at(data: Json | undefined, path: string): Json | undefined {
  if (!path.startsWith("$")) return field(data, path);
  const parsed = parseJsonPath(path);
  if (data === undefined || "problem" in parsed) return undefined;
  const found = parsed.ok.select(data);
  return found.length > 1 ? found : found[0];
}

function field(data: Json | undefined, name: string): Json | undefined {
  return data !== undefined && isJsonObject(data) && Object.hasOwn(data, name) ? data[name] : undefined;
}
