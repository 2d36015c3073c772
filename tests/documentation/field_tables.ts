// The tables of fields in lib/help that are made from schemas: between `<!-- fields: SCHEMA/PATH -->` and `<!-- /fields -->`. A path goes
// by properties; lists and maps of one thing are passed through. `deno task fields` writes them; tests/help_tables_test.ts compares.
import { join } from "node:path";
import { configSchema } from "../../lib/catalog/config/table.ts";
import { conversationTestSchema, documentTestSchema } from "../../lib/cli/test/schema.ts";
import type { JsonSchema } from "../../lib/core/gadget.ts";
import { agentSchema } from "../../lib/parse/agent/schema.ts";
import { isSchemaNode, resolveRef, schemaList, type SchemaNode } from "../../lib/schema/schema_node.ts";
import { typeText } from "../../lib/schema/describe.ts";
import { PROJECT_ROOT } from "../_run.ts";

const SCHEMAS: Readonly<Record<string, () => object>> = {
  config: configSchema,
  agent: agentSchema,
  "document-test": documentTestSchema,
  "conversation-test": conversationTestSchema,
};

/** A page with its tables as they have to be. @throws {Error} for a name that leads nowhere */
export function withFieldTables(page: string): string {
  return page.replaceAll(
    /(<!-- fields: (\S+) -->\n)[\s\S]*?(<!-- \/fields -->)/g,
    (_, open: string, name: string, close: string) => `${open}\n${fieldTable(name)}\n${close}`,
  );
}

function fieldTable(name: string): string {
  const [first = "", ...path] = name.split("/");
  const root = { ...SCHEMAS[first]?.() } as JsonSchema;
  let found = objectIn(root, root);
  for (const part of path) {
    const properties = found?.properties as JsonSchema | undefined;
    if (part !== "*") found = objectIn(properties?.[part], root);
  }
  if (found === undefined) throw new Error(`fields: ${name} leads to nothing that has fields`);
  const required = new Set(Array.isArray(found.required) ? found.required : []);
  const rows = Object.entries(found.properties as JsonSchema).map(([field, node]) => {
    const { description, ...schema } = node as JsonSchema;
    const default_ = required.has(field)
      ? "needed"
      : schema.default === undefined
      ? ""
      : code(schema.default);
    const meaning = description ?? aliasOf(schema, root).description ?? "";
    return `| \`${field}\` | ${cell(typeText(schema, root))} | ${cell(default_)} | ${
      cell(String(meaning))
    } |\n`;
  });
  return `| field | type | default | meaning |\n| --- | --- | --- | --- |\n${rows.join("")}`;
}

/** The schema of an object at a node: itself, behind a reference, an alternative, or what a list or a map holds. */
function objectIn(node: unknown, root: JsonSchema): JsonSchema | undefined {
  if (!isSchemaNode(node) || typeof node === "boolean") return undefined;
  if (node.properties !== undefined) return node;
  const below = [
    ...(node.$ref === undefined ? [] : [resolveRef(root, node.$ref)]),
    ...schemaList(node.anyOf),
    ...schemaList(node.oneOf),
    node.items,
    node.additionalProperties,
  ];
  for (const each of below) {
    const found = objectIn(each, root);
    if (found !== undefined) return found;
  }
  return undefined;
}

function aliasOf({ $ref }: JsonSchema, root: JsonSchema): JsonSchema {
  const named: SchemaNode = $ref === undefined ? {} : resolveRef(root, $ref);
  return typeof named === "boolean" ? {} : named;
}

const code = (value: unknown): string => `\`${JSON.stringify(value)}\``;
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");

if (import.meta.main) {
  const folder = join(PROJECT_ROOT, "lib/help");
  for (const { name } of Deno.readDirSync(folder)) {
    if (!name.endsWith(".md")) continue;
    const path = join(folder, name);
    Deno.writeTextFileSync(path, withFieldTables(Deno.readTextFileSync(path)));
  }
}
