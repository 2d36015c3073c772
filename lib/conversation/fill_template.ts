// Placeholders of agent files (conversations.md 2.6): `{{ [destination.]name }}`. What was put in is never read again.
import type { Json, JsonObject } from "../core/core.ts";
import type { SlotDestination } from "../parse/agent/agent.ts";
import type { Slots } from "./slots.ts";

/** Gives the value of a placeholder; undefined when there is none. */
export type LookUpSlot = (name: string, destination: SlotDestination | undefined) => Json | undefined;

const DESTINATIONS: ReadonlySet<string> = new Set<SlotDestination>([
  "conversation",
  "session",
  "module",
  "global",
]);
const PLACEHOLDER = /\{\{[ \t]*(?:([\w-]+)\.)?([\w-]+)[ \t]*\}\}/g;
const ALONE = new RegExp(`^${PLACEHOLDER.source}$`);

/** A placeholder as it was written. */
export interface Placeholder {
  readonly destination: SlotDestination | undefined;
  readonly name: string;
}

/** The placeholders of a text, in order; what only looks like one is none. */
export function placeholdersIn(text: string): readonly Placeholder[] {
  return [...text.matchAll(PLACEHOLDER)].flatMap(([, destination, name = ""]): readonly Placeholder[] => {
    if (destination === undefined) return [{ destination, name }];
    return isDestination(destination) ? [{ destination, name }] : [];
  });
}

/** Fills the placeholders of a text; one without a value is empty, and one with an unknown destination stays as it is. */
export function fillText(
  text: string,
  lookUp: LookUpSlot,
  encode: (value: string) => string = (value) => value,
): string {
  return text.replace(PLACEHOLDER, (whole, destination: string | undefined, name: string) => {
    if (destination !== undefined && !isDestination(destination)) return whole;
    return encode(slotText(lookUp(name, destination)));
  });
}

/** Fills a value all through. Text that is one placeholder keeps the type of the slot, and is empty text without one. */
export function fillJson(value: Json, lookUp: LookUpSlot): Json {
  if (typeof value === "string") return fillWhole(value, lookUp);
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return value.map((item) => fillJson(item, lookUp));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillJson(item, lookUp)]));
}

function fillWhole(text: string, lookUp: LookUpSlot): Json {
  const [, destination, name] = ALONE.exec(text) ?? [];
  if (name === undefined || (destination !== undefined && !isDestination(destination))) {
    return fillText(text, lookUp);
  }
  return lookUp(name, destination) ?? "";
}

/** A slot as text: text as it is, numbers and booleans as JSON, lists and mappings as compact JSON; nothing is empty. */
export function slotText(value: Json | undefined): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

function isDestination(text: string): text is SlotDestination {
  return DESTINATIONS.has(text);
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

/** What a placeholder stands for (conversations.md 2.6): without a destination the slot of the conversation, then the constant. */
export function lookUpIn(slots: Slots, constants: JsonObject): LookUpSlot {
  return (name, destination) => {
    if (destination !== undefined) return slots.get({ destination, name });
    return slots.get({ destination: "conversation", name }) ??
      (Object.hasOwn(constants, name) ? constants[name] : undefined);
  };
}
