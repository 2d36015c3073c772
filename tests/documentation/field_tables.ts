// The tables of fields in lib/help that are made from schemas: between `<!-- fields: SCHEMA/PATH -->` and `<!-- /fields -->`. A path goes
// by properties; lists and maps of one thing are passed through. `deno task fields` writes them; tests/help_tables_test.ts compares.
import { join } from "node:path";
import { orrery, PROJECT_ROOT } from "../_run.ts";

/** A part of a JSON Schema, as `orrery schema` prints it. */
interface SchemaPart {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, SchemaPart>>;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaPart>>;
  readonly additionalProperties?: SchemaPart | boolean;
  readonly items?: SchemaPart;
  readonly anyOf?: readonly SchemaPart[];
  readonly oneOf?: readonly SchemaPart[];
  readonly allOf?: readonly SchemaPart[];
}

/** A page with its tables as they have to be. @throws {Error} for a name that leads nowhere */
export async function withFieldTables(page: string): Promise<string> {
  let text = page;
  for (const [all, open = "", name = "", close = ""] of page.matchAll(TABLE)) {
    text = text.replace(all, `${open}\n${await fieldTable(name)}\n${close}`);
  }
  return text;
}

const TABLE = /(<!-- fields: (\S+) -->\n)[\s\S]*?(<!-- \/fields -->)/g;

async function fieldTable(name: string): Promise<string> {
  const [first = "", ...path] = name.split("/");
  const { stdout } = await orrery(["schema", first]);
  const root: SchemaPart = JSON.parse(stdout);
  let found = objectIn(root, root);
  for (const part of path) {
    if (part !== "*") found = objectIn(found?.properties?.[part], root);
  }
  if (found === undefined) throw new Error(`fields: ${name} leads to nothing that has fields`);
  const { required = [], properties = {} } = found;
  const rows = Object.entries(properties).map(([field, { description, ...schema }]) => {
    const default_ = required.includes(field)
      ? "needed"
      : schema.default === undefined
      ? ""
      : code(schema.default);
    const meaning = description ?? resolved(schema.$ref, root)?.description ?? "";
    return `| \`${field}\` | ${cell(typeText(schema, root))} | ${cell(default_)} | ${cell(meaning)} |\n`;
  });
  return `| field | type | default | meaning |\n| --- | --- | --- | --- |\n${rows.join("")}`;
}

/** The schema of an object at a node: itself, behind a reference, an alternative, or what a list or a map holds. */
function objectIn(node: SchemaPart | boolean | undefined, root: SchemaPart): SchemaPart | undefined {
  if (typeof node !== "object") return undefined;
  if (node.properties !== undefined) return node;
  const { anyOf = [], oneOf = [], items, additionalProperties } = node;
  for (const each of [resolved(node.$ref, root), ...anyOf, ...oneOf, items, additionalProperties]) {
    const found = objectIn(each, root);
    if (found !== undefined) return found;
  }
  return undefined;
}

function resolved(reference: string | undefined, root: SchemaPart): SchemaPart | undefined {
  return reference === undefined ? undefined : root.$defs?.[reference.slice("#/$defs/".length)];
}

/** `string`, `array of integer`, `one of "a", "b"`, `number or null`. */
function typeText(schema: SchemaPart | undefined, root: SchemaPart, level = 0): string {
  if (typeof schema !== "object") return "anything";
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) {
    const values = schema.enum.map((value) => JSON.stringify(value)).join(", ");
    return schema.enum.length === 1 ? values : `one of ${values}`;
  }
  if (level === LEVELS) return "anything";
  const inner = (each: SchemaPart | undefined) => typeText(each, root, level + 1);
  const listText = (): string => {
    const text = inner(schema.items);
    return text === "anything" ? "array" : `array of ${text.includes(" ") ? `(${text})` : text}`;
  };
  const { type, anyOf = [], oneOf = [], allOf = [] } = schema;
  const union = type === undefined ? [...anyOf, ...oneOf].map(inner) : [];
  const types = type === undefined
    ? union
    : [type].flat().map((each) => each === "array" ? listText() : each);
  if (types.length > 0) return [...new Set(types)].join(" or ");
  if (schema.properties !== undefined || schema.additionalProperties !== undefined) return "object";
  if (schema.items !== undefined) return listText();
  const others = [resolved(schema.$ref, root), ...allOf].map(inner);
  return others.find((text) => text !== "anything") ?? "anything";
}

const LEVELS = 4;

const code = (value: unknown): string => `\`${JSON.stringify(value)}\``;
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

if (import.meta.main) {
  const folder = join(PROJECT_ROOT, "lib/help");
  for (const { name } of Deno.readDirSync(folder)) {
    if (!name.endsWith(".md")) continue;
    const path = join(folder, name);
    Deno.writeTextFileSync(path, await withFieldTables(Deno.readTextFileSync(path)));
  }
}
