import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { isRecord, isStandardSchema, type JsonSchema } from "../../core/core.ts";
import { isReference, type PromptFile } from "../../parse/files/prompt.ts";
import type { DotpromptFile } from "../../prompt/dotprompt/dotprompt.ts";
import { partsOf } from "../../prompt/parts.ts";
import { prepareAnyType } from "../../prompt/check_value.ts";
import type { AnyPrompt } from "../../prompt/prompt.ts";
import { tagLists } from "../../prompt/tags.ts";
import { SCHEMA_TYPES } from "../../schema/prepare_schema.ts";
import {
  isSchemaNode,
  resolveRef,
  schemaEntries,
  schemaList,
  type SchemaNode,
} from "../../schema/schema_node.ts";
import type { PromptClaim } from "./claim.ts";
import type { LocatedPrompt } from "./make.ts";

/** The file that the type is for; absolute. */
interface TypePlace {
  readonly from: string;
}

/**
 * The type of a prompt as TypeScript writes it: of a module what that exports, of another file what it says. It may use the types of
 * Orrery, and `TextPrompt` and `PartsOf` of the file it is for.
 */
export function promptTypeText({ prompt, claim }: LocatedPrompt, { from }: TypePlace): string {
  const { exported, source } = claim;
  if (exported !== undefined) return exportType(specifierOf(source.path, { from }), exported);
  if (isDotpromptFile(claim)) return dotpromptType(claim.value);
  return isPromptFile(claim) ? new TextTypes(claim.value, { prompt, claim, from }).whole() : "AnyPrompt";
}

/** The modules that the files of prompts refer to, absolute. */
export function referencedModules({ claim }: LocatedPrompt): readonly string[] {
  if (!isPromptFile(claim)) return [];
  const { format, tools = [] } = claim.value.fields;
  return [format, ...tools].filter(isReference).map((each) => referenceOf(each, claim.source.path).path);
}

function isPromptFile(claim: PromptClaim): claim is PromptClaim & { readonly value: PromptFile } {
  return claim.source.kind === "text" && "fields" in claim.value;
}

/** Whether a prompt is that of a `*.prompt` file. */
export function isDotpromptFile(
  claim: PromptClaim,
): claim is PromptClaim & { readonly value: DotpromptFile } {
  return claim.source.kind === "dotprompt" && "input" in claim.value;
}

function dotpromptType({ body, format, tools, input }: DotpromptFile): string {
  const output = format === null ? "Raw" : jsonSchemaType(format, { values: "checked" });
  const args = input.schema === undefined
    ? "Readonly<Record<string, unknown>>"
    : jsonSchemaType(input.schema, { values: "given", optional: Object.keys(input.default ?? {}) });
  const names = tools.map((tool) => JSON.stringify(tool)).join(", ");
  return `Prompt<${JSON.stringify(body)}, ${output}, readonly [${names}], ${args}>`;
}

/** The parts of the type of a `*.prompt.md` file: what it says itself, else what it inherits. */
class TextTypes {
  readonly #file: PromptFile;
  readonly #prompt: AnyPrompt;
  readonly #path: string;
  readonly #base: string | undefined;
  readonly #from: string;

  constructor(file: PromptFile, { prompt, claim, from }: LocatedPrompt & TypePlace) {
    this.#file = file;
    this.#prompt = prompt;
    this.#path = claim.source.path;
    this.#base = claim.base?.key;
    this.#from = from;
  }

  whole(): string {
    const parts = `${this.#template()}, ${this.#output()}, ${this.#tools()}`;
    const args = this.#inheritedArgs();
    return args === undefined ? `TextPrompt<${parts}>` : `Prompt<${parts}, ${args}>`;
  }

  #template(): string {
    const { body } = this.#file;
    return (body === "" ? this.#inherited("template") : undefined) ?? JSON.stringify(body);
  }

  #output(): string {
    const { tags, format } = this.#file.fields;
    if (tags) {
      const { xmlTags, requiredXmlTags, mdTags, requiredMdTags, signalTags } = tagLists(tags);
      const others = (names: readonly string[], required: readonly string[]) =>
        names.filter((name) => !required.includes(name));
      const lists = [others(xmlTags, requiredXmlTags), requiredXmlTags];
      lists.push(others(mdTags, requiredMdTags), requiredMdTags, signalTags);
      return `TagResult<${lists.map(namesType).join(", ")}>`;
    }
    if (format) return this.#formatOutput(format);
    return tags === null || format === null ? "Raw" : this.#inherited("output") ?? "Raw";
  }

  #formatOutput(format: NonNullable<PromptFile["fields"]["format"]>): string {
    if (typeof format !== "string") return jsonSchemaType(format, { values: "checked" });
    const schema = this.#prompt.format;
    if (schema !== null && !isStandardSchema(schema)) return jsonSchemaType(schema, { values: "checked" });
    return `InputOf<${this.#referenced(format)}>`;
  }

  #tools(): string {
    const { tools } = this.#file.fields;
    if (tools === undefined) return this.#inherited("tools") ?? "readonly []";
    const types = tools.map((tool) => isReference(tool) ? this.#referenced(tool) : JSON.stringify(tool));
    return `readonly [${types.join(", ")}]`;
  }

  /** A renderer that is inherited knows alone what its templates take. */
  #inheritedArgs(): string | undefined {
    const base = this.#inherited("args");
    return base !== undefined && partsOf(this.#prompt).renderer !== null ? base : undefined;
  }

  #inherited(part: "template" | "output" | "tools" | "args"): string | undefined {
    return this.#base === undefined ? undefined : `PartsOf<${JSON.stringify(this.#base)}>["${part}"]`;
  }

  #referenced(reference: string): string {
    const { path, name } = referenceOf(reference, this.#path);
    return exportType(specifierOf(path, { from: this.#from }), name);
  }
}

function referenceOf(reference: string, from: string): { readonly path: string; readonly name: string } {
  const [file = "", name = ""] = reference.split("#");
  return { path: resolve(dirname(from), file), name };
}

// A JSON Schema as a type of TypeScript. What has no counterpart there, such as a pattern or a recursive reference, is left out: the type
// then takes more than the schema does.

/** Which values are meant. */
interface JsonSchemaTypeOptions {
  /** `given`: what may be given, a property with a default may be left out. `checked`: what comes of it, with the defaults. */
  readonly values: "given" | "checked";
  /** Properties at the top that may be left out though they are required. */
  readonly optional?: readonly string[];
}

/** The type of the values that a JSON Schema takes, as TypeScript writes it; `unknown` for a schema that cannot be used. */
function jsonSchemaType(schema: JsonSchema, options: JsonSchemaTypeOptions): string {
  const prepared = prepareAnyType(schema);
  if ("broken" in prepared) return "unknown";
  const { values, optional = [] } = options;
  return typeOf(prepared.root, { root: prepared.root, values, optional, open: new Set() });
}

interface Place extends Required<JsonSchemaTypeOptions> {
  readonly root: JsonSchema;
  /** The references that lead here: one of them again is a recursive type. */
  readonly open: ReadonlySet<unknown>;
}

function typeOf(schema: SchemaNode, place: Place): string {
  if (typeof schema === "boolean") return schema ? "unknown" : "never";
  if (Object.hasOwn(schema, "const")) return literal(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map(literal));
  const inside = { ...place, optional: [] };
  const parts = [
    ownType(schema, place),
    ...[schema.anyOf, schema.oneOf].map((alternatives) =>
      Array.isArray(alternatives)
        ? union(schemaList(alternatives).map((node) => typeOf(node, inside)))
        : "unknown"
    ),
    ...schemaList(schema.allOf).map((node) => typeOf(node, inside)),
    schema.$ref === undefined ? "unknown" : referencedType(schema.$ref, inside),
  ];
  return intersection(parts);
}

function referencedType(ref: unknown, place: Place): string {
  if (place.open.has(ref)) return "unknown";
  return typeOf(resolveRef(place.root, ref), { ...place, open: new Set([...place.open, ref]) });
}

function ownType(schema: JsonSchema, place: Place): string {
  const types: readonly unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type ?? "any"];
  const isAnyType = schema.type === undefined || SCHEMA_TYPES.every((type) => types.includes(type));
  if (isAnyType) return isRecord(schema.properties) ? objectType(schema, place) : "unknown";
  return union(types.map((type) => namedType(type, schema, place)));
}

function namedType(type: unknown, schema: JsonSchema, place: Place): string {
  switch (type) {
    case "string":
    case "number":
    case "boolean":
    case "null":
      return type;
    case "integer":
      return "number";
    case "array":
      return arrayType(schema, { ...place, optional: [] });
    case "object":
      return objectType(schema, place);
    default:
      return "unknown";
  }
}

function arrayType({ prefixItems, items = true }: JsonSchema, place: Place): string {
  const nodes = [...schemaList(prefixItems), ...(isSchemaNode(items) && items !== false ? [items] : [])];
  const item = union(nodes.map((node) => typeOf(node, place)));
  return /^\w+$/.test(item) ? `${item}[]` : `(${item})[]`;
}

function objectType(schema: JsonSchema, place: Place): string {
  const { additionalProperties: more } = schema;
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : [];
  const properties = new Map(schemaEntries(schema.properties));
  for (const name of required) {
    if (typeof name === "string" && !properties.has(name)) properties.set(name, true);
  }
  const fields = [...properties].map(([name, node]) => {
    const hasDefault = typeof node === "object" && Object.hasOwn(node, "default");
    const isThere = place.values === "checked"
      ? required.includes(name) || hasDefault
      : required.includes(name) && !hasDefault && !place.optional.includes(name);
    return `${propertyName(name)}${isThere ? "" : "?"}: ${typeOf(node, { ...place, optional: [] })}`;
  });
  if (fields.length === 0) {
    return more === false ? "Record<string, never>" : `Record<string, ${valueType(more, place)}>`;
  }
  // Beside names of their own types only `unknown` can stand for all the others.
  const others = more === true || isRecord(more) ? ["[name: string]: unknown"] : [];
  return `{ ${[...fields, ...others].join("; ")} }`;
}

function valueType(node: unknown, place: Place): string {
  return isSchemaNode(node) ? typeOf(node, { ...place, optional: [] }) : "unknown";
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (!isRecord(value)) return JSON.stringify(value) ?? "unknown";
  const fields = Object.entries(value).map(([name, part]) => `${propertyName(name)}: ${literal(part)}`);
  return fields.length === 0 ? "Record<string, never>" : `{ ${fields.join("; ")} }`;
}

function union(types: readonly string[]): string {
  const different = [...new Set(types)].filter((type) => type !== "never");
  if (different.includes("unknown")) return "unknown";
  return different.length === 0 ? "never" : different.join(" | ");
}

function intersection(types: readonly string[]): string {
  const different = [...new Set(types)].filter((type) => type !== "unknown");
  if (different.length < 2) return different[0] ?? "unknown";
  return different.map((type) => type.includes("|") ? `(${type})` : type).join(" & ");
}

/** A property of a type, in quotes where it needs them. */
function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** Names as a union of literal types; `never` for none. */
function namesType(names: readonly string[]): string {
  return names.length === 0 ? "never" : names.map((name) => JSON.stringify(name)).join(" | ");
}

/** The type of what a module exports. */
function exportType(specifier: string, name: string): string {
  return `typeof import(${JSON.stringify(specifier)})[${JSON.stringify(name)}]`;
}

/** How a module is imported from a file; both are absolute paths. */
export function specifierOf(path: string, { from }: { readonly from: string }): string {
  const way = relative(dirname(from), path).replaceAll(sep, "/");
  const isAbove = way.startsWith("../") || isAbsolute(way);
  return `${isAbove ? "" : "./"}${way}`.replaceAll(/[%#?\p{Cc}]/gu, encodeURIComponent); // a specifier is read as a URL
}
