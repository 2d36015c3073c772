import type { JsonSchema } from "../core/gadget.ts";
import type { ConfigKey, ConfigRule } from "./config_rule.ts";
import { CONFIG_TABLE } from "./config_table.ts";

/** The JSON Schema (draft 2020-12) of `orrery.yaml`, for editors. */
export function configSchema(): JsonSchema {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "orrery.yaml",
    description: "The settings of an Orrery project.",
    ...schemaOf(CONFIG_TABLE),
  };
}

function schemaOf(rule: ConfigRule): JsonSchema {
  switch (rule.kind) {
    case "text":
      return { type: "string", minLength: 1 };
    case "boolean":
      return { type: "boolean" };
    case "number":
      return numberSchema(rule);
    case "choice":
      return rule.values.length === 1 ? { const: rule.values[0] } : { enum: rule.values };
    case "list":
      return { type: "array", items: schemaOf(rule.of) };
    case "map":
      return { type: "object", additionalProperties: schemaOf(rule.of) };
    case "keys":
      return {
        type: "object",
        properties: Object.fromEntries(
          Object.entries(rule.keys).map(([name, key]) => [name, keySchema(key)]),
        ),
        additionalProperties: false,
      };
    case "either":
      return { anyOf: rule.of.map(schemaOf) };
    case "any":
      return {};
    default:
      return rule satisfies never;
  }
}

function keySchema(key: ConfigKey): JsonSchema {
  const description = key.unused ? `${key.about} (Not used by this version.)` : key.about;
  return { description, ...schemaOf(key), ...(key.default !== undefined && { default: key.default }) };
}

function numberSchema(rule: ConfigRule & { readonly kind: "number" }): JsonSchema {
  return {
    type: rule.whole ? "integer" : "number",
    ...(rule.least !== undefined && { minimum: rule.least }),
    ...(rule.above !== undefined && { exclusiveMinimum: rule.above }),
    ...(rule.most !== undefined && { maximum: rule.most }),
  };
}
