import type { JsonSchema } from "./gadget.ts";

type Properties = Readonly<Record<string, JsonSchema>>;

/** The schema of an object with these properties; others are let through. */
export function objectOf<const Of extends Properties, const Names extends readonly string[] = readonly []>(
  properties: Of,
  required?: Names,
): { readonly type: "object"; readonly properties: Of; readonly required: Names } {
  return { type: "object", properties, ...(required && { required }) } as ReturnType<
    typeof objectOf<Of, Names>
  >;
}

/** The schema of an object with these properties and no others. */
export function onlyFields<const Of extends Properties, const Names extends readonly string[] = readonly []>(
  properties: Of,
  required?: Names,
): ReturnType<typeof objectOf<Of, Names>> & { readonly additionalProperties: false } {
  return { ...objectOf(properties, required), additionalProperties: false };
}
