// What an agent gives its model besides (prompts.md 9, `modelArgs`): settings that every provider has, under the names that people know
// them by, and the provider's own options.

import type { LanguageModelV4CallOptions } from "@ai-sdk/provider";
import { type Json, type JsonObject, toJson } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import { configError } from "./model_config_error.ts";

/** The settings of the AI SDK that have a name of their own. */
export type SdkSettings = Pick<
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
export interface SdkArgs {
  readonly settings: SdkSettings;
  /** The provider's own options. */
  readonly options: JsonObject;
}

/** What a provider makes of arguments. */
export interface ArgsStyle {
  /** Options are sent as they are given. Default: as the AI SDK names them, in camelCase. */
  readonly asGiven?: boolean;
}

/** Sorts arguments; null is none. @throws {ModelError} `config`, for a value that cannot be one */
export function sdkArgs(args: Readonly<Record<string, unknown>>, style: ArgsStyle): SdkArgs {
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
