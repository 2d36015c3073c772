// Rules about several keys of a mapping, each with the words of its message and what a JSON Schema can say of it.

import type { JsonObject } from "../core/json.ts";
import type { MappingRule } from "./agent_mapping.ts";
import type { Field } from "./agent_shape.ts";

/** All keys exclude each other, and one has to be there. */
export function exactlyOne(fields: Readonly<Record<string, Field<unknown>>>): MappingRule {
  return {
    schema: { minProperties: 1, maxProperties: 1 },
    check: (part, { what, hasUnknown }) => {
      const found = part.keys.filter((key) => Object.hasOwn(fields, key));
      if (found.length === 1 || (found.length === 0 && hasUnknown)) return;
      const words = found.length === 0 ? "" : `; found ${inWords(found)}`;
      part.refuse(`${what} needs exactly one of ${seedKeys(fields)}${words}`, {
        code: found.length === 0 ? "E603" : "E600",
        at: "key",
      });
    },
  };
}

/** The keys of the format itself, as a message lists them. */
export function seedKeys(fields: Readonly<Record<string, Field<unknown>>>): string {
  return Object.entries(fields)
    .flatMap(([key, { about: { isExtension = false } }]) => isExtension ? [] : [JSON.stringify(key)])
    .join(", ");
}

/** `"a", "b" and "c"` */
export function inWords(keys: readonly string[]): string {
  const words = keys.map((key) => JSON.stringify(key));
  return words.length < 2 ? words.join() : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** `global: true` is the old way to say `destination: global`, and nothing else may be said beside it. */
export const GLOBAL_RULE: MappingRule = {
  schema: {
    if: { required: ["global"], properties: { global: { const: true } } },
    then: { properties: { destination: { const: "global" } } },
  },
  check: (part) => {
    const destination = part.child("destination")?.value;
    if (part.child("global")?.value !== true || typeof destination !== "string" || destination === "global") {
      return;
    }
    part.refuse(`"global: true" and "destination: ${destination}" contradict each other; drop "global"`, {
      at: "key",
    });
  },
};

/** Keys that make sense with one type only: key to type. @param usual the type where none is said */
export function onlyForTypes(types: Readonly<Record<string, string>>, usual: string): MappingRule {
  return {
    schema: { allOf: Object.entries(types).map(([key, type]) => onlySchema(key, type, type === usual)) },
    check: (part) => {
      const found = part.child("type")?.value ?? usual;
      if (typeof found !== "string") return;
      for (const [key, type] of Object.entries(types)) {
        const message = `is only for type ${JSON.stringify(type)}; type is ${JSON.stringify(found)}`;
        if (found !== type) part.child(key)?.refuse(message, { at: "key" });
      }
    },
  };
}

function onlySchema(key: string, type: string, isUsual: boolean): JsonObject {
  const properties = { type: { const: type } };
  return { if: { required: [key] }, then: isUsual ? { properties } : { required: ["type"], properties } };
}
