// Slots that are filled before the first step (conversations.md 2.11). A source is a mapping with one key that names its kind; those of a
// session and of a module may also be spelled flat, with the path beside the key.

import { isRecord, type JsonObject } from "../core/json.ts";
import { define } from "./agent_definition.ts";
import type { SlotPreload, SlotSource } from "./agent_file.ts";
import { FIELD_PATH, SOURCE_PATH } from "./agent_json_path.ts";
import { mapping } from "./agent_mapping.ts";
import { exactlyOne } from "./agent_rules.ts";
import { NAME, oneOf } from "./agent_scalar.ts";
import { FLAT_MODULE, FLAT_SESSION, MODULE_PATH, SESSION_PATH } from "./agent_scope.ts";
import { type Field, optional, required, type Shape, withDefault } from "./agent_shape.ts";

const USER_FIELDS = { path: required(FIELD_PATH, { description: "A field of the user, or a JSONPath." }) };

/** Of the user. */
export const USER_PATH = define<SlotSource>(
  "UserPath",
  mapping(
    { what: `"user"`, fields: USER_FIELDS },
    (take) => ({ kind: "user", path: take(USER_FIELDS.path) }),
  ),
);

const CONFIG_FIELDS = { key: required(NAME), path: required(SOURCE_PATH) };

const USER_CONFIG = mapping<SlotSource>(
  { what: `"user-config"`, fields: CONFIG_FIELDS },
  (take) => ({ kind: "user-config", key: take(CONFIG_FIELDS.key), path: take(CONFIG_FIELDS.path) }),
);

const LOG_FIELDS = {
  key: required(NAME),
  path: required(SOURCE_PATH),
  filter: withDefault(oneOf(["latest", "earliest"]), "latest"),
};

const USER_CONTEXT_LOG = mapping<SlotSource>({ what: `"user-context-log"`, fields: LOG_FIELDS }, (take) => ({
  kind: "user-context-log",
  key: take(LOG_FIELDS.key),
  path: take(LOG_FIELDS.path),
  filter: take(LOG_FIELDS.filter),
}));

const KINDS: Readonly<Record<SlotSource["kind"], Field<SlotSource | undefined>>> = {
  session: optional(SESSION_PATH),
  module: optional(MODULE_PATH),
  user: optional(USER_PATH),
  "user-config": optional(USER_CONFIG),
  "user-context-log": optional(USER_CONTEXT_LOG),
};

const TAGGED = mapping<SlotSource>(
  { what: "a source", fields: KINDS, rules: [exactlyOne(KINDS)] },
  (take) => Object.values(KINDS).map(take).find((source) => source !== undefined) ?? NO_SOURCE,
);

const NO_SOURCE: SlotSource = { kind: "user", path: "" };

/** A path alone could be one of anything. */
const UNTAGGED: Shape<SlotSource> = {
  schema: {},
  read: (part) => {
    part.refuse(
      'does not say where the value comes from; use "session:", "module:" or "user:" with "path" below it',
      { code: "E603", at: "key" },
    );
    return NO_SOURCE;
  },
};

function spellingOf(keys: readonly string[]): Shape<SlotSource> {
  if (!keys.includes("path")) return keys.length === 0 ? UNTAGGED : TAGGED;
  if (keys.length === 1) return UNTAGGED;
  return keys.includes("session") ? FLAT_SESSION : keys.includes("module") ? FLAT_MODULE : TAGGED;
}

/** Where the value of a slot comes from. */
export const VALUE_SOURCE = define<SlotSource>("ValueSource", {
  schema: {
    oneOf: [
      ...Object.entries(KINDS).map(([key, { schema }]) => only({ [key]: schema }, [key])),
      { ...FLAT_SESSION.schema, required: ["session", "path"] },
      { ...FLAT_MODULE.schema, required: ["module", "path"] },
    ],
  },
  read: (part) => (isRecord(part.value) ? spellingOf(part.keys) : TAGGED).read(part),
});

function only(properties: JsonObject, required: readonly string[]): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}

const FIELDS = {
  name: required(NAME, { description: "Slot to fill." }),
  source: required(VALUE_SOURCE),
};

/** A slot that is filled before the first step. */
export const LOAD_TO_SLOT = define<SlotPreload>(
  "LoadToSlot",
  mapping({ what: "a slot", fields: FIELDS }, (take) => ({
    name: take(FIELDS.name),
    source: take(FIELDS.source),
  })),
);
