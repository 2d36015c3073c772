import type { JsonSchema } from "../core/gadget.ts";
import type { ParseIssue } from "../core/prompt_error.ts";
import { fillDefaults } from "../schema/coerce.ts";
import {
  isWithin,
  placed,
  type PlacedFailure,
  schemaAt,
  typeOf,
  valueAt,
  WRAPPERS,
} from "../schema/failure.ts";
import { toPointer } from "../schema/issue.ts";
import { JsonValidator } from "../schema/json_validator.ts";
import type { PreparedSchema } from "../schema/prepare_schema.ts";
import { hasFixedValues, schemaEntries } from "../schema/schema_node.ts";
import type { CheckedValue } from "./check_value.ts";

/** Checks a JSON value by a prepared schema. `size`: of the value, as measured. */
export function checkPrepared(
  prepared: PreparedSchema,
  { value, size }: { readonly value: unknown; readonly size: number },
): CheckedValue {
  try {
    const validator = new JsonValidator(prepared, { size });
    const whole = prepared.hasDefaults ? fillDefaults(value, validator) : value;
    const failures = placed(validator.failuresOf(whole));
    if (failures.length === 0) return { value: whole };
    const tree = new IssueTree();
    for (const fault of failureFaults(failures, { value: whole, root: prepared.root })) tree.add(fault);
    return { issues: tree.issues(whole) };
  } catch (error) {
    if (error instanceof RangeError) return { issues: [TOO_DEEP] };
    throw error;
  }
}

const TOO_DEEP: ParseIssue = { path: [], message: "cannot be checked: nested too deep" };

/**
 * Puts faults in the order in which they are read best: an object before its parts, and of these first the missing ones, then those
 * that are not allowed, then the others as they came. What is said twice of a place is told once.
 */
class IssueTree {
  readonly #root = new Place();

  add({ where, kind, message }: Fault): void {
    let place = this.#root;
    for (const key of where) place = place.child(key);
    place.messages.add(message);
    if (kind === "missing") place.rank = 0;
    else if (kind === "unknown") place.rank = 1;
  }

  /** With paths that tell indexes of `value`'s arrays from names. */
  issues(value: unknown): readonly ParseIssue[] {
    const issues: ParseIssue[] = [];
    this.#root.tell(value, { path: [], issues });
    return issues;
  }
}

class Place {
  readonly messages = new Set<string>();
  readonly #children = new Map<string, Place>();
  rank: 0 | 1 | 2 = 2;

  child(key: string): Place {
    const found = this.#children.get(key) ?? new Place();
    this.#children.set(key, found);
    return found;
  }

  tell(
    value: unknown,
    { path, issues }: { readonly path: ParseIssue["path"]; readonly issues: ParseIssue[] },
  ): void {
    for (const message of this.messages) issues.push({ path, message });
    const children = [...this.#children].sort(([, a], [, b]) => a.rank - b.rank);
    for (const [key, place] of children) {
      const inside: unknown = Object.hasOwn(Object(value), key) ? Reflect.get(Object(value), key) : undefined;
      place.tell(inside, { path: [...path, Array.isArray(value) ? Number(key) : key], issues });
    }
  }
}

/** The value that was checked, and the prepared schema. */
interface Subject {
  readonly value: unknown;
  readonly root: JsonSchema;
}

/** What the validator's failures mean, in their order. */
function failureFaults(failures: readonly PlacedFailure[], subject: Subject): readonly Fault[] {
  const faults: Fault[] = [];
  for (let index = 0, next = 0; index < failures.length; index = next) {
    next = index + 1;
    const failure = failures[index];
    if (failure === undefined || WRAPPERS.has(failure.keyword) || isOfOneItem(failure)) continue;
    if (HOLDERS.has(failure.keyword)) next = endOfInside(failures, index);
    const inside = failures.slice(index + 1, next);
    for (const fault of faultsOf(failure, { ...subject, inside })) faults.push(fault);
  }
  const fixed = new Set(faults.filter(({ kind }) => kind === "choice").map(({ where }) => toPointer(where)));
  return faults.filter(({ kind, where }) => kind !== "type" || !fixed.has(toPointer(where)));
}

/** These explain the failures that came from inside them. */
const HOLDERS: ReadonlySet<string> = new Set(["anyOf", "oneOf", "contains", "propertyNames", "not"]);

function endOfInside(failures: readonly PlacedFailure[], index: number): number {
  const holder = failures[index]?.at ?? [];
  let end = index + 1;
  for (let next = failures[end]; next !== undefined && isWithin(holder, next.at); next = failures[end]) end++;
  return end;
}

/** An item that is not what `contains` looks for: that alone is no error. */
function isOfOneItem({ at }: PlacedFailure): boolean {
  return at.some((key, index) =>
    key === "contains" && index < at.length - 1 && !NAME_MAPS.has(at[index - 1] ?? "")
  );
}

const NAME_MAPS: ReadonlySet<string> = new Set(["properties", "patternProperties", "dependentSchemas"]);

interface Inside extends Subject {
  readonly inside: readonly PlacedFailure[];
}

function faultsOf(failure: PlacedFailure, { value, root, inside }: Inside): readonly Fault[] {
  const { keyword, where, at, error } = failure;
  const schema = schemaAt(root, at.slice(0, -1));
  const other = (message: string): readonly Fault[] => [{ where, kind: "other", message }];
  switch (keyword) {
    case "anyOf":
    case "oneOf":
      return unionFaults(failure, { value, root, inside });
    case "required":
      return missingFaults(where, { names: namesOf(schema.required), value, schema });
    case "dependentRequired":
      return missingFaults(where, { names: dependentNames(schema, valueAt(value, where)), value, schema });
    case "propertyNames":
      return failureFaults(inside, { value, root }).map(({ where, message }) => ({
        where,
        kind: "other",
        message: `is not allowed as a name: ${message}`,
      }));
    case "type":
      return [typeFault(where, listOf(schema.type))];
    case "enum":
      return [choiceFault(where, listOf(schema.enum))];
    case "const":
      return [{
        where,
        kind: "choice",
        choices: [schema.const],
        message: `must be ${JSON.stringify(schema.const)}`,
      }];
    default:
      return keyword.startsWith("false:")
        ? [{ where, kind: "unknown", message: "is not allowed" }]
        : other(failureText(keyword, { schema, root, error }));
  }
}

function unionFaults({ where, at, error }: PlacedFailure, { inside, ...subject }: Inside): readonly Fault[] {
  const matches = Number(/\(([0-9]+) matches\)/.exec(error)?.[1] ?? 0);
  if (matches > 1) {
    return [{ where, kind: "other", message: `must match exactly one of the alternatives, not ${matches}` }];
  }
  const branches = [...Map.groupBy(inside, (each) => each.at[at.length] ?? "").values()];
  const faults = branches.map((branch) => failureFaults(branch, subject));
  return likeliestFaults(faults.filter(({ length }) => length > 0), where);
}

function missingFaults(
  where: readonly string[],
  { names, value, schema }: {
    readonly names: readonly string[];
    readonly value: unknown;
    readonly schema: JsonSchema;
  },
): readonly Fault[] {
  const object: object = Object(valueAt(value, where));
  const known = new Map(schemaEntries(schema.properties));
  return names.filter((name) => !Object.hasOwn(object, name)).map((name) => ({
    where: [...where, name],
    kind: "missing",
    isTag: hasFixedValues(known.get(name) ?? true),
    message: "is required",
  }));
}

function dependentNames({ dependentRequired }: JsonSchema, value: unknown): readonly string[] {
  return Object.entries(Object(dependentRequired)).flatMap(([key, names]) =>
    Object.hasOwn(Object(value), key) ? namesOf(names) : []
  );
}

function namesOf(names: unknown): readonly string[] {
  return listOf(names).filter((name) => typeof name === "string");
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

/**
 * What is wrong with the alternative that was most likely meant: the one of the right type, then the one whose fixed values are there,
 * then the one with the fewest faults. `branches`: the faults of each alternative, none of them empty; `where`: the place of the union.
 */
function likeliestFaults(
  branches: readonly (readonly Fault[])[],
  where: readonly string[],
): readonly Fault[] {
  const ofType = branches.filter((faults) => !faults.some((fault) => isOfValue(fault, where)));
  if (ofType.length === 0) {
    return [combinedFault(where, branches.flat().filter((fault) => isOfValue(fault, where)))];
  }
  const tagged = ofType.filter((faults) => !faults.some((fault) => isOfTag(fault, where)));
  if (tagged.length === 0) return tagFaults(ofType, where);
  return tagged.reduce((best, faults) => faults.length < best.length ? faults : best);
}

/** No alternative has the tag that is there: what the tag may be is all that can be said. */
function tagFaults(branches: readonly (readonly Fault[])[], where: readonly string[]): readonly Fault[] {
  const tags = branches.flatMap((faults) => faults.filter((fault) => isOfTag(fault, where)));
  const [first] = tags;
  if (first === undefined || first.kind === "missing") return first === undefined ? [] : [first];
  const same = tags.filter((fault) => fault.where.at(-1) === first.where.at(-1));
  return [combinedFault(first.where, same)];
}

/** The value itself is of another type, or another one. */
function isOfValue({ kind, where }: Fault, place: readonly string[]): boolean {
  return (kind === "type" || kind === "choice") && where.length === place.length;
}

/** A fixed value right below is another one, or missing. */
function isOfTag(fault: Fault, place: readonly string[]): boolean {
  const isTag = fault.kind === "choice" || (fault.kind === "missing" && fault.isTag);
  return isTag && fault.where.length === place.length + 1;
}

/** Where a keyword failed. */
interface FailedKeyword {
  /** The part of the prepared schema that has it. */
  readonly schema: JsonSchema;
  readonly root: JsonSchema;
  /** What the validator said. */
  readonly error: string;
}

/** What a failed keyword wants; for keywords that speak of one value. */
function failureText(keyword: string, { schema, root, error }: FailedKeyword): string {
  const wanted = schema[keyword];
  switch (keyword) {
    case "minimum":
      return `must be >= ${wanted}`;
    case "maximum":
      return `must be <= ${wanted}`;
    case "exclusiveMinimum":
      return `must be > ${wanted}`;
    case "exclusiveMaximum":
      return `must be < ${wanted}`;
    case "multipleOf":
      return `must be a multiple of ${wanted}`;
    case "minLength":
    case "minItems":
    case "minProperties":
      return `must have at least ${counted(keyword, wanted)}`;
    case "maxLength":
    case "maxItems":
    case "maxProperties":
      return `must have at most ${counted(keyword, wanted)}`;
    case "pattern":
      return `must match the pattern ${wanted}`;
    case "format":
      return `must be text in the format ${wanted}`;
    case "uniqueItems":
      return `must not have the same item twice${twins(error)}`;
    case "not":
      return `must not be ${typeOf(wanted, root)}`;
    case "contains":
      return `must have an item that is ${typeOf(wanted, root)}`;
    case "minContains":
      return `must have at least ${wanted} items that are ${typeOf(schema.contains, root)}`;
    case "maxContains":
      return `must have at most ${wanted} items that are ${typeOf(schema.contains, root)}`;
    default:
      return `cannot be checked: ${error}`;
  }
}

const NOUNS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  Length: ["character", "characters"],
  Items: ["item", "items"],
  Properties: ["property", "properties"],
};

function counted(keyword: string, wanted: unknown): string {
  const [one = "", many = ""] = NOUNS[keyword.slice(3)] ?? [];
  return `${wanted} ${wanted === 1 ? one : many}`;
}

function twins(error: string): string {
  const [, first, second] = /indexes ([0-9]+) and ([0-9]+)/.exec(error) ?? [];
  return second === undefined ? "" : ` (${first} and ${second})`;
}

/** Something wrong at a place of a JSON value. */
type Fault =
  & {
    readonly where: readonly string[];
    readonly message: string;
  }
  & (
    | { readonly kind: "type"; readonly types: readonly unknown[] }
    | { readonly kind: "choice"; readonly choices: readonly unknown[] }
    /** `isTag`: its schema lists its values, so that it tells the alternatives of a union apart. */
    | { readonly kind: "missing"; readonly isTag: boolean }
    | { readonly kind: "unknown" }
    | { readonly kind: "other" }
  );

/** The value at a place is of another type. */
function typeFault(where: readonly string[], types: readonly unknown[]): Fault {
  return { where, kind: "type", types, message: `must be ${types.join(",")}` };
}

/** The value at a place is none of those that are listed. */
function choiceFault(where: readonly string[], choices: readonly unknown[]): Fault {
  return { where, kind: "choice", choices, message: `must be one of ${listText(choices)}` };
}

/** None of some alternatives takes the value, each because of its type or its fixed values. */
function combinedFault(where: readonly string[], faults: readonly Fault[]): Fault {
  const types = unique(faults.flatMap((fault) => fault.kind === "type" ? fault.types : []));
  const choices = unique(faults.flatMap((fault) => fault.kind === "choice" ? fault.choices : []));
  if (choices.length === 0 && types.length > 0) return typeFault(where, types);
  if (types.length === 0 && choices.length > 0) return choiceFault(where, choices);
  const message = types.length === 0
    ? "must match one of the alternatives"
    : `must be ${types.join(",")} or one of ${listText(choices)}`;
  return { where, kind: "other", message };
}

function listText(choices: readonly unknown[]): string {
  return choices.map((choice) => JSON.stringify(choice)).join(", ");
}

function unique(values: readonly unknown[]): readonly unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
