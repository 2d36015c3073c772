import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4ProviderTool,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import {
  type Effort,
  EFFORTS,
  isRecord,
  type Json,
  type JsonObject,
  messageOf,
  type ModelId,
  modelIdText,
  type ModelRequest,
  objectOrEmpty,
  textOf,
  toJson,
} from "../core/core.ts";
import { COMPATIBLE_NAME } from "./exchange.ts";
import { type HostedServer, type HostedServers, type HostedTools, hostedTools } from "./hosted_tools.ts";
import { configError } from "./known_models.ts";
import { type PromptStyle, sdkPrompt } from "./prompt.ts";
import type { Provider } from "./provider.ts";

/** How requests to a model of a provider are made. */
export interface RequestStyle extends PromptStyle {
  /** `provider/model`, for errors. */
  readonly model: string;
  /** Options of the provider for every request. */
  readonly options: JsonObject;
  /** How hard the model thinks where nothing else says so. */
  readonly effort?: Effort;
  /** What it runs itself. */
  readonly hosted: HostedTools;
  /** Options are sent as they are given, since its package sends what it does not know as it is; else as the AI SDK names them, in camelCase. */
  readonly asGiven: boolean;
  /** Schemas are not sent: what is asked for is JSON without one. */
  readonly withoutSchema: boolean;
}

/** How a model of this provider is asked. */
export function requestStyle(id: ModelId, provider: Provider): RequestStyle {
  const { type, kind, settings } = provider;
  const isCompatible = type === "openai-compatible";
  // Our history is the only one: nothing is kept at the provider, so that thoughts come back to be given back.
  const defaults: JsonObject = type === "openai" && settings.api !== "chat" ? { store: false } : {};
  return {
    kind,
    model: modelIdText(id),
    metadataName: isCompatible ? COMPATIBLE_NAME : type,
    options: { ...defaults, ...objectOrEmpty(toJson(settings.options ?? {})) },
    effort: settings.effort,
    hosted: hostedTools(provider, id.model),
    asGiven: isCompatible,
    withoutSchema: isCompatible && settings.structuredOutputs !== true,
  };
}

/** A request as the AI SDK wants it. @throws {ModelError} `config`, for what the model cannot be asked */
export function sdkRequest(request: ModelRequest, style: RequestStyle): LanguageModelV4CallOptions {
  const { messages, schema, stop = [], temperature, topP, maxOutputTokens, seed, effort } = request;
  const { settings, options } = sdkArgs(request.args ?? {}, style);
  const reasoning = effort ?? settings.reasoning;
  const hosted = hostedRequest(request, style);
  const responseFormat = formatOf(request, style, hosted.tools.length > 0);
  const isLoose = schema !== undefined && !isStrict(toJson(schema));
  return {
    prompt: sdkPrompt(messages, style),
    ...toolsOf(request, hosted, style.kind.declaresPast === true && responseFormat === undefined),
    responseFormat,
    temperature,
    topP,
    maxOutputTokens,
    stopSequences: stop.length > 0 ? [...stop] : undefined,
    seed,
    ...settings,
    reasoning: reasoning ?? style.effort,
    abortSignal: request.signal,
    // JSON either way; only the lists of the SDK's type are not read-only.
    providerOptions: {
      [style.metadataName]: {
        ...(isLoose && { strictJsonSchema: false }),
        ...(reasoning === undefined ? style.options : withoutEffort(style.options)),
        ...hosted.options,
        ...options,
      },
    } as SharedV4ProviderOptions,
  };
}

/** The SDK would take that of the options for the more special one. */
function withoutEffort(
  { reasoningEffort: _, reasoning_effort: _sentAsGiven, ...options }: JsonObject,
): JsonObject {
  return options;
}

type SdkTools = NonNullable<LanguageModelV4CallOptions["tools"]>;

function toolsOf(
  { messages, tools = [], toolChoice = "auto" }: ModelRequest,
  hosted: HostedRequest,
  declaresPast: boolean,
): Pick<LanguageModelV4CallOptions, "tools" | "toolChoice"> {
  const all: SdkTools = [
    ...tools.filter(({ name }) => name !== hosted.computer).map(({ name, description, input }) => // The same thing by another name: JSON Schema as a plain object.
    ({ type: "function" as const, name, description, inputSchema: input as JSONSchema7 })),
    ...hosted.tools,
  ];
  if (all.length > 0) {
    const choice = typeof toolChoice === "string"
      ? { type: toolChoice }
      : { type: "tool" as const, toolName: toolChoice.name };
    return { tools: all, toolChoice: choice };
  }
  if (!declaresPast || Object.keys(hosted.options).length > 0) return {};
  // Anthropic refuses calls in a history, or answers with nothing, where no tools are declared.
  const calls = messages.flatMap((message) => message.role === "assistant" ? message.calls ?? [] : []);
  const past = [...new Set(calls.map(({ name }) => name))].map((name) => ({
    type: "function" as const,
    name,
    description: "Not there any more.",
    inputSchema: { type: "object" as const },
  }));
  return past.length > 0 ? { tools: past, toolChoice: { type: "none" } } : {};
}

/** Undefined also where the provider would refuse the format: what the answer is held to is checked here in any case. */
function formatOf(
  { schema, json, messages, tools = [] }: ModelRequest,
  { kind, withoutSchema, hosted: { areAlone } }: RequestStyle,
  hasHosted: boolean,
): LanguageModelV4CallOptions["responseFormat"] {
  if (schema === undefined && json !== true) return undefined;
  if (areAlone && (hasHosted || (schema === undefined && tools.length > 0))) return undefined;
  if (schema !== undefined && schema.type !== "object" && !kind.anyRoot) return undefined;
  const isPlain = schema === undefined || withoutSchema;
  if (isPlain && kind.wantsWord && !messages.some((message) => /json/i.test(textOf(message)))) {
    return undefined;
  }
  return schema === undefined
    ? { type: "json" }
    : { type: "json", name: "response", schema: schema as JSONSchema7 };
}

/** Strict modes take only objects that name all their properties, require each of them, and allow no other. */
function isStrict(schema: Json): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (!isRecord(schema)) return true;
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
interface HostedRequest extends HostedServers {
  /** Its calls are ours to do: the tool of this name is the provider's own. */
  readonly computer?: string;
}

/** Maps `providerTools` to the provider's own. @throws {ModelError} `config`, for what the model cannot be given: before it is asked */
function hostedRequest(
  { providerTools = [], tools = [] }: ModelRequest,
  { model, hosted }: RequestStyle,
): HostedRequest {
  if (providerTools.length === 0) return { tools: [], options: {} };
  const wrong = (what: string): Error => configError(`${model}: ${what}`);
  const names = tools.map(({ name }) => name);
  const own: LanguageModelV4ProviderTool[] = [];
  const servers: HostedServer[] = [];
  for (const tool of providerTools) {
    const { type, displayWidth, displayHeight } = tool;
    if (type === "mcp") servers.push(serverOf(tool, wrong));
    else if (type === "web_search" && hosted.webSearch !== undefined) own.push(hosted.webSearch);
    else if (type === "computer_use" && hosted.computer !== undefined) {
      own.push(
        hosted.computer({ displayWidth: Number(displayWidth), displayHeight: Number(displayHeight) }),
      );
    } else throw wrong(`addon "${ADDON[String(type)] ?? type}" is not supported by the model`);
  }
  if (servers.length > 0 && hosted.servers === undefined) {
    throw wrong(`mcp servers are not supported by the model${INSTEAD}`);
  }
  const connected = servers.length > 0 ? hosted.servers?.(servers) : undefined;
  const computer = own.find(({ id }) => id.includes(".computer"))?.name;
  if (hosted.areAlone && names.length > 0) {
    throw wrong("it takes either tools or the addon webSearch, not both: use a newer model, or two prompts");
  }
  if (computer !== undefined && !names.includes(computer)) {
    throw wrong(`addon "computerUse" needs a tool named "${computer}" that does what the model asks of it`);
  }
  const twice = own.find(({ name }) => name !== computer && names.includes(name));
  if (hosted.areNamed && twice !== undefined) {
    throw wrong(
      `the tool "${twice.name}" has the name of the provider's own: rename it, or leave the addon out`,
    );
  }
  return { tools: [...own, ...connected?.tools ?? []], options: connected?.options ?? {}, computer };
}

const ADDON: Readonly<Record<string, string>> = { web_search: "webSearch", computer_use: "computerUse" };
const INSTEAD = `: name their tools in "tools" instead (mcpServers in orrery.yaml)`;

function serverOf(
  { label, url, approval, allowedTools }: JsonObject,
  wrong: (what: string) => Error,
): HostedServer {
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
    allowedTools: Array.isArray(allowedTools) ? allowedTools.map(String) : undefined,
  };
}

// What an agent gives its model besides (prompts.md 9, `modelArgs`): settings that every provider has, under the names that people know
// them by, and the provider's own options.

/** The settings of the AI SDK. `read` gives undefined for what a setting cannot be. */
const SETTINGS: readonly {
  readonly names: readonly string[];
  readonly wanted: string;
  read(value: unknown): unknown;
}[] = [
  {
    names: ["temperature", "topP", "topK", "presencePenalty", "frequencyPenalty"],
    wanted: "a number",
    read: (value) => Number.isFinite(value) ? value : undefined,
  },
  {
    names: ["seed", "maxOutputTokens"],
    wanted: "a whole number",
    read: (value) => Number.isSafeInteger(value) ? value : undefined,
  },
  {
    names: ["stopSequences"],
    wanted: "a text or a list of texts",
    read: (value) => [value].flat().every((each) => typeof each === "string") ? [value].flat() : undefined,
  },
];

/** What they are called elsewhere. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["maxTokens", "maxOutputTokens"],
  ["maxCompletionTokens", "maxOutputTokens"],
  ["stop", "stopSequences"],
  ["reasoningEffort", "reasoning"],
]);

/** Sorts arguments; null is none. @throws {ModelError} `config`, for a value that cannot be one */
function sdkArgs(
  args: Readonly<Record<string, unknown>>,
  { asGiven }: RequestStyle,
): { readonly settings: Partial<LanguageModelV4CallOptions>; readonly options: JsonObject } {
  const settings: Record<string, unknown> = {};
  const options: Record<string, Json> = {};
  for (const [name, value] of Object.entries(args)) {
    if (value === undefined || value === null) continue;
    const known = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const setting = OTHER_NAMES.get(known) ?? known;
    const kind = SETTINGS.find(({ names }) => names.includes(setting));
    if (kind !== undefined) settings[setting] = kind.read(value) ?? unfit(name, kind.wanted, value);
    else if (setting === "reasoning" && EFFORTS.some((each) => each === value)) settings.reasoning = value;
    else options[asGiven ? name : known] = jsonOf(value, name);
  }
  return { settings, options };
}

function unfit(name: string, wanted: string, found: unknown): never {
  throw configError(`modelArgs.${name} must be ${wanted}, found ${JSON.stringify(found) ?? typeof found}`);
}

function jsonOf(value: unknown, name: string): Json {
  try {
    return toJson(value);
  } catch (cause) {
    throw configError(`modelArgs.${name} is ${messageOf(cause)}`, cause);
  }
}
