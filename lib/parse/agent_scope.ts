// Values of a session or of a module, for preloaded slots.

import { define } from "./agent_definition.ts";
import type { SlotSource, SourceSelection } from "./agent_file.ts";
import { SOURCE_PATH } from "./agent_json_path.ts";
import { mapping, type Take } from "./agent_mapping.ts";
import { exactlyOne } from "./agent_rules.ts";
import { NAME, oneOf } from "./agent_scalar.ts";
import { optional, required } from "./agent_shape.ts";

const CURRENT: SourceSelection = { selector: "current" };

const FIELDS = { selector: optional(oneOf(["current", "Current"])), from: optional(NAME) };

/** The session or the module that is looked at. */
export const SCOPE_SELECTION = define<SourceSelection>(
  "ScopeSelection",
  mapping({ what: "a selection", fields: FIELDS, rules: [exactlyOne(FIELDS)] }, (take) => {
    const from = take(FIELDS.from);
    return from === undefined ? CURRENT : { from };
  }),
);

const MODULE_FIELDS = { module: optional(SCOPE_SELECTION), path: required(SOURCE_PATH) };
const SESSION_FIELDS = { session: optional(SCOPE_SELECTION), ...MODULE_FIELDS };

/** Of a session. */
export const SESSION_PATH = define(
  "SessionPath",
  mapping({ what: `"session"`, fields: SESSION_FIELDS }, sessionSource),
);

/** Of a module. */
export const MODULE_PATH = define(
  "ModulePath",
  mapping({ what: `"module"`, fields: MODULE_FIELDS }, moduleSource),
);

/** The spelling of `session` with its path beside it. */
export const FLAT_SESSION = mapping({ what: "a source", fields: SESSION_FIELDS }, sessionSource);

/** The spelling of `module` with its path beside it. */
export const FLAT_MODULE = mapping({ what: "a source", fields: MODULE_FIELDS }, moduleSource);

function sessionSource(take: Take): SlotSource {
  return {
    kind: "session",
    path: take(SESSION_FIELDS.path),
    session: take(SESSION_FIELDS.session) ?? CURRENT,
    module: take(SESSION_FIELDS.module) ?? CURRENT,
  };
}

function moduleSource(take: Take): SlotSource {
  return { kind: "module", path: take(MODULE_FIELDS.path), module: take(MODULE_FIELDS.module) ?? CURRENT };
}
