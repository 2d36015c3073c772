import type { JsonObject } from "../core/json.ts";
import { define } from "./agent_definition.ts";
import type { AgentFile } from "./agent_file.ts";
import { listOf, PRINTABLES } from "./agent_list.ts";
import { mapping } from "./agent_mapping.ts";
import { NAME } from "./agent_scalar.ts";
import { optional, required, type Shape } from "./agent_shape.ts";
import { LOAD_TO_SLOT } from "./agent_source.ts";
import { STEP } from "./agent_step.ts";
import { kindOf } from "./file_fields.ts";

const CONSTANTS: Shape<JsonObject> = {
  schema: { type: "object", propertyNames: { minLength: 1 } },
  read: (part) => {
    if (part.child("") !== undefined) part.refuse("must not have an empty name", { at: { key: "" } });
    return PRINTABLES.read(part);
  },
};

const STRUCTURE_FIELDS = {
  id: required(NAME, { description: "Unique id of the agent." }),
  action: required(STEP, { description: "The first step, often a chain." }),
  constants: optional(CONSTANTS, { description: "Values that all steps can insert." }),
  slots: optional(listOf(LOAD_TO_SLOT), { description: "Slots that are filled before the first step." }),
};

/** What a file says of its agent. */
export type AgentStructure = Pick<AgentFile, "id" | "root" | "constants" | "preloads">;

/** What stands below `structure`. */
export const STRUCTURE = define<AgentStructure>(
  "AgentStructure",
  mapping({ what: `"structure"`, fields: STRUCTURE_FIELDS }, (take) => ({
    id: take(STRUCTURE_FIELDS.id),
    root: take(STRUCTURE_FIELDS.action),
    constants: take(STRUCTURE_FIELDS.constants) ?? {},
    preloads: take(STRUCTURE_FIELDS.slots) ?? [],
  })),
);

const VERSION: Shape<string> = {
  schema: { const: "0.1" },
  read: (part) => {
    const { value } = part;
    if (typeof value === "number") part.refuse('must be the text "0.1"; put it in quotes');
    else if (value !== "0.1") {
      const found = typeof value === "string" ? JSON.stringify(value) : kindOf(value);
      part.refuse(`must be the text "0.1", found ${found}`);
    }
    return "0.1";
  },
};

const FIELDS = { version: required(VERSION), structure: required(STRUCTURE) };

/** A whole file. */
export const AGENT_ROOT: Shape<AgentStructure> = mapping({
  what: "the file",
  fields: FIELDS,
  noMapping: ({ value }) =>
    value === null
      ? 'is empty; it needs "version" and "structure"'
      : `must be a mapping with "version" and "structure", found ${kindOf(value)}`,
}, (take) => take(FIELDS.structure));
