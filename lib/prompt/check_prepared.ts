import type { JsonSchema, ParseIssue } from "../core/core.ts";
import { fillDefaults } from "../schema/coerce.ts";
import {
  countOf,
  FailureReading,
  type Fault,
  type FaultWords,
  missingNames,
  placed,
  schemaAt,
  twinsIn,
  typeOf,
  valueAt,
} from "../schema/failure.ts";
import { JsonValidator } from "../schema/json_validator.ts";
import { hasFixedValues, schemaEntries } from "../schema/schema_node.ts";
import { measure } from "../schema/text_value.ts";
import { type CheckedValue, prepareAnyType } from "./check_value.ts";

/** Checks a JSON value by a JSON Schema. */
export function checkJson(schema: JsonSchema, value: unknown): CheckedValue {
  const { size, problem } = measure(value);
  if (problem !== undefined) return { issues: [{ path: [], message: `cannot be read: ${problem}` }] };
  const prepared = prepareAnyType(schema);
  if ("broken" in prepared) {
    return { issues: [{ path: [], message: `cannot be checked: the schema is broken${prepared.broken}` }] };
  }
  try {
    const validator = new JsonValidator(prepared, { size });
    const whole = prepared.hasDefaults ? fillDefaults(value, validator) : value;
    const failures = placed(validator.failuresOf(whole));
    if (failures.length === 0) return { value: whole };
    const tree = new IssueTree();
    const reading = new FailureReading(faultWords(whole, prepared.root));
    for (const fault of reading.faults(failures)) tree.add(fault);
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

  add({ where, keyword, message }: IssueFault): void {
    let place = this.#root;
    for (const key of where) place = place.child(key);
    place.messages.add(message);
    if (keyword === "required") place.rank = 0;
    else if (keyword === "unknown") place.rank = 1;
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

/** The words of prompts.md for failures. */
function faultWords(value: unknown, root: JsonSchema): FaultWords<IssueFault> {
  return {
    several: ({ where }, matches) => ({
      where,
      keyword: "several",
      message: `must match exactly one of the alternatives, not ${matches}`,
    }),
    combined: ({ where }, faults) => combinedFault(where, faults),
    faultsOf({ keyword, where, at, error }, inside, reading) {
      const schema = schemaAt(root, at.slice(0, -1));
      switch (keyword) {
        case "required":
        case "dependentRequired": {
          const known = new Map(schemaEntries(schema.properties));
          return missingNames(keyword, schema, valueAt(value, where)).map(({ name }) => ({
            where: [...where, name],
            keyword: "required",
            isTag: hasFixedValues(known.get(name) ?? true),
            message: "is required",
          }));
        }
        case "propertyNames":
          return reading.faults(inside).map(({ where, message }) => ({
            where,
            keyword,
            message: `is not allowed as a name: ${message}`,
          }));
        case "type":
          return [typeFault(where, [schema.type].flat())];
        case "enum":
          return [choiceFault(where, [schema.enum].flat())];
        case "const":
          return [{
            where,
            keyword,
            values: [schema.const],
            message: `must be ${JSON.stringify(schema.const)}`,
          }];
        default:
          return keyword.startsWith("false:")
            ? [{ where, keyword: "unknown", message: "is not allowed" }]
            : [{ where, keyword, message: failureText(keyword, { schema, root, error }) }];
      }
    },
  };
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
  const say = WANTED[keyword];
  if (say !== undefined) return `${say} ${wanted}`;
  const [, extreme, part] = /^(min|max)(Length|Items|Properties|Contains)$/.exec(keyword) ?? [];
  const most = extreme === "min" ? "must have at least" : "must have at most";
  switch (part ?? keyword) {
    case "Contains":
      return `${most} ${wanted} items that are ${typeOf(schema.contains, root)}`;
    case "Length":
      return `${most} ${countOf(wanted, "character")}`;
    case "Items":
      return `${most} ${countOf(wanted, "item")}`;
    case "Properties":
      return `${most} ${countOf(wanted, "property")}`;
    case "uniqueItems": {
      const twins = twinsIn(error);
      return `must not have the same item twice${twins === undefined ? "" : ` (${twins})`}`;
    }
    case "not":
      return `must not be ${typeOf(wanted, root)}`;
    case "contains":
      return `must have an item that is ${typeOf(wanted, root)}`;
    default:
      return `cannot be checked: ${error}`;
  }
}

const WANTED: Readonly<Record<string, string>> = {
  minimum: "must be >=",
  maximum: "must be <=",
  exclusiveMinimum: "must be >",
  exclusiveMaximum: "must be <",
  multipleOf: "must be a multiple of",
  pattern: "must match the pattern",
  format: "must be text in the format",
};

interface IssueFault extends Fault {
  readonly message: string;
  /** Of `type`, `enum` and `const`: what would be right. */
  readonly values?: readonly unknown[];
}

/** The value at a place is of another type. */
function typeFault(where: readonly string[], values: readonly unknown[]): IssueFault {
  return { where, keyword: "type", values, message: `must be ${values.join(",")}` };
}

/** The value at a place is none of those that are listed. */
function choiceFault(where: readonly string[], values: readonly unknown[]): IssueFault {
  return { where, keyword: "enum", values, message: `must be one of ${listText(values)}` };
}

/** None of some alternatives takes the value, each because of its type or its fixed values, or since one is missing. */
function combinedFault(where: readonly string[], faults: readonly IssueFault[]): IssueFault {
  const [first] = faults;
  if (first?.keyword === "required") return first;
  const valuesOf = (isType: boolean) =>
    unique(faults.flatMap(({ keyword, values = [] }) => (keyword === "type") === isType ? values : []));
  const [types, choices] = [valuesOf(true), valuesOf(false)];
  if (choices.length === 0 && types.length > 0) return typeFault(where, types);
  if (types.length === 0 && choices.length > 0) return choiceFault(where, choices);
  const message = types.length === 0
    ? "must match one of the alternatives"
    : `must be ${types.join(",")} or one of ${listText(choices)}`;
  return { where, keyword: "several", message };
}

function listText(choices: readonly unknown[]): string {
  return choices.map((choice) => JSON.stringify(choice)).join(", ");
}

function unique(values: readonly unknown[]): readonly unknown[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
