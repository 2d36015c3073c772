// A form for what a JSON Schema describes, as data, and the way back: from the texts of a form to the value.

import {
  decodeSegment,
  encodeSegment,
  isJsonObject,
  isRecord,
  type Json,
  type JsonObject,
  messageOf,
  objectOrEmpty,
  parseJson,
} from "../../core/core.ts";
import { undecided } from "../../schema/text_value.ts";
import { validateInput } from "../../schema/validate.ts";

/** A field of a form. */
export type FormField = {
  /** A JSON pointer: `/options/depth`. */
  readonly pointer: string;
  readonly label: string;
  readonly description: string;
  /** The type in a word or two: `text`, `number`, `true or false`. */
  readonly type: string;
  readonly isRequired: boolean;
  /** As the field takes it; empty where there is none. */
  readonly default: string;
} & FieldShape;

/** How a field is filled in. */
export type FieldShape =
  | { readonly kind: "text"; readonly isLong: boolean }
  | { readonly kind: "number"; readonly isInteger: boolean; readonly min?: number; readonly max?: number }
  | { readonly kind: "choice"; readonly choices: readonly string[] }
  /** Texts or numbers, one a line. */
  | { readonly kind: "lines" }
  | { readonly kind: "json" }
  | { readonly kind: "group"; readonly fields: readonly FormField[] };

/** Deeper objects are written as JSON. */
const MOST_DEPTH = 3;

/** The fields of an object's schema; undefined where no form can be made of it, only JSON be written. */
export function formFields(schema: JsonObject): readonly FormField[] | undefined {
  return isPlainObject(schema) ? fieldsOf(schema, { at: "", depth: 1, isNeeded: true }) : undefined;
}

function isPlainObject(schema: JsonObject): boolean {
  return isJsonObject(schema.properties ?? null) &&
    !["anyOf", "oneOf", "allOf", "$ref", "not", "if"].some((key) => key in schema);
}

interface SchemaPlace {
  /** The pointer of the object. */
  readonly at: string;
  readonly depth: number;
  /** False for an object that may be left out: then what it needs is told when some of it was given. */
  readonly isNeeded: boolean;
}

function fieldsOf(
  schema: JsonObject,
  { at, depth, isNeeded }: SchemaPlace,
): readonly FormField[] {
  const required = new Set(Array.isArray(schema.required) ? schema.required : []);
  return Object.entries(objectOrEmpty(schema.properties)).map(([name, property]) => {
    const own = objectOrEmpty(property);
    const pointer = `${at}/${encodeSegment(name)}`;
    const isRequired = isNeeded && required.has(name) && own.default === undefined;
    const shape = shapeOf(own, { at: pointer, depth, isNeeded: isRequired });
    return {
      pointer,
      label: typeof own.title === "string" ? own.title : name,
      description: typeof own.description === "string" ? own.description : "",
      type: typeWords(own, shape),
      isRequired,
      default: defaultText(own.default, shape),
      ...shape,
    };
  });
}

function shapeOf(schema: JsonObject, place: SchemaPlace): FieldShape {
  const choices = choicesOf(schema);
  if (choices !== undefined) return { kind: "choice", choices };
  switch (typeOf(schema)) {
    case "string":
      return { kind: "text", isLong: isLong(schema) };
    case "number":
    case "integer":
      return {
        kind: "number",
        isInteger: typeOf(schema) === "integer",
        ...(typeof schema.minimum === "number" && { min: schema.minimum }),
        ...(typeof schema.maximum === "number" && { max: schema.maximum }),
      };
    case "boolean":
      return { kind: "choice", choices: ["true", "false"] };
    case "array":
      return { kind: isLeafList(schema) ? "lines" : "json" };
    case "object":
      return place.depth < MOST_DEPTH && isPlainObject(schema)
        ? { kind: "group", fields: fieldsOf(schema, { ...place, depth: place.depth + 1 }) }
        : { kind: "json" };
    default:
      return { kind: "json" };
  }
}

/** The one type besides null; undefined where there are several. */
function typeOf({ type, anyOf, oneOf, $ref }: JsonObject): string | undefined {
  if (anyOf !== undefined || oneOf !== undefined || $ref !== undefined) return undefined;
  const types = (Array.isArray(type) ? type : [type]).filter((each) => each !== "null");
  const [only] = types;
  return types.length === 1 && typeof only === "string" ? only : undefined;
}

/** A choice is a text, as are the values of a form: where numbers or the like are to be chosen, JSON has to be written. */
function choicesOf({ enum: values }: JsonObject): readonly string[] | undefined {
  if (!Array.isArray(values)) return undefined;
  const texts = values.filter((value) => typeof value === "string");
  return texts.length === values.length && !texts.includes("") ? texts : undefined;
}

/** A text of one line is short by its format, its pattern or its length. */
function isLong({ format, pattern, maxLength }: JsonObject): boolean {
  return format === undefined && pattern === undefined &&
    !(typeof maxLength === "number" && maxLength <= 120);
}

function isLeafList({ items }: JsonObject): boolean {
  const type = typeOf(objectOrEmpty(items));
  return type === "string" || type === "number" || type === "integer";
}

function typeWords(schema: JsonObject, { kind }: FieldShape): string {
  const type = typeOf(schema);
  if (kind === "choice") return type === "boolean" ? "true or false" : "one of these";
  if (kind === "lines") return "one a line";
  if (kind === "json") return "JSON";
  return type === "string" ? "text" : type ?? "";
}

function defaultText(value: Json | undefined, { kind }: FieldShape): string {
  if (value === undefined || value === null) return "";
  if (kind === "lines" && Array.isArray(value)) return value.map(String).join("\n");
  return typeof value === "string" && kind !== "json" ? value : JSON.stringify(value);
}

/** Something wrong with what was filled in. */
export type FieldProblem = { readonly pointer: string; readonly message: string };

/** A value, or what is wrong, by field. */
export type FilledForm = { readonly value: JsonObject } | { readonly problems: readonly FieldProblem[] };

/** The value that the texts of a form stand for, checked by the schema. @param texts by pointer; what is empty is not given */
export async function filledForm(
  schema: JsonObject,
  texts: Readonly<Record<string, string>>,
): Promise<FilledForm> {
  const problems: FieldProblem[] = [];
  const tree = treeOf(formFields(schema) ?? [], { texts, problems });
  if (problems.length > 0) return { problems };
  return await fitted(schema, tree);
}

/** The same of a JSON text. */
export async function filledJson(schema: JsonObject, text: string): Promise<FilledForm> {
  const wrong = (message: string) => ({ problems: [{ pointer: "", message }] });
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    return wrong(`expected a JSON object: ${messageOf(error)}`);
  }
  return isRecord(value) ? await fitted(schema, value) : wrong("expected a JSON object");
}

async function fitted(schema: JsonObject, tree: Readonly<Record<string, unknown>>): Promise<FilledForm> {
  const result = await validateInput(schema, tree);
  if (!result.ok) {
    return {
      problems: result.issues.map(({ pointer, message }) => ({
        pointer: pointer === "" ? "" : `/${pointer}`,
        message,
      })),
    };
  }
  const value: Json = JSON.parse(JSON.stringify(result.value ?? null));
  return isJsonObject(value) ? { value } : { problems: [{ pointer: "", message: "expected an object" }] };
}

interface TreeOptions {
  readonly texts: Readonly<Record<string, string>>;
  readonly problems: FieldProblem[];
}

/** Leaves are texts that the schema types: nobody has said whether `5` is a number. */
function treeOf(fields: readonly FormField[], options: TreeOptions): Readonly<Record<string, unknown>> {
  const entries = fields.flatMap((field): [string, unknown][] => {
    const value = valueOf(field, options);
    const { pointer } = field;
    return value === undefined ? [] : [[decodeSegment(pointer.slice(pointer.lastIndexOf("/") + 1)), value]];
  });
  return Object.fromEntries(entries);
}

function valueOf(field: FormField, options: TreeOptions): unknown {
  const { texts, problems } = options;
  const { pointer, kind, isRequired } = field;
  if (kind === "group") {
    const inside = treeOf(field.fields, options);
    return Object.keys(inside).length === 0 && !isRequired ? undefined : inside;
  }
  const text = (texts[pointer] ?? "").replaceAll("\r\n", "\n"); // as forms send the end of a line
  if (text.trim() === "") {
    if (isRequired) problems.push({ pointer, message: "needs a value" });
    return undefined;
  }
  if (kind === "lines") return text.split("\n").filter((line) => line.trim() !== "").map(undecided);
  if (kind !== "json") return undecided(text);
  try {
    return parseJson(text);
  } catch (error) {
    problems.push({ pointer, message: `expected JSON: ${messageOf(error)}` });
    return undefined;
  }
}
