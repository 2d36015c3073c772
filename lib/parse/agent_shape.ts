// What may stand in an agent file is said once, in tables of fields: the reader and the JSON Schema for editors are both made of them.

import type { JsonObject } from "../core/json.ts";
import type { AgentPart } from "./agent_part.ts";
import { NO_PART } from "./agent_part.ts";

/** What a value has to be. */
export interface Shape<Value> {
  readonly schema: JsonObject;
  /** Of a value that is not it, what is wrong is noted, and a stand-in comes back: of a file with an error nothing is used. */
  read(part: AgentPart): Value;
}

/** What is to be known of a key besides its value. */
export interface FieldAbout {
  /** For editors. */
  readonly description?: string;
  /** Orrery's own: not named where the keys of the format are listed (conversations.md 3). */
  readonly isExtension?: boolean;
  /** What to do in place of it. */
  readonly deprecated?: string;
  /** Keys that are written where this one is meant. */
  readonly mistakenFor?: readonly string[];
  /** What is said when it is missing. Default: that it is required. */
  readonly missing?: string;
}

/** A key of a mapping. */
export interface Field<Value> {
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  readonly about: FieldAbout;
  /** @param part undefined when the key is not there */
  read(part: AgentPart | undefined): Value;
}

/** A key that has to be there. */
export function required<Value>(shape: Shape<Value>, about: FieldAbout = {}): Field<Value> {
  return {
    schema: described(shape, about),
    isRequired: true,
    about,
    read: (part = NO_PART) => shape.read(part),
  };
}

/** A key that may be there. */
export function optional<Value>(shape: Shape<Value>, about: FieldAbout = {}): Field<Value | undefined> {
  const read = (part: AgentPart | undefined): Value | undefined => part && shape.read(part);
  return { schema: described(shape, about), isRequired: false, about, read };
}

/** A key that may be there, and what it means when it is not. */
export function withDefault<Value extends string | number | boolean>(
  shape: Shape<Value>,
  fallback: Value,
  about: FieldAbout = {},
): Field<Value> {
  const schema = { ...described(shape, about), default: fallback };
  return {
    schema,
    isRequired: false,
    about,
    read: (part) => part === undefined ? fallback : shape.read(part),
  };
}

function described<Value>(
  { schema }: Shape<Value>,
  { description, isExtension = false, deprecated }: FieldAbout,
): JsonObject {
  const text = [description, deprecated].filter((each) => each !== undefined).join(" ");
  return {
    ...schema,
    ...(text === "" ? {} : { description: text }),
    ...(deprecated === undefined ? {} : { deprecated: true }),
    ...(isExtension ? { "x-extension": true } : {}),
  };
}
