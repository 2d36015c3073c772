import { decodeSegment } from "../core/json.ts";
import type { JsonSchema } from "../core/gadget.ts";
import type { Failure } from "./json_validator.ts";
import { isSchemaNode, resolveRef } from "./schema_node.ts";
import type { SchemaNode } from "./schema_node.ts";

/** A failure with its places as paths. */
export interface PlacedFailure {
  readonly keyword: string;
  /** The path of the keyword in the schema, references included as `$ref`. */
  readonly at: readonly string[];
  /** The path in the value. */
  readonly where: readonly string[];
  readonly error: string;
}

/** These failures only say that something inside them failed. */
export const WRAPPERS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "additionalProperties",
  "unevaluatedProperties",
  "prefixItems",
  "items",
  "unevaluatedItems",
  "$ref",
  "allOf",
  "if",
  "dependentSchemas",
]);

/**
 * The failures with paths. What a schema `false` refuses gets the keyword that holds this schema:
 * `false:additionalProperties`.
 */
export function placed(failures: readonly Failure[]): readonly PlacedFailure[] {
  const out: PlacedFailure[] = [];
  for (const { keyword, keywordLocation, instanceLocation, error } of failures) {
    const where = pathOf(instanceLocation);
    const before = out.at(-1);
    // The validator gives such a failure the place in the value twice; the one before it is the keyword's
    // own.
    if (keyword !== "false" || before === undefined) {
      out.push({ keyword, at: pathOf(keywordLocation), where, error });
    } else out.push({ keyword: `false:${before.keyword}`, at: [...before.at, "false"], where, error });
  }
  return out;
}

/** The part of a prepared schema a path leads to. */
export function schemaAt(root: JsonSchema, path: readonly string[]): JsonSchema {
  let node: unknown = root;
  for (const key of path) {
    const holder: object = typeof node === "object" && node !== null ? node : {};
    const next: unknown = Object.hasOwn(holder, key) ? Reflect.get(holder, key) : undefined;
    node = key === "$ref" && typeof next === "string" ? resolveRef(root, next) : next;
  }
  return objectSchema(isSchemaNode(node) ? node : true);
}

/** The part of a value a path leads to. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let node = value;
  for (const key of path) {
    node = typeof node === "object" && node !== null && Object.hasOwn(node, key)
      ? Reflect.get(node, key)
      : undefined;
  }
  return node;
}

/** True when `path` begins with `prefix`. */
export function isWithin(prefix: readonly string[], path: readonly string[]): boolean {
  return prefix.length <= path.length && prefix.every((key, index) => key === path[index]);
}

function objectSchema(node: SchemaNode): JsonSchema {
  return typeof node === "boolean" ? {} : node;
}

function pathOf(location: string): readonly string[] {
  return location.split("/").slice(1)
    .map((part) => decodeSegment(decodeURIComponent(part)));
}
