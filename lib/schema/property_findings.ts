import type { JsonSchema } from "../core/gadget.ts";
import { didYouMean, MAX_PROBLEMS, nearOne } from "./finding.ts";
import type { Finding } from "./finding.ts";
import { hasFixedValues, isSchemaNode, resolveRef, schemaEntries, schemaList } from "./schema_node.ts";
import type { SchemaNode } from "./schema_node.ts";
import { typeText } from "./type_text.ts";

/**
 * An object's place, or for an unknown property the property's, and the schema that has something against it.
 */
export interface ObjectPlace {
  readonly where: readonly string[];
  readonly schema: JsonSchema;
  readonly root: JsonSchema;
}

/** The required properties that are not there. */
export function missingFindings(value: unknown, { where, schema, root }: ObjectPlace): readonly Finding[] {
  const object: object = Object(value);
  const known = new Map(schemaEntries(schema.properties));
  // Where unknown names are errors, these say already what was meant.
  const unknown = schema.additionalProperties === false
    ? []
    : Object.keys(object).filter((name) => !known.has(name)).slice(0, MAX_PROBLEMS);
  return namesOf(schema.required).filter((name) => !Object.hasOwn(object, name)).map((name) => {
    const near = nearOne(name, unknown);
    const wanted = known.get(name) ?? true;
    const hint = near === undefined ? {} : { hint: `. Is "${near}" meant as "${name}"?` };
    const isTag = hasFixedValues(wanted);
    return { where: [...where, name], keyword: "required", expected: typeText(wanted, root), isTag, ...hint };
  });
}

/** The properties that others call for (`dependentRequired`). */
export function dependentFindings(value: unknown, { where, schema }: ObjectPlace): readonly Finding[] {
  const object: object = Object(value);
  return Object.entries(Object(schema.dependentRequired)).filter(([key]) => Object.hasOwn(object, key))
    .flatMap(([key, names]) =>
      namesOf(names).filter((name) => !Object.hasOwn(object, name)).map((name) => ({
        where: [...where, name],
        keyword: "required",
        expected: "anything",
        text: `missing, expected since "${key}" is given`,
      }))
    );
}

/** A property that no schema knows, where only known ones may be. */
export function unknownFinding({ where, schema, root }: ObjectPlace): Finding {
  const names = [...new Set(propertyNames(schema, root))];
  const expected = listText(names);
  const hint = didYouMean(nearOne(where.at(-1) ?? "", names));
  return { where, keyword: "unknown", expected, text: `unknown, expected ${expected}`, ...hint };
}

function listText(names: readonly string[]): string {
  if (names.length < 2) return names.length === 0 ? "no properties at all" : `only ${names[0]}`;
  return `one of ${names.join(", ")}`;
}

/** The names a schema knows, with those of the schemas beside it. */
function propertyNames(schema: SchemaNode, root: JsonSchema): readonly string[] {
  if (typeof schema === "boolean") return [];
  const beside = [
    ...(schema.$ref === undefined ? [] : [resolveRef(root, schema.$ref)]),
    ...["allOf", "anyOf", "oneOf"].flatMap((keyword) => schemaList(schema[keyword])),
    ...[schema.then, schema.else].filter(isSchemaNode),
  ];
  return [
    ...schemaEntries(schema.properties).map(([name]) => name),
    ...beside.flatMap((node) => propertyNames(node, root)),
  ];
}

function namesOf(names: unknown): readonly string[] {
  return Array.isArray(names) ? names.filter((name): name is string => typeof name === "string") : [];
}
