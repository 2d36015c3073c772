// One client of MCP: what it may list, call and read, whatever carries its messages.
import {
  type ElicitRequestFormParams,
  type jsonSchemaValidator,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
  type ServerContext,
  specTypeSchemas,
} from "@modelcontextprotocol/server";
import { isJsonObject, type Json, type JsonObject, type JsonSchema, toJsonObject } from "../../core/core.ts";
import { undecided } from "../../schema/text_value.ts";
import { issuesText, validateInput } from "../../schema/validate.ts";
import type { CatalogJson } from "../../service/look/look.ts";
import type { Answer, OpenAsk, RunHandle, RunState, Service, TalkHandle } from "../../service/service.ts";
import { failureOf } from "../problem.ts";
import { type CatalogWatch, type McpTool, mcpTools } from "./tools.ts";
import { hearRun, type ToolCaller } from "./run_talk.ts";

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
  server.setRequestHandler(
    "tools/list",
    async () => ({ tools: mcpTools(await catalog()).map(({ told }) => told) }),
  );
  server.setRequestHandler("tools/call", async ({ params }, context) => {
    const tools = mcpTools(await catalog());
    const tool = tools.find(({ told }) => told.name === params.name);
    if (tool === undefined) throw invalidParams(`There is no tool ${JSON.stringify(params.name)}`);
    const called = await orFailure(options, () =>
      callTool(tool, toJsonObject(params.arguments), {
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

function isNamed(required: unknown, name: string): boolean {
  return Array.isArray(required) && required.includes(name);
}

/** The arguments of a prompt are texts, whatever its variables are; what does not fit is told where it is filled in. */
async function typedArguments(
  schema: JsonObject | undefined,
  texts: Readonly<Record<string, string>> = {},
): Promise<JsonObject> {
  if (schema === undefined) return texts;
  const tree = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, undecided(text)]));
  const checked = await validateInput(schema, tree);
  return checked.ok ? toJsonObject(checked.value) : texts;
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
  const [name, field] = kind === "permission"
    ? ["allow", {
      type: "boolean",
      title: `Allow ${subject ?? permissions.join(", ")}`,
      default: false,
    }] as const
    : ["answer", { type: "string", ...(choices && { enum: [...choices] }) }] as const;
  return {
    mode: "form",
    message: question,
    requestedSchema: { type: "object", properties: { [name]: field }, required: [name] },
  };
}

function answerOf({ kind }: OpenAsk, content: Readonly<Record<string, unknown>>): Answer | undefined {
  if (kind === "permission") return { allow: content.allow === true };
  return typeof content.answer === "string" ? { text: content.answer } : undefined;
}

/** Checks values as everything else here does, without a second validator. */
const jsonValidator: jsonSchemaValidator = {
  getValidator<Value>(schema: object) {
    return (input: unknown) => {
      const checked = validateInput({ ...schema }, input);
      const problem = checked instanceof Promise
        ? "cannot be checked"
        : checked.ok
        ? undefined
        : issuesText(checked.issues);
      return fits<Value>(input, problem)
        ? { valid: true, data: input, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: problem ?? "" };
    };
  },
};

function fits<Value>(_input: unknown, problem: string | undefined): _input is Value {
  return problem === undefined;
}

/** Something that can be read. */
interface McpResource {
  readonly uri: string;
  readonly name: string;
  readonly description?: string;
  readonly mimeType: string;
}

const JSON_TYPE = "application/json";

/** How runs are named; there are too many for a list. */
const RUN_TEMPLATE = {
  uriTemplate: "orrery://run/{id}",
  name: "run",
  description: "The trace of a run: its steps and events, as JSON",
  mimeType: JSON_TYPE,
} as const;

/** The documents and agents of a project. */
function mcpResources({ documents, agents }: CatalogJson): readonly McpResource[] {
  return [
    ...documents.map(({ file, title, description }): McpResource => ({
      uri: uriOf("document", file),
      name: title ?? file,
      description: description ?? undefined,
      mimeType: "text/markdown",
    })),
    ...agents.map(({ file, id, description }): McpResource => ({
      uri: uriOf("agent", file),
      name: id ?? file,
      description,
      mimeType: "application/yaml",
    })),
  ];
}

function uriOf(kind: "document" | "agent", file: string): string {
  return `orrery://${kind}/${file.split("/").map(encodeURIComponent).join("/")}`;
}

/** What is at a URI; undefined when it is none of these: of files it is only what is listed. @throws {ServiceError} not-found */
async function readResource(
  uri: string,
  { look, trace }: Pick<Service, "look"> & { trace(id: string): Promise<unknown> },
): Promise<{ readonly text: string; readonly mimeType: string } | undefined> {
  const { kind, encoded } = /^orrery:\/\/(?<kind>document|agent|run)\/(?<encoded>.+)$/.exec(uri)?.groups ??
    {};
  const id = encoded === undefined ? undefined : maybeDecoded(encoded);
  if (id === undefined) return undefined;
  if (kind === "run") return { text: JSON.stringify(await trace(id)), mimeType: JSON_TYPE };
  const listed = mcpResources(await look.catalog(["documents", "agents"]));
  const resource = listed.find((each) => each.uri === uriOf(kind === "agent" ? kind : "document", id));
  return resource && { text: await look.source(id), mimeType: resource.mimeType };
}

function maybeDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** What a call gives. */
interface ToolResult {
  readonly text: string;
  /** Of a tool that has a schema for it. */
  readonly structured?: { readonly [key: string]: Json };
  readonly isError: boolean;
}

/** What a call needs. */
interface CallToolMeans {
  readonly service: Service;
  readonly caller: ToolCaller;
}

/** Calls a tool. What goes wrong in it is its result. @throws what `Service.start` throws */
async function callTool(
  { work, told }: McpTool,
  input: JsonObject,
  { service, caller }: CallToolMeans,
): Promise<ToolResult> {
  const canAsk = caller.ask !== undefined;
  switch (work.kind) {
    case "gadget":
      return await gadgetResult(
        await service.start({ kind: "gadget", name: work.name, input, canAsk }),
        caller,
        told.outputSchema,
      );
    case "agent":
      return await agentResult(work.file, input, { service, caller });
    case "prompt":
      return await runResult(await service.start({ kind: "prompt", path: work.path, input, canAsk }), caller);
    case "document": {
      const { prompt, ...inputs } = input;
      const wish = work.takesPrompt && typeof prompt === "string" ? { prompt, input: inputs } : { input };
      return await runResult(await service.start({ kind: "file", file: work.file, ...wish, canAsk }), caller);
    }
  }
}

async function gadgetResult(
  run: RunHandle,
  caller: ToolCaller,
  output: JsonSchema | undefined,
): Promise<ToolResult> {
  const { call } = await hearRun(run, caller);
  if (call?.type === "call-result") {
    const { result } = call;
    const text = textOf(result);
    if (output === undefined) return { text, isError: false };
    // A client refuses a result that is not as the tool was said to give it, such as one that was cut.
    const isFit = isJsonObject(result) && (await validateInput(output, result)).ok;
    return isFit ? { text, structured: { ...result }, isError: false } : { text, isError: true };
  }
  if (call?.type === "call-error") {
    const allow = call.flag === undefined ? "" : `\nIt would be allowed by ${call.flag}`;
    return { text: `${call.error}${allow}`, isError: true };
  }
  if (call?.type === "call-skip") return { text: call.reason, isError: true };
  return failed(await run.ended);
}

async function runResult(run: RunHandle, caller: ToolCaller): Promise<ToolResult> {
  await hearRun(run, caller);
  const state = await run.ended;
  return state.status === "done" ? { text: textOf(state.value ?? null), isError: false } : failed(state);
}

async function agentResult(
  file: string,
  { message, conversation }: JsonObject,
  { service: { talks }, caller }: CallToolMeans,
): Promise<ToolResult> {
  if (typeof message !== "string" || message.trim() === "") {
    return { text: "message: expected a text, what is said to the agent", isError: true };
  }
  const canAsk = caller.ask !== undefined;
  const { talk, turn } = typeof conversation === "string"
    ? await goneOn(await talks.open(conversation), { file, message })
    : await talks.begin({ agent: file, message, canAsk });
  const { messages } = await hearRun(turn, caller);
  const state = await turn.ended;
  if (state.status === "failed" || state.status === "stopped") return failed(state);
  const status = state.status === "completed" ? "completed" : "held";
  return { text: messages.join("\n\n"), structured: { conversation: talk.id, status }, isError: false };
}

async function goneOn(
  talk: TalkHandle,
  { file, message }: { readonly file: string; readonly message: string },
): Promise<{ readonly talk: TalkHandle; readonly turn: RunHandle }> {
  const { agent } = await talk.state({ last: 1 });
  if (agent !== file) {
    throw new WrongTalkError(`The conversation ${talk.id} is one with ${agent}, and not with ${file}`);
  }
  return { talk, turn: await talk.say(message) };
}

/** A conversation with another agent was named. */
class WrongTalkError extends Error {
  override readonly name = "WrongTalkError";
}

function failed({ id, status, error }: RunState): ToolResult {
  const what = error ?? (status === "stopped" ? "it was stopped" : "it gave no result");
  return { text: `Run ${id}: ${what}`, isError: true };
}

/** Text as it is, everything else as JSON. */
function textOf(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, isJsonObject(value) ? 2 : undefined);
}
