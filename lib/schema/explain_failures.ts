import { type JsonSchema, nearestName } from "../core/core.ts";
import {
  FailureReading,
  type Fault,
  type FaultWords,
  missingNames,
  placed,
  type PlacedFailure,
  schemaAt,
  valueAt,
  wordsFor,
  WRAPPERS,
} from "./failure.ts";
import { type Issue, toPointer } from "./issue.ts";
import { type Failure, GAVE_UP } from "./json_validator.ts";
import {
  hasFixedValues,
  isSchemaNode,
  resolveRef,
  schemaEntries,
  schemaList,
  type SchemaNode,
} from "./schema_node.ts";
import { joined, typeText } from "./describe.ts";

/** A list of 100,000 wrong items is explained by its first ones. */
const MAX_FAILURES = 1000;

/**
 * The failures of a value as issues in plain words: without duplicates, in the order in which the value has
 * their places.
 */
export function explainFailures(
  failures: readonly Failure[],
  value: unknown,
  root: JsonSchema,
): readonly Issue[] {
  const reading = new FailureReading(new Explanation(value, root), MAX_PROBLEMS);
  const findings = reading.faults(placed(failures.slice(0, MAX_FAILURES)));
  const issues = new Map<string, Issue>();
  for (const finding of inOrderOf(value, findings)) {
    const issue = { pointer: toPointer(finding.where), message: findingText(finding) };
    issues.set(`${issue.pointer}\n${issue.message}`, issue);
  }
  return [...issues.values()];
}

class Explanation implements FaultWords<Finding> {
  readonly #value: unknown;
  readonly #root: JsonSchema;

  constructor(value: unknown, root: JsonSchema) {
    this.#value = value;
    this.#root = root;
  }

  faultsOf(failure: PlacedFailure, inside: readonly PlacedFailure[]): readonly Finding[] {
    const { keyword, where } = failure;
    const schema = schemaAt(this.#root, failure.at.slice(0, -1));
    switch (keyword) {
      case "required":
      case "dependentRequired":
        return missingFindings(failure, valueAt(this.#value, where), { where, schema, root: this.#root });
      case "propertyNames":
        return this.#badName(inside);
      case "false:additionalProperties":
      case "false:unevaluatedProperties":
        return [
          unknownFinding({ where, schema: schemaAt(this.#root, failure.at.slice(0, -2)), root: this.#root }),
        ];
      case "false:items":
      case "false:unevaluatedItems":
        return [text(failure, `one item too many, expected at most ${where.at(-1)}`)];
      case GAVE_UP:
        return [text(failure, `cannot be checked: ${failure.error}`)];
      default:
        return [
          keyword.startsWith("false:") ? text(failure, "not allowed here") : this.#leaf(failure, schema),
        ];
    }
  }

  several(failure: PlacedFailure, matches: number): Finding {
    return text(failure, `fits ${matches} alternatives, expected exactly one`);
  }

  combined({ where, keyword }: PlacedFailure, findings: readonly Finding[]): Finding {
    const found = findings.find((finding) => finding.found !== undefined)?.found;
    const hint = findings.find((finding) => finding.hint !== undefined)?.hint;
    return { where, keyword, expected: joined(findings.map(({ expected }) => expected)), found, hint };
  }

  among(finding: Finding, alternatives: number): Finding {
    return { ...finding, hint: `${finding.hint ?? ""} (or another of ${alternatives} alternatives)` };
  }

  #leaf(failure: PlacedFailure, schema: JsonSchema, value = valueAt(this.#value, failure.where)): Finding {
    const { keyword, where, error } = failure;
    const words = wordsFor(keyword, { schema, value, root: this.#root, error });
    if (words === undefined) return text(failure, error);
    const near = typeof value === "string" ? nearOne(value, words.near ?? []) : undefined;
    return { where, keyword, expected: words.expected, found: words.found, ...didYouMean(near) };
  }

  #badName(inside: readonly PlacedFailure[]): readonly Finding[] {
    return inside.filter(({ keyword }) => !WRAPPERS.has(keyword)).map((failure) => {
      const schema = schemaAt(this.#root, failure.at.slice(0, -1));
      const { expected } = this.#leaf(failure, schema, failure.where.at(-1));
      return text(failure, `cannot be a name here, expected ${expected || "another name"}`);
    });
  }
}

function text({ where, keyword }: PlacedFailure, text: string): Finding {
  return { where, keyword, expected: "", text };
}

/**
 * An object's place, or for an unknown property the property's, and the schema that has something against it.
 */
interface ObjectPlace {
  readonly where: readonly string[];
  readonly schema: JsonSchema;
  readonly root: JsonSchema;
}

/** The properties that are not there, though they are required, or others call for them. */
function missingFindings(
  { keyword }: PlacedFailure,
  value: unknown,
  { where, schema, root }: ObjectPlace,
): readonly Finding[] {
  const known = new Map(schemaEntries(schema.properties));
  // Where unknown names are errors, these say already what was meant.
  const unknown = schema.additionalProperties === false
    ? []
    : Object.keys(Object(value)).filter((name) => !known.has(name)).slice(0, MAX_PROBLEMS);
  return missingNames(keyword, schema, value).map(({ name, by }) => {
    const finding = { where: [...where, name], keyword: "required" };
    if (by !== undefined) {
      return { ...finding, expected: "anything", text: `missing, expected since "${by}" is given` };
    }
    const near = nearOne(name, unknown);
    const wanted = known.get(name) ?? true;
    const hint = near === undefined ? {} : { hint: `. Is "${near}" meant as "${name}"?` };
    return { ...finding, expected: typeText(wanted, root), isTag: hasFixedValues(wanted), ...hint };
  });
}

/** A property that no schema knows, where only known ones may be. */
function unknownFinding({ where, schema, root }: ObjectPlace): Finding {
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

/** Of one value: what is wrong beyond them is neither looked for nor explained. */
export const MAX_PROBLEMS = 100;

/** Something wrong at a place of a value, not yet a sentence. */
interface Finding extends Fault {
  /** What is said instead of `expected …, found …`. */
  readonly text?: string;
  readonly expected: string;
  /** Absent for what is missing. */
  readonly found?: string;
  /** Added as it is: did you mean. */
  readonly hint?: string;
}

/** The sentence of a finding, without its place. */
function findingText({ where, text, expected, found, hint = "" }: Finding): string {
  if (text !== undefined) return text + hint;
  const wanted = expected === "anything" ? "" : `expected ${expected}`;
  if (found === undefined) return `missing${wanted === "" ? "" : `, ${wanted}`}${hint}`;
  return `${wanted}${howToWrite(expected, found, where)}, found ${found}${hint}`;
}

/**
 * The findings in the order in which the value has their places; what is missing comes after what is there.
 */
function inOrderOf(value: unknown, findings: readonly Finding[]): readonly Finding[] {
  const places = new Map<unknown, ReadonlyMap<string, number>>();
  const rankIn = (holder: unknown, key: string): number | undefined => {
    if (Array.isArray(holder)) return Number(key);
    let ranks = places.get(holder);
    if (ranks === undefined) {
      ranks = new Map(Object.keys(Object(holder)).map((name, rank) => [name, rank]));
      places.set(holder, ranks); // once for each object: there may be as many findings as keys
    }
    return ranks.get(key);
  };
  const ranksOf = (path: readonly string[]): readonly number[] =>
    path.map((key, level) => rankIn(valueAt(value, path.slice(0, level)), key) ?? Number.MAX_SAFE_INTEGER);
  return findings.map((finding) => ({ finding, ranks: ranksOf(finding.where) }))
    .sort((a, b) => compareRanks(a.ranks, b.ranks)).map(({ finding }) => finding);
}

/** The nearest of the names; very short ones are near to everything, so only their case may differ. */
function nearOne(wanted: string, names: readonly string[]): string | undefined {
  const word = wanted.trim();
  const long = names.filter((name) => Math.min(name.length, word.length) > 2);
  return names.find((name) => name.toLowerCase() === word.toLowerCase()) ?? nearestName(word, long);
}

/** The hint of a finding for a name that may have been meant. */
function didYouMean(near: string | undefined): { readonly hint?: string } {
  return near === undefined ? {} : { hint: `. Did you mean "${near}"?` };
}

/** For a text where there should be a boolean, an array or an object: how such a value is written. */
function howToWrite(expected: string, found: string, where: readonly string[]): string {
  if (!found.startsWith('"') && found !== "empty text") return "";
  if (expected === "boolean") return " (true or false)";
  const place = toPointer(where);
  if (/^array\b/.test(expected)) return ` (as JSON, or its items as ${place}/0, ${place}/1)`;
  return expected === "object" ? ` (as JSON, or its parts as ${place}/NAME)` : "";
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
