// A request of ours as the package `ai` wants it: messages, tools, the format of the answer, settings.
import { jsonSchema, type ModelMessage, Output, type ToolSet } from "ai";
import {
  type ContentPart,
  type Effort,
  EFFORTS,
  isRecord,
  type Json,
  type JsonObject,
  type Message,
  messageOf,
  type ModelId,
  type ModelRequest,
  objectOrEmpty,
  parseJson,
  textOf,
  toJson,
} from "../core/core.ts";
import { COMPATIBLE_NAME, type SdkCall, type SdkProvider } from "./exchange.ts";
import { type HostedRequest, hostedRequest, type HostedTools, hostedTools } from "./hosted_tools.ts";
import { configError } from "./known_models.ts";
import type { Provider, ProviderKind } from "./provider.ts";

/** How requests to a model of a provider are made. */
export interface RequestStyle {
  readonly id: ModelId;
  readonly kind: ProviderKind;
  /** The name under which its options and metadata are kept; thinking of another provider is left out. */
  readonly metadataName: string;
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
    id,
    kind,
    metadataName: isCompatible ? COMPATIBLE_NAME : type,
    options: { ...defaults, ...objectOrEmpty(toJson(settings.options ?? {})) },
    effort: settings.effort,
    hosted: hostedTools(provider, id.model),
    asGiven: isCompatible,
    withoutSchema: isCompatible && settings.structuredOutputs !== true,
  };
}

/** A request as `ai` wants it. @throws {ModelError} `config`, for what the model cannot be asked */
export function sdkRequest(request: ModelRequest, style: RequestStyle, sdk: SdkProvider): SdkCall {
  const { messages, schema, stop = [], temperature, topP, maxOutputTokens, seed, effort } = request;
  const { settings, options } = sdkArgs(request.args ?? {}, style);
  const reasoning = effort ?? settings.reasoning;
  const hosted = hostedRequest(request, style);
  const output = outputOf(request, style, hosted.tools.length > 0);
  const isLoose = schema !== undefined && !isStrict(toJson(schema));
  return {
    model: sdk.languageModel(style.id.model),
    messages: sdkMessages(messages, style),
    allowSystemInMessages: true,
    ...toolsOf(request, { hosted, sdk, declaresPast: style.kind.declaresPast && output === undefined }),
    output,
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
    } as SdkCall["providerOptions"],
  };
}

/** The SDK would take that of the options for the more special one. */
function withoutEffort(
  { reasoningEffort: _, reasoning_effort: _sentAsGiven, ...options }: JsonObject,
): JsonObject {
  return options;
}

type Said<Role extends ModelMessage["role"]> = Extract<ModelMessage, { role: Role }>;
type ToolPart = Exclude<Said<"tool">["content"][number], { type: "tool-approval-response" }>;

/**
 * Empty messages are none; later instructions are the user's where a provider takes them at the beginning only. A call of the history that
 * nobody answered is said to have no result: `ai` asks nothing else, and most providers do not either.
 */
function sdkMessages(messages: readonly Message[], style: RequestStyle): ModelMessage[] {
  const answered = new Set(messages.map((message) => message.role === "tool" ? message.id : undefined));
  const result = (message: Extract<Message, { role: "tool" }>): ModelMessage => {
    return { role: "tool", content: [toolPart(message, style)] };
  };
  let isBeginning = true;
  return messages.flatMap((message): ModelMessage[] => {
    isBeginning &&= message.role === "system";
    if (message.role === "tool") return [result(message)];
    if (message.role === "assistant") {
      const content = assistantParts(message, style);
      const open = message.calls?.filter(({ id }) => !answered.has(id)) ?? [];
      return [
        ...(content.length > 0 ? [{ role: "assistant" as const, content }] : []),
        ...open.map(({ id, name }) => result({ role: "tool", id, name, content: "(no result)" })),
      ];
    }
    if (message.content === "" || message.content.length === 0) return [];
    return message.role === "system" && (isBeginning || !style.kind.systemFirst)
      ? [message]
      : [{ role: "user", content: userParts(message.content) }];
  });
}

function userParts(content: string | readonly ContentPart[]): Said<"user">["content"] {
  if (typeof content === "string") return content;
  return content.map((part) =>
    part.type === "text" ? part : {
      type: "file",
      mediaType: part.mediaType,
      data: { type: "data", data: part.data },
      filename: part.name,
    }
  );
}

function assistantParts(
  { content, calls = [], reasoning = [] }: Extract<Message, { role: "assistant" }>,
  { metadataName }: RequestStyle,
): Exclude<Said<"assistant">["content"], string> {
  const own = reasoning.filter(({ metadata }) =>
    !isRecord(metadata) || Object.hasOwn(metadata, metadataName)
  );
  return [
    ...own.map(({ text, metadata }) => ({ type: "reasoning" as const, text, ...providerOptions(metadata) })),
    ...(content === "" ? [] : [{ type: "text" as const, text: content }]),
    ...calls.map(({ id, name, arguments: text, metadata }) => ({
      type: "tool-call" as const,
      toolCallId: id,
      toolName: name,
      input: inputOf(text),
      ...providerOptions(metadata),
    })),
  ];
}

/** What the SDK gave as metadata, unchanged: it is its own type again. */
function providerOptions(metadata: Json | undefined): Pick<SdkCall, "providerOptions"> {
  return isRecord(metadata) ? { providerOptions: metadata as SdkCall["providerOptions"] } : {};
}

/** Providers want an object back; text that is none is given back inside one. */
function inputOf(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    const input = parseJson(text, { keepsDigits: true });
    return isRecord(input) ? input : { value: input };
  } catch {
    return { "not JSON": text };
  }
}

const PICTURE = /data:(image\/[\w.+-]+);base64,([A-Za-z0-9+/]+=*)/;

/** The result of a call; of a tool that shows pictures, its text and its picture. A picture that was cut is none. */
function toolPart(
  { id, name, content }: Extract<Message, { role: "tool" }>,
  { kind }: RequestStyle,
): ToolPart {
  const part = { type: "tool-result" as const, toolCallId: id, toolName: name };
  const [url, mediaType, data] = (name === kind.picturesOf && PICTURE.exec(content)) || [];
  if (url === undefined || mediaType === undefined || data === undefined) {
    return { ...part, output: { type: "text", value: content } };
  }
  const isCut = content.includes(`${url}\n[cut: `);
  const place = isCut ? "(a picture that is larger than a result may be)" : "(the picture below)";
  const picture = { type: "file" as const, mediaType, data: { type: "data" as const, data } };
  return {
    ...part,
    output: {
      type: "content",
      value: [{ type: "text", text: content.replace(url, place) }, ...(isCut ? [] : [picture])],
    },
  };
}

function toolsOf(
  { messages, tools = [], toolChoice = "auto" }: ModelRequest,
  { hosted, sdk, declaresPast }: {
    readonly hosted: HostedRequest;
    readonly sdk: SdkProvider;
    readonly declaresPast: boolean | undefined;
  },
): Pick<SdkCall, "tools" | "toolChoice"> {
  const functions = tools.filter(({ name }) => name !== hosted.computer).map(({ name, description, input }) =>
    [name, { description, inputSchema: jsonSchema(input) }] as const
  );
  const own = hosted.tools.map(({ maker, name, args = {} }) => {
    const make = sdk.tools?.[maker] as ((args: JsonObject) => ToolSet[string]) | undefined;
    return [name, make?.(args)] as const;
  });
  if (functions.length + own.length > 0) {
    return {
      tools: Object.fromEntries([...functions, ...own]) as ToolSet,
      toolChoice: typeof toolChoice === "string" ? toolChoice : { type: "tool", toolName: toolChoice.name },
    };
  }
  if (!declaresPast || Object.keys(hosted.options).length > 0) return {};
  // Anthropic refuses calls in a history, or answers with nothing, where no tools are declared.
  const calls = messages.flatMap((message) => message.role === "assistant" ? message.calls ?? [] : []);
  const past = { description: "Not there any more.", inputSchema: jsonSchema({ type: "object" }) };
  return calls.length > 0
    ? { tools: Object.fromEntries(calls.map(({ name }) => [name, past])), toolChoice: "none" }
    : {};
}

/** Undefined also where the provider would refuse the format: what the answer is held to is checked here in any case. */
function outputOf(
  { schema, json, messages, tools = [] }: ModelRequest,
  { kind, withoutSchema, hosted: { areAlone } }: RequestStyle,
  hasHosted: boolean,
): SdkCall["output"] {
  if (schema === undefined && json !== true) return undefined;
  if (areAlone && (hasHosted || (schema === undefined && tools.length > 0))) return undefined;
  if (schema !== undefined && schema.type !== "object" && !kind.anyRoot) return undefined;
  const isPlain = schema === undefined || withoutSchema;
  if (isPlain && kind.wantsWord && !messages.some((message) => /json/i.test(textOf(message)))) {
    return undefined;
  }
  return schema === undefined
    ? Output.json()
    : Output.object({ name: "response", schema: jsonSchema(schema) });
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
): { readonly settings: Partial<SdkCall>; readonly options: JsonObject } {
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
