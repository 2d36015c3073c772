import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4ProviderTool,
  LanguageModelV4ToolChoice,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import {
  isJsonObject,
  isRecord,
  type Json,
  type JsonObject,
  type JsonSchema,
  messageOf,
  type ModelRequest,
  textOf,
  toJson,
} from "../../core/core.ts";
import type { HostedServer, HostedTools } from "./hosted_tools.ts";
import { configError } from "../model_config_error.ts";
import { type PromptStyle, sdkPrompt } from "./prompt.ts";

/** How requests to a provider are made. */
export interface RequestStyle extends PromptStyle {
  /** `provider/model`, for errors. */
  readonly model: string;
  /** Options of the provider for every request. */
  readonly options: { readonly [key: string]: Json };
  /** What it runs itself. */
  readonly hosted: HostedTools;
  readonly args: ArgsStyle;
  /** What it makes of a format of the answer. */
  readonly format: FormatStyle;
  /** It wants the tools of earlier calls declared, also when there are none any more. */
  readonly declaresPast?: boolean;
}

/** What a provider makes of a format of the answer. */
export interface FormatStyle {
  /** An answer need not be an object. */
  readonly anyRoot?: boolean;
  /** JSON without a schema is asked for in the messages too, in this word. */
  readonly wantsWord?: boolean;
  /** Schemas are not sent: what is asked for is JSON without one. */
  readonly withoutSchema?: boolean;
}

/** A request as the AI SDK wants it. @throws {ModelError} `config`, for what the model cannot be asked */
export function sdkRequest(request: ModelRequest, style: RequestStyle): LanguageModelV4CallOptions {
  const { toolChoice, schema, stop = [], signal, args = {} } = request;
  const { settings, options } = sdkArgs(args, style.args);
  const hosted = hostedRequest(request, style);
  const tools = toolsOf(request, hosted);
  const responseFormat = formatOf(request, { style, hosted });
  const declaresPast = style.declaresPast && tools.length === 0 && responseFormat === undefined &&
    Object.keys(hosted.options).length === 0;
  const past = declaresPast ? pastTools(request) : [];
  return {
    prompt: sdkPrompt(request.messages, style),
    ...(tools.length > 0 && { tools, toolChoice: choiceOf(toolChoice) }),
    ...(past.length > 0 && { tools: past, toolChoice: { type: "none" as const } }),
    responseFormat,
    temperature: request.temperature,
    topP: request.topP,
    maxOutputTokens: request.maxOutputTokens,
    ...(stop.length > 0 && { stopSequences: [...stop] }),
    seed: request.seed,
    ...settings,
    abortSignal: signal,
    providerOptions: optionsFor(schema, { style, more: { ...hosted.options, ...options } }),
  };
}

type SdkTools = NonNullable<LanguageModelV4CallOptions["tools"]>;

function toolsOf({ tools = [] }: ModelRequest, hosted: HostedRequest): SdkTools {
  return [
    ...tools.filter(({ name }) => name !== hosted.computer).map(({ name, description, input }) => ({
      type: "function" as const,
      name,
      description,
      inputSchema: schemaOf(input),
    })),
    ...hosted.tools,
  ];
}

/** The tools that were called before, by name: Anthropic refuses calls in a history, or answers with nothing, where no tools are declared. */
function pastTools({ messages }: ModelRequest): SdkTools {
  const names = new Set(
    messages.flatMap((message) => message.role === "assistant" ? message.calls ?? [] : []).map(({ name }) =>
      name
    ),
  );
  return [...names].map((name) => ({
    type: "function",
    name,
    description: "Not there any more.",
    inputSchema: { type: "object" },
  }));
}

type ResponseFormat = NonNullable<LanguageModelV4CallOptions["responseFormat"]>;

/** Undefined also where the provider would refuse the format: what the answer is held to is checked here in any case. */
function formatOf(
  { schema, json, messages, tools = [] }: ModelRequest,
  { style: { format, hosted: { areAlone } }, hosted }: {
    readonly style: RequestStyle;
    readonly hosted: HostedRequest;
  },
): ResponseFormat | undefined {
  if (schema === undefined && json !== true) return undefined;
  if (areAlone && (hosted.tools.length > 0 || (schema === undefined && tools.length > 0))) return undefined;
  if (schema !== undefined && schema.type !== "object" && !format.anyRoot) return undefined;
  const isPlain = schema === undefined || format.withoutSchema;
  if (isPlain && format.wantsWord && !messages.some((message) => /json/i.test(textOf(message)))) {
    return undefined;
  }
  return schema === undefined
    ? { type: "json" }
    : { type: "json", name: "response", schema: schemaOf(schema) };
}

function choiceOf(choice: ModelRequest["toolChoice"] = "auto"): LanguageModelV4ToolChoice {
  return typeof choice === "string" ? { type: choice } : { type: "tool", toolName: choice.name };
}

function optionsFor(
  schema: JsonSchema | undefined,
  { style: { options, metadataName }, more }: { readonly style: RequestStyle; readonly more: JsonObject },
): SharedV4ProviderOptions {
  const loose = schema !== undefined && !isStrict(toJson(schema)) ? { strictJsonSchema: false } : {};
  // JSON either way; only the lists of the SDK's type are not read-only.
  return { [metadataName]: { ...loose, ...options, ...more } } as SharedV4ProviderOptions;
}

function schemaOf(schema: JsonSchema): JSONSchema7 {
  // The same thing by another name: JSON Schema as a plain object.
  return schema as JSONSchema7;
}

/** Strict modes take only objects that name all their properties, require each of them, and allow no other. */
function isStrict(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (!isJsonObject(schema)) return true;
  const { properties, required, additionalProperties } = schema;
  if (isRecord(properties)) {
    const names = Array.isArray(required) ? required : [];
    if (additionalProperties !== false || !Object.keys(properties).every((name) => names.includes(name))) {
      return false;
    }
  } else if (schema.type === "object") return false;
  return Object.values(schema).every(isStrict);
}

/** What of a request the provider runs itself. */
interface HostedRequest {
  readonly tools: readonly LanguageModelV4ProviderTool[];
  readonly options: JsonObject;
  /** Its calls are ours to do: the tool of this name is the provider's own. */
  readonly computer?: string;
}

const NOTHING: HostedRequest = { tools: [], options: {} };

/** Maps `providerTools` to the provider's own. @throws {ModelError} `config`, for what the model cannot be given: before it is asked */
function hostedRequest(
  { providerTools = [], tools = [] }: ModelRequest,
  { model, hosted }: { readonly model: string; readonly hosted: HostedTools },
): HostedRequest {
  if (providerTools.length === 0) return NOTHING;
  const wrong = (what: string): Error => configError(`${model}: ${what}`);
  const names = tools.map(({ name }) => name);
  const found = providerTools.filter(({ type }) => type !== "mcp").map((tool) => {
    if (tool.type === "web_search" && hosted.webSearch !== undefined) return hosted.webSearch;
    if (tool.type === "computer_use" && hosted.computer !== undefined) {
      return hosted.computer(displayOf(tool));
    }
    throw wrong(`addon "${ADDON[String(tool.type)] ?? tool.type}" is not supported by the model`);
  });
  const servers = serversOf(providerTools, { hosted, wrong });
  const computer = found.find(({ id }) => id.includes(".computer"))?.name;
  if (hosted.areAlone && names.length > 0) {
    throw wrong("it takes either tools or the addon webSearch, not both: use a newer model, or two prompts");
  }
  if (computer !== undefined && !names.includes(computer)) {
    throw wrong(`addon "computerUse" needs a tool named "${computer}" that does what the model asks of it`);
  }
  const twice = found.find(({ name }) => name !== computer && names.includes(name));
  if (hosted.areNamed && twice !== undefined) {
    throw wrong(
      `the tool "${twice.name}" has the name of the provider's own: rename it, or leave the addon out`,
    );
  }
  return {
    tools: [...found, ...servers.tools],
    options: servers.options,
    computer,
  };
}

const ADDON: Readonly<Record<string, string>> = { web_search: "webSearch", computer_use: "computerUse" };

function displayOf({ displayWidth, displayHeight }: JsonObject) {
  return { displayWidth: Number(displayWidth), displayHeight: Number(displayHeight) };
}

function serversOf(
  providerTools: readonly JsonObject[],
  { hosted, wrong }: { readonly hosted: HostedTools; readonly wrong: (what: string) => Error },
): Omit<HostedRequest, "computer"> {
  const servers = providerTools.filter(({ type }) => type === "mcp").map((server) => serverOf(server, wrong));
  if (servers.length === 0) return NOTHING;
  if (hosted.servers !== undefined) return hosted.servers(servers);
  throw wrong(`mcp servers are not supported by the model${INSTEAD}`);
}

const INSTEAD = `: name their tools in "tools" instead (mcpServers in orrery.yaml)`;

function serverOf(server: JsonObject, wrong: (what: string) => Error): HostedServer {
  const { label, url, approval, allowedTools } = server;
  if (typeof url !== "string") {
    throw wrong(`mcp "${label}" is started by a command, which its provider cannot do${INSTEAD}`);
  }
  if (approval === "manual") {
    throw wrong(
      `mcp "${label}": nobody can be asked before its provider calls a tool: use approval never or auto`,
    );
  }
  return {
    label: String(label),
    url,
    ...(Array.isArray(allowedTools) && { allowedTools: allowedTools.map(String) }),
  };
}

// What an agent gives its model besides (prompts.md 9, `modelArgs`): settings that every provider has, under the names that people know
// them by, and the provider's own options.

/** The settings of the AI SDK that have a name of their own. */
type SdkSettings = Pick<
  LanguageModelV4CallOptions,
  | "temperature"
  | "topP"
  | "topK"
  | "maxOutputTokens"
  | "stopSequences"
  | "seed"
  | "presencePenalty"
  | "frequencyPenalty"
  | "reasoning"
>;

/** Where each of the arguments goes. */
interface SdkArgs {
  readonly settings: SdkSettings;
  /** The provider's own options. */
  readonly options: JsonObject;
}

/** What a provider makes of arguments. */
interface ArgsStyle {
  /** Options are sent as they are given. Default: as the AI SDK names them, in camelCase. */
  readonly asGiven?: boolean;
}

/** Sorts arguments; null is none. @throws {ModelError} `config`, for a value that cannot be one */
function sdkArgs(args: Readonly<Record<string, unknown>>, style: ArgsStyle): SdkArgs {
  let settings: SdkSettings = {};
  const options: Record<string, Json> = {};
  for (const [name, value] of Object.entries(args)) {
    if (value === undefined || value === null) continue;
    const known = camelCase(name);
    const read = READERS.get(known)?.(value, name);
    if (read !== undefined) settings = { ...settings, ...read };
    else options[style.asGiven ? name : known] = jsonOf(value, name);
  }
  return { settings, options };
}

/** Undefined: it is the provider's to understand. @throws {ModelError} */
type Reader = (value: unknown, name: string) => SdkSettings | undefined;

const maxOutputTokens: Reader = (value, name) => ({ maxOutputTokens: wholeNumber(value, name) });
const stopSequences: Reader = (value, name) => ({ stopSequences: texts(value, name) });
const reasoning: Reader = (value) => {
  const effort = EFFORTS.find((each) => each === value);
  return effort === undefined ? undefined : { reasoning: effort };
};

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["temperature", (value, name) => ({ temperature: number(value, name) })],
  ["topP", (value, name) => ({ topP: number(value, name) })],
  ["topK", (value, name) => ({ topK: number(value, name) })],
  ["seed", (value, name) => ({ seed: wholeNumber(value, name) })],
  ["presencePenalty", (value, name) => ({ presencePenalty: number(value, name) })],
  ["frequencyPenalty", (value, name) => ({ frequencyPenalty: number(value, name) })],
  ["maxOutputTokens", maxOutputTokens],
  ["maxTokens", maxOutputTokens],
  ["maxCompletionTokens", maxOutputTokens],
  ["stop", stopSequences],
  ["stopSequences", stopSequences],
  ["reasoning", reasoning],
  ["reasoningEffort", reasoning],
]);

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

function number(value: unknown, name: string): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw unfit(name, "a number", value);
}

function wholeNumber(value: unknown, name: string): number {
  if (Number.isSafeInteger(value)) return Number(value);
  throw unfit(name, "a whole number", value);
}

function texts(value: unknown, name: string): string[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  const found = list.filter((each) => typeof each === "string");
  if (found.length === list.length) return found;
  throw unfit(name, "a text or a list of texts", value);
}

function unfit(name: string, wanted: string, found: unknown): Error {
  return configError(`modelArgs.${name} must be ${wanted}, found ${JSON.stringify(found) ?? typeof found}`);
}

function jsonOf(value: unknown, name: string): Json {
  try {
    return toJson(value);
  } catch (cause) {
    throw configError(`modelArgs.${name} is ${messageOf(cause)}`, cause);
  }
}

/** `max_tokens` as `maxTokens`. */
function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
