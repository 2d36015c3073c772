import { typeOf } from "../schema/failure_words.ts";
import type { JsonSchema } from "../core/gadget.ts";

/** Where a keyword failed. */
export interface FailedKeyword {
  /** The part of the prepared schema that has it. */
  readonly schema: JsonSchema;
  readonly root: JsonSchema;
  /** What the validator said. */
  readonly error: string;
}

/** What a failed keyword wants; for keywords that speak of one value. */
export function failureText(keyword: string, { schema, root, error }: FailedKeyword): string {
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
