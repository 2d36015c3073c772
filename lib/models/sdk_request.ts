import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4ToolChoice,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { JsonSchema } from "../core/gadget.ts";
import { isJsonObject, isRecord, type Json, toJson } from "../core/json.ts";
import type { ModelRequest } from "../core/model.ts";
import { type PromptStyle, sdkPrompt } from "./sdk_prompt.ts";

/** How requests to a provider are made. */
export interface RequestStyle extends PromptStyle {
  /** Options of the provider for every request. */
  readonly options: { readonly [key: string]: Json };
}

/** A request as the AI SDK wants it. */
export function sdkRequest(request: ModelRequest, style: RequestStyle): LanguageModelV4CallOptions {
  const { tools = [], toolChoice, schema, stop = [], signal } = request;
  return {
    prompt: sdkPrompt(request.messages, style),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, input }) => ({
        type: "function" as const,
        name,
        description,
        inputSchema: schemaOf(input),
      })),
      toolChoice: choiceOf(toolChoice),
    }),
    ...(schema && { responseFormat: { type: "json" as const, name: "response", schema: schemaOf(schema) } }),
    ...(request.temperature !== undefined && { temperature: request.temperature }),
    ...(request.topP !== undefined && { topP: request.topP }),
    ...(request.maxOutputTokens !== undefined && { maxOutputTokens: request.maxOutputTokens }),
    ...(stop.length > 0 && { stopSequences: [...stop] }),
    ...(request.seed !== undefined && { seed: request.seed }),
    ...(signal && { abortSignal: signal }),
    providerOptions: optionsFor(schema, style),
  };
}

function choiceOf(choice: ModelRequest["toolChoice"] = "auto"): LanguageModelV4ToolChoice {
  return typeof choice === "string" ? { type: choice } : { type: "tool", toolName: choice.name };
}

function optionsFor(
  schema: JsonSchema | undefined,
  { options, metadataName }: RequestStyle,
): SharedV4ProviderOptions {
  const loose = schema !== undefined && !isStrict(toJson(schema)) ? { strictJsonSchema: false } : {};
  // JSON either way; only the lists of the SDK's type are not read-only.
  return { [metadataName]: { ...loose, ...options } } as SharedV4ProviderOptions;
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
