import { define } from "./agent_definition.ts";
import type { SlotPath } from "./agent_file.ts";
import { mapping } from "./agent_mapping.ts";
import { GLOBAL_RULE } from "./agent_rules.ts";
import { FLAG, NAME, oneOf } from "./agent_scalar.ts";
import { optional, required } from "./agent_shape.ts";

/** All places of slots, that of the conversation first. */
export const DESTINATIONS = ["conversation", "global", "session", "module"] as const;

const PLACES = oneOf(DESTINATIONS);

/** Where a slot is looked for. */
export const DESTINATION = define("Destination", {
  ...PLACES,
  schema: { ...PLACES.schema, default: DESTINATIONS[0] },
});

/** The keys that name a slot. */
export const SLOT_FIELDS = {
  name: required(NAME, { description: "Slot name." }),
  destination: optional(DESTINATION),
  global: optional(FLAG, { deprecated: "Use destination instead." }),
};

/** A slot by its name. */
export const SLOT_PATH = define<SlotPath>(
  "SlotPath",
  mapping(
    { what: "a slot path", fields: SLOT_FIELDS, rules: [GLOBAL_RULE] },
    (take) => slotPath(take(SLOT_FIELDS.name), take(SLOT_FIELDS.destination), take(SLOT_FIELDS.global)),
  ),
);

/** A slot, with what is meant where its place is left out. */
export function slotPath(
  name: string,
  destination: SlotPath["destination"] | undefined,
  isGlobal = false,
): SlotPath {
  return { destination: destination ?? (isGlobal ? "global" : "conversation"), name };
}

const TARGET_FIELDS = { slot: required(SLOT_PATH) };

/** Where a value goes. */
export const SAVE_TARGET = define<SlotPath>(
  "SaveTarget",
  mapping({ what: "a target", fields: TARGET_FIELDS }, (take) => take(TARGET_FIELDS.slot)),
);
