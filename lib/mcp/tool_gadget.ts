import type { CallToolResult } from "@ai-sdk/mcp";
import {
  type AnyGadget,
  decodeSegment,
  type Gadget,
  isRecord,
  type Json,
  type JsonSchema,
  type McpServer,
  type Permissions,
  toJson,
} from "../core/core.ts";
import { checkGadget } from "../schema/define_gadget.ts";
import { prepareSchema } from "../schema/prepare_schema.ts";
import type { McpConnection, McpTool } from "./connect.ts";

/**
 * A tool as a gadget. Its output is foreign text; whether it may run again after a crash is the server's word. What its schema has that
 * cannot be read is left out, since the server checks its input itself.
 *
 * @param onLeft told where that stood: a JSON pointer without its leading `/`
 * @throws {TypeError} when the tool cannot be a gadget
 */
export function toolGadget(
  tool: McpTool,
  { name, server, connection, onLeft }: {
    readonly name: string;
    readonly server: McpServer;
    readonly connection: McpConnection;
    readonly onLeft: (pointer: string) => void;
  },
): AnyGadget {
  const { annotations } = tool;
  const gadget: Gadget<Readonly<Record<string, unknown>>> = {
    name,
    description: tool.description ?? tool.title ?? annotations?.title ?? "",
    input: readable(tool.inputSchema, onLeft),
    permissions: permissionsOf(server),
    untrusted: true,
    idempotent: annotations?.readOnlyHint === true || annotations?.idempotentHint === true,
    async run(input, { signal, progress }) {
      const onProgress = (done: number, total?: number) => progress(done, total);
      return toolResult(await connection.call(tool.name, input, { signal, onProgress }));
    },
  };
  return checkGadget(gadget, `MCP server ${JSON.stringify(server.name)}, tool ${JSON.stringify(tool.name)}`);
}

/** As much as anybody would write by mistake; a schema with more of it says nothing. */
const MAX_LEFT = 50;

function readable(schema: JsonSchema, onLeft: (pointer: string) => void): JsonSchema {
  const types: readonly unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type ?? "object"];
  if (!types.includes("object")) onLeft("type"); // the parameters of a call are always an object
  let read: JsonSchema = structuredClone({ ...schema, type: "object" });
  for (let left = 0; left < MAX_LEFT; left++) {
    const prepared = prepareSchema(read);
    if (!("broken" in prepared)) return read;
    onLeft(prepared.broken.pointer);
    if (!removeAt(read, prepared.broken.pointer)) break;
    read = { ...read }; // what was prepared is kept by its object
  }
  return { type: "object" };
}

/** Takes the keyword away that the pointer leads to; of a list of schemas all of it, since with one less it would mean something else. */
function removeAt(schema: JsonSchema, pointer: string): boolean {
  let node: unknown = schema;
  let last: { readonly holder: object; readonly key: string } | undefined;
  for (const part of pointer.split("/")) {
    const key = decodeSegment(part);
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) break;
    if (isRecord(node)) last = { holder: node, key };
    node = Reflect.get(node, key);
  }
  return last !== undefined && Reflect.deleteProperty(last.holder, last.key);
}

/** What its server is, since that is what a call of it uses. */
function permissionsOf({ written, endpoint }: McpServer): Permissions {
  if (written.kind === "stdio") return { run: [written.command] };
  return { net: [endpoint.kind === "http" ? new URL(endpoint.url).host : written.url] };
}

/** A whole page of an error is of no use to anybody. */
const MAX_ERROR_LENGTH = 20_000;

/**
 * What a tool answered, as the result of its gadget: structured content as it is; else text alone as one text, a line between its
 * parts; else every part of the content as JSON, images and resources with their data.
 *
 * @throws {Error} with the tool's own text, when it says that it failed
 */
function toolResult(result: CallToolResult): Json {
  const content = contentOf(result);
  if ("isError" in result && result.isError === true) throw new Error(errorText(content));
  const structured = "structuredContent" in result ? result.structuredContent : undefined;
  const other = content.filter((part) => textOf(part) === undefined);
  if (structured !== undefined && structured !== null) {
    // Its text says the same once more (MCP, tools, structured content); anything else does not.
    return toJson(other.length === 0 ? structured : { structuredContent: structured, content: other });
  }
  if ("toolResult" in result) return toJson(result.toolResult); // as servers of 2024 answer
  return other.length === 0 ? joined(content) : toJson(content);
}

function contentOf(result: CallToolResult): readonly unknown[] {
  return "content" in result && Array.isArray(result.content) ? result.content : [];
}

function joined(content: readonly unknown[]): string {
  return content.map((part) => textOf(part) ?? "").join("\n");
}

function textOf(part: unknown): string | undefined {
  const isText = typeof part === "object" && part !== null && "type" in part && part.type === "text";
  return isText && "text" in part && typeof part.text === "string" ? part.text : undefined;
}

function errorText(content: readonly unknown[]): string {
  const text = content.map((part) => textOf(part) ?? JSON.stringify(part)).join("\n").trim();
  if (text === "") return "The tool failed and did not say why";
  return text.length <= MAX_ERROR_LENGTH
    ? text
    : `${text.slice(0, MAX_ERROR_LENGTH)} … (${text.length - MAX_ERROR_LENGTH} more characters)`;
}
