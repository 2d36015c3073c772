// A Standard Schema is opaque: without its JSON Schema, what type an argument's text should have can only be
// found out by trying. Every leaf has a list of readings; as long as the library finds something wrong at a
// leaf, its next reading is tried.

import { mapChildren, TextValue, trimBlanks, untypedValue } from "./text_value.ts";
import type { StandardIssue, StandardSchema } from "../core/gadget.ts";
import { messageOf } from "../core/source_error.ts";
import { coerce } from "./coerce.ts";
import { valueAt } from "./failure_place.ts";
import { shown, toPointer } from "./issue.ts";
import type { Checked, Issue } from "./issue.ts";
import { readJsonText } from "./json_text.ts";
import { numberOf } from "./leaf_value.ts";
import { prepareSchema } from "./prepare_schema.ts";
import { jsonSchemaOf } from "../core/gadget.ts";

/**
 * Types the leaves of a tree by a Standard Schema and checks them; a promise only when the library gives one.
 */
export function validateStandard(schema: StandardSchema, tree: unknown): Checked | Promise<Checked> {
  const json = jsonSchemaOf(schema);
  if (json === undefined || "broken" in prepareSchema(json)) return tryReadings(schema, new Readings(tree));
  const value = coerce(tree, json);
  return then(validate(schema, value), (result) => checkedOf(result, value));
}

type Path = readonly string[];

interface Leaf {
  readonly path: Path;
  readonly readings: readonly unknown[];
  chosen: number;
}

/** A tree whose text leaves can be read in several ways. */
class Readings {
  readonly leaves: Leaf[] = [];
  readonly #tree: unknown;

  constructor(tree: unknown) {
    this.#tree = tree;
    this.#collect(tree, []);
  }

  value(): unknown {
    const chosen = this.leaves.values();
    const build = (node: unknown): unknown => {
      if (node instanceof TextValue) {
        const leaf = chosen.next().value;
        return leaf?.readings[leaf.chosen];
      }
      return typeof node === "object" && node !== null ? mapChildren(node, build) : node;
    };
    return build(this.#tree);
  }

  /** Goes on to the next reading of each leaf an issue is about; false when there is none left. */
  advance(issues: readonly StandardIssue[]): boolean {
    const places = new Places(issues.map(pathOf));
    const wrong = this.leaves.filter((leaf) =>
      (places.isAtOrAbove(leaf.path) || places.isBelow(leaf.path)) && leaf.chosen < leaf.readings.length - 1
    );
    for (const leaf of wrong) leaf.chosen++;
    return wrong.length > 0;
  }

  /**
   * Takes the leaves that are wrong in every reading back to their first one, which gives the clearest issue.
   */
  giveUpOn(issues: readonly StandardIssue[]): boolean {
    const places = new Places(issues.map(pathOf));
    // One that was rightly read as JSON, and only parts of it are wrong, stays so.
    const wrong = this.leaves.filter((leaf) => leaf.chosen > 0 && places.isAtOrAbove(leaf.path));
    for (const leaf of wrong) leaf.chosen = 0;
    return wrong.length > 0;
  }

  #collect(node: unknown, path: Path): void {
    if (node instanceof TextValue) this.leaves.push({ path, readings: readingsOf(node.text), chosen: 0 });
    else if (typeof node === "object" && node !== null) {
      for (const [key, child] of Object.entries(node)) this.#collect(child, [...path, key]);
    }
  }
}

function tryReadings(schema: StandardSchema, readings: Readings): Checked | Promise<Checked> {
  const value = readings.value();
  return then(validate(schema, value), (result) => {
    if (result.issues === undefined) return { ok: true, value: result.value };
    if (readings.advance(result.issues)) return tryReadings(schema, readings);
    if (!readings.giveUpOn(result.issues)) return checkedOf(result, value);
    const last = readings.value();
    return then(validate(schema, last), (again) => checkedOf(again, last));
  });
}

/** Without a schema's word, then as text, then as everything a schema could have made of it. */
function readingsOf(text: string): readonly unknown[] {
  const word = trimBlanks(text);
  const readings: unknown[] = [untypedValue(text), text];
  const number = numberOf(text);
  if (number !== undefined) readings.push(number);
  if (word === "null") readings.push(null);
  const json = readJsonText(text);
  if ("value" in json) readings.push(json.value);
  return [...new Set(readings)];
}

/** Where issues are. There may be as many as leaves, so none is compared with all leaves. */
class Places {
  readonly #paths: ReadonlySet<string>;
  readonly #above: ReadonlySet<string>;

  constructor(paths: readonly Path[]) {
    this.#paths = new Set(paths.map((path) => JSON.stringify(path)));
    this.#above = new Set(paths.flatMap((path) => beginnings(path)));
  }

  /** At the leaf, or at something that holds it, such as a union. */
  isAtOrAbove(leaf: Path): boolean {
    return beginnings(leaf).some((path) => this.#paths.has(path));
  }

  /** Inside of the leaf, which was read as JSON. */
  isBelow(leaf: Path): boolean {
    return this.#above.has(JSON.stringify(leaf));
  }
}

function beginnings(path: Path): readonly string[] {
  return [...path, ""].map((_, length) => JSON.stringify(path.slice(0, length)));
}

type Result =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

function validate(schema: StandardSchema, value: unknown): Result | Promise<Result> {
  try {
    const result = schema["~standard"].validate(value);
    return result instanceof Promise ? result.catch(thrown) : result;
  } catch (error) {
    return thrown(error);
  }
}

function thrown(error: unknown): Result {
  return {
    issues: [{ message: `The gadget's schema is broken: it threw ${JSON.stringify(messageOf(error))}` }],
  };
}

function checkedOf(result: Result, value: unknown): Checked {
  if (result.issues === undefined) return { ok: true, value: result.value };
  const issues = new Map<string, Issue>();
  for (const issue of result.issues) {
    const path = pathOf(issue);
    const told = { pointer: toPointer(path), message: messageWithFound(issue.message, path, value) };
    issues.set(`${told.pointer}\n${told.message}`, told);
  }
  return { ok: false, issues: [...issues.values()] };
}

/** The library's own words, since they may be the author's, with what was found when that is short. */
function messageWithFound(message: string, path: Path, value: unknown): string {
  if (path.length === 0) return message;
  const found = valueAt(value, path);
  if (found === undefined) return `missing (${message})`;
  const words = shown(found);
  return typeof found === "object" || message.includes(words) ? message : `${message} (found ${words})`;
}

function pathOf({ path = [] }: StandardIssue): Path {
  return path.map((part) => String(typeof part === "object" ? part.key : part));
}

function then<T, U>(value: T | Promise<T>, next: (value: T) => U | Promise<U>): U | Promise<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
