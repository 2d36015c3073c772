import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4ToolChoice,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { JsonSchema } from "../core/gadget.ts";
import { isJsonObject, isRecord, type Json, type JsonObject, toJson } from "../core/json.ts";
import { textOf } from "../core/message.ts";
import type { ModelRequest } from "../core/model.ts";
import { type HostedRequest, hostedRequest } from "./hosted_request.ts";
import type { HostedTools } from "./hosted_tools.ts";
import { type ArgsStyle, sdkArgs } from "./model_args.ts";
import { type PromptStyle, sdkPrompt } from "./sdk_prompt.ts";

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
    ...(responseFormat && { responseFormat }),
    ...(request.temperature !== undefined && { temperature: request.temperature }),
    ...(request.topP !== undefined && { topP: request.topP }),
    ...(request.maxOutputTokens !== undefined && { maxOutputTokens: request.maxOutputTokens }),
    ...(stop.length > 0 && { stopSequences: [...stop] }),
    ...(request.seed !== undefined && { seed: request.seed }),
    ...settings,
    ...(signal && { abortSignal: signal }),
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
