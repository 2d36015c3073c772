// What is to be seen of a conversation behind a turn, besides what was said in it.

import { slotKey, slotPath } from "../conversation/slots.ts";
import { isJsonObject } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { didYouMean } from "../core/nearest.ts";
import type { Span } from "../core/source_error.ts";
import type { AgentTree } from "../parse/agent_tree.ts";
import type { TestField } from "./test_field.ts";
import type { TextWanted } from "./test_field.ts";

/** What is to be seen; what is absent is not looked at. */
export interface Expectation {
  readonly slots: readonly WantedSlot[];
  /** The last question of each step. */
  readonly prompts: readonly WantedMessages[];
  readonly memory: readonly WantedMessages[];
}

/** How a slot is to be. */
export interface WantedSlot {
  /** `conversation.name` */
  readonly key: string;
  readonly span: Span;
  /** null: nothing is in it. */
  readonly wanted: { readonly value: Json } | TextWanted;
}

/** The messages that the model of a step is to see. */
export interface WantedMessages {
  readonly step: string;
  readonly span: Span;
  readonly messages: readonly { readonly role: string; readonly wanted: TextWanted }[];
}

const ROLES = ["system", "user", "assistant"];
const TEXT_TESTS = ["equals", "contains", "matches"];

/** Reads slots. */
export function readSlots(field: TestField): readonly WantedSlot[] {
  return field.entries().map(([key, slot]) => ({
    key: slotKey(slotPath(key)),
    span: slot.span,
    wanted: wantedOf(slot),
  }));
}

/** A mapping of one of `equals`, `contains` and `matches` says how a text is to be; everything else is the value. */
function wantedOf(field: TestField): WantedSlot["wanted"] {
  const { value = null } = field;
  const [key, ...others] = value !== null && isJsonObject(value) ? Object.keys(value) : [];
  const isTest = key !== undefined && others.length === 0 && TEXT_TESTS.includes(key);
  if (!isTest) return { value };
  if (key === "equals") return { value: field.at(key).value ?? null };
  return field.wanted() ?? { value };
}

/** Reads `saw-prompts` and `saw-memory`. @param tree absent: of an agent that cannot be read */
export function readSeen(field: TestField, tree: AgentTree | undefined): readonly WantedMessages[] {
  return field.entries().map(([step, list]) => {
    if (tree !== undefined && tree.find(step) === undefined) {
      list.problem(`The agent has no step ${JSON.stringify(step)}.${didYouMean(step, tree.ids)}`, "key");
    }
    return { step, span: list.keySpan, messages: list.messages(ROLES) };
  });
}
