import { parseJsonPath } from "../schema/json_path.ts";
import { define } from "./agent_definition.ts";
import type { AgentPart } from "./agent_part.ts";
import { TEXT } from "./agent_scalar.ts";
import type { Shape } from "./agent_shape.ts";

const IS_DOTTED = /^[\w[\].*-]+$/;

/** Notes what is wrong with a JSONPath (RFC 9535). */
function checkJsonPath(part: AgentPart, path: string): void {
  const parsed = parseJsonPath(path);
  if ("ok" in parsed) return;
  if (path.startsWith("$")) {
    const message = `is not a valid JSONPath: ${JSON.stringify(path)}`;
    return part.refuse(message, { code: "E607", hint: parsed.problem });
  }
  const meant = `$.${path.replace(/^\./, "")}`;
  const isMeant = IS_DOTTED.test(path) && "ok" in parseJsonPath(meant);
  const near = isMeant ? ` (did you mean ${JSON.stringify(meant)}?)` : "";
  const message = `must be a JSONPath starting with "$", found ${JSON.stringify(path)}${near}`;
  part.refuse(message, { code: "E607" });
}

/** A JSONPath. */
export const JSON_PATH: Shape<string> = {
  schema: { type: "string", pattern: "^\\$" },
  read: (part) => {
    const path = TEXT.read(part);
    if (typeof part.value === "string") checkJsonPath(part, path);
    return path;
  },
};

/** A JSONPath, as the schema names it. */
export const SOURCE_PATH = define("JsonPath", JSON_PATH);

/** The name of a field, or a JSONPath. */
export const FIELD_PATH: Shape<string> = {
  schema: { type: "string", minLength: 1 },
  read: (part) => {
    const path = TEXT.read(part);
    if (part.value === "") part.refuse("must not be empty");
    if (path.startsWith("$")) checkJsonPath(part, path);
    return path;
  },
};
