// One client of MCP: what it may list, call and read, whatever carries its messages.

import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  specTypeSchemas,
} from "@modelcontextprotocol/server";
import type { ElicitRequestFormParams, ListToolsResult, ServerContext } from "@modelcontextprotocol/server";
import { toJson } from "../../core/json.ts";
import { isJsonObject } from "../../core/json.ts";
import type { JsonObject } from "../../core/json.ts";
import type { Answer, OpenAsk, Service } from "../../service/service.ts";
import { undecided } from "../../schema/text_value.ts";
import { validateInput } from "../../schema/validate.ts";
import { failureOf } from "../failure.ts";
import { callTool, WrongTalkError } from "./call_tool.ts";
import type { ToolResult } from "./call_tool.ts";
import type { CatalogWatch } from "./catalog_watch.ts";
import { jsonValidator } from "./json_validator.ts";
import { mcpResources, readResource, RUN_TEMPLATE } from "./mcp_resources.ts";
import { mcpTools } from "./mcp_tools.ts";
import type { McpTool } from "./mcp_tools.ts";
import type { ToolCaller } from "./run_talk.ts";

/** What clients have in common. */
export interface McpServerOptions {
  readonly service: Service;
  readonly watch: CatalogWatch;
  /** Takes what nobody foresaw. */
  readonly tell: (text: string) => void;
  /** Takes what gadgets log while they run. Default: only a client that wants to know how far a call is hears it. */
  readonly log?: (text: string) => void;
  /** Messages go both ways while a call is under way, so that the client can be asked. */
  readonly canAsk: boolean;
}

/** What clients can list. */
const OFFERED = ["gadgets", "agents", "documents", "prompts"] as const;

/** Makes what answers one client. */
export function mcpServer(options: McpServerOptions): Server {
  const { service, watch } = options;
  const server = new Server({ name: "orrery", version: service.version }, {
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true },
    },
    jsonSchemaValidator: jsonValidator,
  });
  const catalog = async () => watch.seen(await service.look.catalog(OFFERED));
  server.setRequestHandler("tools/list", async () => ({ tools: mcpTools(await catalog()).map(toolJson) }));
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const tools = mcpTools(await catalog());
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined) throw invalidParams(`There is no tool ${JSON.stringify(params.name)}`);
    const called = await orFailure(options, () =>
      callTool(tool, inputOf(params.arguments), {
        service,
        caller: callerOf(server, context, options),
      }));
    const { text, structured, isError } = called;
    return {
      content: [{ type: "text", text }],
      structuredContent: structured && { ...structured },
      ...(isError && { isError }),
    };
  });
  server.setRequestHandler("prompts/list", async () => {
    const { prompts } = await catalog();
    return {
      prompts: prompts.map(({ path, description, variables, input: { required } }) => ({
        name: path,
        description,
        arguments: variables.map((name) => ({ name, required: isNamed(required, name) })),
      })),
    };
  });
  // With the schemas said: without them what does not fit them counts as our own fault (-32603).
  server.setRequestHandler(
    "prompts/get",
    { params: specTypeSchemas.GetPromptRequestParams },
    async (params) => {
      const { text } = await orInvalid(options, async () => {
        const { prompts } = await service.look.catalog(["prompts"]);
        const schema = prompts.find(({ path }) => path === params.name)?.input;
        return await service.look.render(params.name, await typedArguments(schema, params.arguments));
      });
      return { messages: [{ role: "user", content: { type: "text", text } }] };
    },
  );
  server.setRequestHandler("resources/list", async () => ({
    resources: mcpResources(await catalog()).map((resource) => ({ ...resource })),
  }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [RUN_TEMPLATE] }));
  const reading = { params: specTypeSchemas.ReadResourceRequestParams };
  server.setRequestHandler("resources/read", reading, async ({ uri }) => {
    const { look } = service;
    const found = await orInvalid(
      options,
      () => readResource(uri, { look, trace: (id) => service.trace(id) }),
    );
    if (found === undefined) {
      throw new ResourceNotFoundError(uri, `There is no resource ${JSON.stringify(uri)}`);
    }
    return { contents: [{ uri, ...found }] };
  });
  return server;
}

/** Says to a client that its lists are old. */
export function tellChanged(server: Server): void {
  const told = [
    server.sendToolListChanged(),
    server.sendPromptListChanged(),
    server.sendResourceListChanged(),
  ];
  for (const each of told) each.catch(() => undefined); // it does not listen
}

function toolJson(
  { name, title, description, input, output, isReadOnly, isOpen }: McpTool,
): ListToolsResult["tools"][number] {
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: { ...input, type: "object" },
    ...(output !== undefined && { outputSchema: { ...output, type: "object" } }),
    annotations: { readOnlyHint: isReadOnly, openWorldHint: isOpen },
  };
}

function isNamed(required: unknown, name: string): boolean {
  return Array.isArray(required) && required.includes(name);
}

function inputOf(given: unknown): JsonObject {
  const json = toJson(given ?? {});
  return isJsonObject(json) ? json : {};
}

/** The arguments of a prompt are texts, whatever its variables are; what does not fit is told where it is filled in. */
async function typedArguments(
  schema: JsonObject | undefined,
  texts: Readonly<Record<string, string>> = {},
): Promise<JsonObject> {
  if (schema === undefined) return texts;
  const tree = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, undecided(text)]));
  const checked = await validateInput(schema, tree);
  return checked.ok ? inputOf(checked.value) : texts;
}

function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** What was thrown, in words that may leave the machine. */
function wordsOf(thrown: unknown, { service: { root }, tell }: McpServerOptions): string {
  return thrown instanceof WrongTalkError ? thrown.message : failureOf(thrown, { root, tell }).detail;
}

/** What a call throws is its result: a model can do something with it. */
async function orFailure(options: McpServerOptions, work: () => Promise<ToolResult>): Promise<ToolResult> {
  try {
    return await work();
  } catch (thrown) {
    return { text: wordsOf(thrown, options), isError: true };
  }
}

async function orInvalid<Value>(options: McpServerOptions, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (thrown) {
    throw invalidParams(wordsOf(thrown, options));
  }
}

function callerOf(server: Server, { mcpReq }: ServerContext, { canAsk, log }: McpServerOptions): ToolCaller {
  const token = mcpReq._meta?.progressToken;
  const form = server.getClientCapabilities()?.elicitation;
  return {
    signal: mcpReq.signal,
    log,
    ...(token !== undefined && {
      progress: ({ done, total, message }) => {
        const params = {
          progressToken: token,
          progress: done,
          total,
          message,
        };
        mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined); // the client has gone
      },
    }),
    ...(canAsk && form !== undefined && {
      ask: async (asked, signal) => {
        const result = await mcpReq.elicitInput(formOf(asked), { signal, timeout: ASK_MS });
        return result.action === "accept" ? answerOf(asked, result.content ?? {}) : undefined;
      },
    }),
  };
}

/** How long a person has to answer, ms. */
const ASK_MS = 30 * 60_000;

function formOf({ kind, subject, permissions = [], question, choices }: OpenAsk): ElicitRequestFormParams {
  if (kind === "permission") {
    const title = `Allow ${subject ?? permissions.join(", ")}`;
    return {
      mode: "form",
      message: question,
      requestedSchema: {
        type: "object",
        properties: { allow: { type: "boolean", title, default: false } },
        required: ["allow"],
      },
    };
  }
  return {
    mode: "form",
    message: question,
    requestedSchema: {
      type: "object",
      properties: {
        answer: choices === undefined ? { type: "string" } : { type: "string", enum: [...choices] },
      },
      required: ["answer"],
    },
  };
}

function answerOf({ kind }: OpenAsk, content: Readonly<Record<string, unknown>>): Answer | undefined {
  if (kind === "permission") return { allow: content.allow === true };
  return typeof content.answer === "string" ? { text: content.answer } : undefined;
}
