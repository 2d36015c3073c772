import type { JsonSchema } from "../core/gadget.ts";
import { isWithin, schemaAt, valueAt, WRAPPERS } from "../schema/failure_place.ts";
import type { PlacedFailure } from "../schema/failure_place.ts";
import { toPointer } from "../schema/issue.ts";
import { hasFixedValues, schemaEntries } from "../schema/schema_node.ts";
import { failureText } from "./failure_text.ts";
import { choiceFault, typeFault } from "./fault.ts";
import type { Fault } from "./fault.ts";
import { likeliestFaults } from "./likeliest_faults.ts";

/** The value that was checked, and the prepared schema. */
export interface Subject {
  readonly value: unknown;
  readonly root: JsonSchema;
}

/** What the validator's failures mean, in their order. */
export function failureFaults(failures: readonly PlacedFailure[], subject: Subject): readonly Fault[] {
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
