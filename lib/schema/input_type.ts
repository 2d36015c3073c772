/**
 * The type of the input a schema lets through: a Standard Schema's output, or what a JSON Schema literal
 * says.
 */
export type InputOf<S> = S extends { readonly "~standard": { readonly types?: infer T } }
  ? NonNullable<T> extends { readonly output: infer Output } ? Output : unknown
  : S extends { readonly type: unknown } ? FromJsonSchema<S>
  : S extends { readonly [K in UnionKeyword]: readonly unknown[] }[UnionKeyword] ? FromJsonSchema<S>
  : S extends { readonly properties: infer P } ? ObjectOf<S, P>
  : Record<string, unknown>;

type UnionKeyword = "anyOf" | "oneOf";

/** The type of the values of a JSON Schema; `unknown` for what is not in these terms, such as `$ref`. */
export type FromJsonSchema<S> = S extends { readonly const: infer Value } ? Value
  : S extends { readonly enum: readonly (infer Value)[] } ? Value
  : S extends { readonly anyOf: readonly (infer Branch)[] } ? FromEach<Branch>
  : S extends { readonly oneOf: readonly (infer Branch)[] } ? FromEach<Branch>
  : S extends { readonly type: readonly (infer Type)[] } ? OfType<Type, S>
  : S extends { readonly type: infer Type } ? OfType<Type, S>
  : S extends { readonly properties: infer P } ? ObjectOf<S, P>
  : unknown;

type FromEach<Branch> = Branch extends unknown ? FromJsonSchema<Branch> : never;

type OfType<Type, S> = Type extends "string" ? string
  : Type extends "number" | "integer" ? number
  : Type extends "boolean" ? boolean
  : Type extends "null" ? null
  : Type extends "array" ? ArrayOf<S>
  : Type extends "object" ? S extends { readonly properties: infer P } ? ObjectOf<S, P> : MapOf<S>
  : unknown;

type ArrayOf<S> = S extends { readonly prefixItems: readonly unknown[] } ? unknown[]
  : S extends { readonly items: infer Item } ? FromJsonSchema<Item>[]
  : unknown[];

type MapOf<S> = S extends { readonly additionalProperties: infer Value }
  ? Record<string, Value extends boolean ? unknown : FromJsonSchema<Value>>
  : Record<string, unknown>;

type ObjectOf<S, P> = Simplify<
  & { -readonly [K in keyof P as K extends PresentKeys<S, P> ? K : never]: FromJsonSchema<P[K]> }
  & { -readonly [K in keyof P as K extends PresentKeys<S, P> ? never : K]?: FromJsonSchema<P[K]> }
>;

/** Required, or filled in by a default. */
type PresentKeys<S, P> =
  | (S extends { readonly required: readonly (infer Name)[] } ? Name : never)
  | { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P];

type Simplify<T> = { [K in keyof T]: T[K] };
