import { isRecord } from "../core/json.ts";
import type { JsonObject } from "../core/json.ts";
import { nearestName } from "../core/nearest.ts";
import type { AgentPart } from "./agent_part.ts";
import { refused } from "./agent_scalar.ts";
import type { Field, Shape } from "./agent_shape.ts";

/** Gives what stands at a key of the mapping. */
export type Take = <Value>(field: Field<Value>) => Value;

/** What the keys of a mapping have to be together. */
export interface MappingRule {
  /** What the schema can say of it. */
  readonly schema?: JsonObject;
  check(part: AgentPart, mapping: CheckedMapping): void;
}

/** A mapping while its rules are checked. */
export interface CheckedMapping {
  /** What messages call it: `"llm"`, `a step`. */
  readonly what: string;
  /** Some key of it is not known: what seems to be missing may be just that, and has been told. */
  readonly hasUnknown: boolean;
}

type Fields = Readonly<Record<string, Field<unknown>>>;

/** What a mapping has to be. */
export interface MappingForm {
  /** What messages call it: `"llm"`, `a step`. */
  readonly what: string;
  readonly fields: Fields;
  readonly rules?: readonly MappingRule[];
  /** What is said of a value that is no mapping. Default: that it must be one. */
  readonly noMapping?: (part: AgentPart) => string | undefined;
}

/** A mapping with fixed keys. @param build makes what it means of what stands at its keys */
export function mapping<Value>(
  form: MappingForm,
  build: (take: Take, part: AgentPart) => Value,
): Shape<Value> {
  const keys = new Map(Object.entries(form.fields).map(([key, field]) => [field, key]));
  return {
    schema: mappingSchema(form),
    read: (part) => {
      if (isRecord(part.value)) checkMapping(part, form);
      else tellNoMapping(part, form);
      const left = new Set(keys.keys());
      const take: Take = (field) => {
        left.delete(field);
        return field.read(part.child(keys.get(field) ?? ""));
      };
      const value = build(take, part);
      left.forEach(take); // what means nothing has to be right nevertheless
      return value;
    },
  };
}

function mappingSchema({ fields, rules = [] }: MappingForm): JsonObject {
  const entries = Object.entries(fields);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([key, { schema }]) => [key, schema])),
    required: entries.flatMap(([key, { isRequired }]) => isRequired ? [key] : []),
    additionalProperties: false,
    ...rules.reduce<JsonObject>((all, { schema }) => ({ ...all, ...schema }), {}),
  };
}

function tellNoMapping(part: AgentPart, { noMapping }: MappingForm): void {
  const message = noMapping?.(part);
  if (message === undefined) refused(part, { wanted: "a mapping", standIn: undefined });
  else part.refuse(message);
}

function checkMapping(part: AgentPart, { what, fields, rules = [] }: MappingForm): void {
  const known = new Set(Object.keys(fields));
  const unknown = part.keys.filter((key) => !known.has(key));
  const meant = unknown.map((key) => tellUnknown(part, key, { what, fields }));
  for (const [key, { isRequired, about: { missing, deprecated } }] of Object.entries(fields)) {
    const child = part.child(key);
    if (child !== undefined && deprecated !== undefined) tellDeprecated(child, key, deprecated);
    if (child !== undefined || !isRequired || meant.includes(key)) continue;
    const message = missing ?? `${JSON.stringify(key)} is required in ${what}`;
    part.refuse(message, { code: "E603", at: "key" });
  }
  for (const rule of rules) rule.check(part, { what, hasUnknown: unknown.length > 0 });
}

/** Gives the key that was likely meant. */
function tellUnknown(
  part: AgentPart,
  key: string,
  { what, fields }: Pick<MappingForm, "what" | "fields">,
): string | undefined {
  const entries = Object.entries(fields);
  const [mistaken] = entries.find(([, { about }]) => about.mistakenFor?.includes(key)) ?? [];
  const near = mistaken ?? nearestName(key, entries.map(([name]) => name));
  const meant = near === undefined ? "" : ` (did you mean ${JSON.stringify(near)}?)`;
  part.refuse(`unknown key ${JSON.stringify(key)} in ${what}${meant}`, { code: "E602", at: { key } });
  return near;
}

function tellDeprecated(part: AgentPart, key: string, instead: string): void {
  part.refuse(`${JSON.stringify(key)} is deprecated`, {
    severity: "warning",
    code: "W626",
    at: "key",
    hint: instead,
  });
}
