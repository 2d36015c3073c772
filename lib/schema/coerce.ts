import { isRecord, type JsonSchema } from "../core/core.ts";
import { JsonValidator } from "./json_validator.ts";
import { admits, leafValue } from "./leaf_value.ts";
import { prepareSchema } from "./prepare_schema.ts";
import { mapChildren, measure, TextValue, untypedTree } from "./text_value.ts";
import { hasFixedValues, isSchemaNode, resolveRef, schemaEntries, schemaList } from "./schema_node.ts";
import type { SchemaNode } from "./schema_node.ts";

/**
 * The tree with every `TextValue` leaf typed by the schema (calls.md 3, "Values with the gadget's schema").
 * Values that are typed already stay; a text that fits nothing stays text; parts the schema says nothing of,
 * and all of a schema that is broken, are read without one. A tree with more than 500 levels is given back as
 * it is. Never throws.
 */
export function coerce(tree: unknown, schema: JsonSchema): unknown {
  const prepared = prepareSchema(schema);
  const { size, problem } = measure(tree);
  if (problem !== undefined) return tree;
  if ("broken" in prepared) return untypedTree(tree);
  try {
    return coercePrepared(tree, new JsonValidator(prepared, { size }));
  } catch (error) {
    if (error instanceof RangeError) return tree; // fewer levels, but more than the stack of this moment has room for
    throw error;
  }
}

/** The same with the validator of a prepared schema. */
export function coercePrepared(tree: unknown, validator: JsonValidator): unknown {
  return new Typing(validator, { fillDefaults: false }).value(tree, [validator.root]);
}

/**
 * The value with the `default` of every property that is missing from an object that is there, at any depth,
 * a default that was filled in included. In a union the properties of the first branch that validates count.
 */
export function fillDefaults(value: unknown, validator: JsonValidator): unknown {
  return new Typing(validator, { fillDefaults: true }).value(value, [validator.root]);
}

type Schemas = readonly SchemaNode[];

/** One walk over a tree, with the schemas that apply at each place. */
class Typing {
  readonly #validator: JsonValidator;
  readonly #fillDefaults: boolean;
  /** Results by container and schemas: without it, nested unions would try each branch inside each branch. */
  readonly #results = new Map<object, Map<string, unknown>>();
  readonly #schemaIds = new Map<SchemaNode, number>();
  /** Schemas whose default is being filled in: a default may call for itself again. */
  readonly #filling = new Set<SchemaNode>();

  constructor(validator: JsonValidator, options: { readonly fillDefaults: boolean }) {
    this.#validator = validator;
    this.#fillDefaults = options.fillDefaults;
  }

  /** `schemas`: all that apply here; none means that the schema says nothing of this place. */
  value(node: unknown, schemas: Schemas): unknown {
    if (node instanceof TextValue) return leafValue(node.text, schemas, this.#validator);
    if (typeof node !== "object" || node === null) return node;
    if (schemas.length === 0) return untypedTree(node);
    const ids = new Set(schemas.map((schema) => this.#idOf(schema)));
    const key = [...ids].join();
    const known = this.#results.get(node) ?? new Map<string, unknown>();
    this.#results.set(node, known);
    if (!known.has(key)) known.set(key, this.#children(node, this.#parts(node, schemas)));
    return known.get(key);
  }

  #idOf(schema: SchemaNode): number {
    const id = this.#schemaIds.get(schema) ?? this.#schemaIds.size;
    this.#schemaIds.set(schema, id);
    return id;
  }

  /**
   * The schemas that speak of this container's children: references followed, unions and conditions decided.
   */
  #parts(node: object, schemas: Schemas): readonly JsonSchema[] {
    const parts = flat(schemas, this.#validator.root);
    const base = [...parts];
    for (const part of base) {
      for (const union of [schemaList(part.anyOf), schemaList(part.oneOf)]) {
        const branch = this.#branch(node, union, parts);
        if (branch !== undefined) parts.push(...this.#parts(node, [branch]));
      }
      const condition = this.#condition(node, part, parts);
      if (condition !== undefined) parts.push(...this.#parts(node, [condition]));
    }
    return parts;
  }

  /**
   * The first branch that validates; else the first whose fixed values are there; else the first of the right
   * type.
   */
  #branch(node: object, union: Schemas, parts: readonly JsonSchema[]): SchemaNode | undefined {
    const type = Array.isArray(node) ? "array" : "object";
    const possible = union.filter((branch) => admits(branch, type, this.#validator.root));
    const attempts = possible.map((branch) => ({
      branch,
      parts: [...parts, ...this.#parts(node, [branch])],
    }));
    const valid = attempts.find((attempt) =>
      this.#validator.fits(attempt.branch, this.#attempt(node, attempt.parts))
    );
    const tagged = valid ?? attempts.find((attempt) => this.#hasTags(node, attempt.parts));
    return tagged?.branch ?? possible[0];
  }

  #condition(node: object, part: JsonSchema, parts: readonly JsonSchema[]): SchemaNode | undefined {
    if (!isSchemaNode(part.if)) return undefined;
    const holds = this.#validator.fits(
      part.if,
      this.#attempt(node, [...parts, ...this.#parts(node, [part.if])]),
    );
    const chosen = holds ? part.then : part.else;
    return isSchemaNode(chosen) ? chosen : undefined;
  }

  /**
   * What the container would be under these schemas. Defaults do not decide a union, so they are not filled
   * in here.
   */
  #attempt(node: object, parts: readonly JsonSchema[]): object {
    return this.#fillDefaults ? node : this.#children(node, parts);
  }

  #hasTags(node: object, parts: readonly JsonSchema[]): boolean {
    const tags = parts.flatMap((part) => schemaEntries(part.properties)).filter(([, schema]) =>
      hasFixedValues(schema)
    );
    const typed = this.#attempt(node, parts);
    return tags.length > 0 &&
      tags.every(([key, schema]) =>
        Object.hasOwn(typed, key) && this.#validator.fits(schema, Reflect.get(typed, key))
      );
  }

  #children(node: object, parts: readonly JsonSchema[]): object {
    const typed = mapChildren(
      node,
      (child, key) => this.value(child, parts.flatMap((part) => childSchemas(part, key))),
    );
    return this.#fillDefaults && !Array.isArray(typed) ? this.#withDefaults(typed, parts) : typed;
  }

  #withDefaults(object: object, parts: readonly JsonSchema[]): object {
    const missing = new Map<string, unknown>();
    for (const [key, schema] of parts.flatMap((part) => schemaEntries(part.properties))) {
      if (Object.hasOwn(object, key) || missing.has(key)) continue;
      const found = this.#defaultOf(schema);
      if (found !== undefined) missing.set(key, found.value);
    }
    return missing.size === 0
      ? object
      : Object.fromEntries<unknown>([...Object.entries<unknown>({ ...object }), ...missing]);
  }

  #defaultOf(schema: SchemaNode): { readonly value: unknown } | undefined {
    const holder = flat([schema], this.#validator.root).find((part) => Object.hasOwn(part, "default"));
    if (holder === undefined || this.#filling.has(holder)) return undefined;
    this.#filling.add(holder);
    const value = this.value(structuredClone(holder.default), [schema]);
    this.#filling.delete(holder);
    return { value };
  }
}

/** The schemas with their references and `allOf` beside them, each once. */
function flat(schemas: Schemas, root: JsonSchema): JsonSchema[] {
  const found = new Set<JsonSchema>();
  const visit = (schema: SchemaNode): void => {
    if (typeof schema === "boolean" || found.has(schema)) return;
    found.add(schema);
    if (schema.$ref !== undefined) visit(resolveRef(root, schema.$ref));
    schemaList(schema.allOf).forEach(visit);
  };
  schemas.forEach(visit);
  return [...found];
}

/** What a schema says of one item or property of its value. */
function childSchemas(part: JsonSchema, key: string | number): Schemas {
  return (typeof key === "number" ? itemSchemas(part, key) : propertySchemas(part, key))
    .filter((schema) => typeof schema === "object");
}

function itemSchemas(part: JsonSchema, index: number): Schemas {
  const first = schemaList(part.prefixItems)[index];
  return [first ?? part.items ?? part.unevaluatedItems].filter(isSchemaNode);
}

function propertySchemas(part: JsonSchema, key: string): Schemas {
  const named = isRecord(part.properties) && Object.hasOwn(part.properties, key)
    ? [part.properties[key]]
    : [];
  const matching = schemaEntries(part.patternProperties).filter(([pattern]) =>
    new RegExp(pattern, "u").test(key)
  );
  const own = [...named, ...matching.map(([, schema]) => schema)].filter(isSchemaNode);
  return own.length > 0
    ? own
    : [part.additionalProperties ?? part.unevaluatedProperties].filter(isSchemaNode);
}
