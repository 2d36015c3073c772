import { isJsonObject, isRecord, type JsonObject, toJson } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import type { LlmFields } from "./operation_fields.ts";
import { FROM_ONE, type ParameterReader, TEMPERATURE } from "./parameter_reader.ts";
import { notText, type Part } from "./part.ts";
import { anyFields, blocksField, headerField, mergeFields, promptField } from "./shared_parameters.ts";

const DEFAULT_RETRIES = 2;
const RETRIES = {
  isFine: (value: number): boolean => Number.isInteger(value) && value >= 0 && value <= 10,
  wanted: "a whole number from 0 to 10",
};

/** The parameters of `@llm`; those that cannot be used are left out. */
export function readLlm(reader: ParameterReader): LlmFields {
  const saveToFile = reader.text("save-to-file");
  const provider = reader.text("provider");
  const model = reader.text("model");
  const temperature = reader.number("temperature", TEMPERATURE);
  const tools = reader.tools();
  const toolsTurnsMax = reader.number("tools-turns-max", FROM_ONE);
  const schema = readSchema(reader);
  return {
    name: "llm",
    ...anyFields(reader),
    ...mergeFields(reader),
    ...headerField(reader),
    ...promptField(reader),
    ...blocksField(reader),
    isGeneratedRun: reader.flag("run-generated") ?? false,
    isAmbient: reader.word("context", ["auto", "none"]) !== "none",
    media: readMedia(reader),
    isHeaderAligned: reader.flag("header-auto-align") ?? false,
    stopSequences: readStopSequences(reader),
    retries: reader.number("retries", RETRIES) ?? DEFAULT_RETRIES,
    ...(saveToFile !== undefined && { saveToFile }),
    ...(provider !== undefined && { provider }),
    ...(model !== undefined && { model }),
    ...(temperature !== undefined && { temperature }),
    ...(tools !== undefined && { tools }),
    ...(toolsTurnsMax !== undefined && { toolsTurnsMax }),
    ...(schema !== undefined && { schema }),
  };
}

function readMedia(reader: ParameterReader): readonly string[] {
  const value = reader.value("media");
  if (value === undefined) return [];
  const problem = "media must be a list of paths";
  return (Array.isArray(value) ? reader.part("media", texts(value, () => problem)) : undefined) ??
    reader.refuse("media", problem) ?? [];
}

function readStopSequences(reader: ParameterReader): readonly string[] {
  const key = "stop-sequences";
  const value = reader.value(key);
  if (value === undefined) return [];
  if (isRecord(value)) return reader.refuse(key, `${key} must be text or a list of texts`) ?? [];
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return reader.part(key, texts(list, (item) => item === "" ? `${key} is empty` : notText(key, item))) ?? [];
}

/** A list of texts that are not empty. @param problem what is wrong with an item */
function texts(items: readonly unknown[], problem: (item: unknown) => string): Part<readonly string[]> {
  const fine = items.flatMap((item) => typeof item === "string" && item !== "" ? [item] : []);
  const wrong = items.find((item) => typeof item !== "string" || item === "");
  return fine.length === items.length ? { value: fine } : { problem: problem(wrong) };
}

function readSchema(reader: ParameterReader): JsonObject | string | undefined {
  const value = reader.value("schema");
  if (value === undefined) return undefined;
  if (isRecord(value)) return reader.part("schema", jsonObject(value));
  if (typeof value === "string" && /\.json$/i.test(value)) return value;
  return reader.refuse("schema", "schema must be a JSON Schema as a mapping, or the path of a .json file");
}

function jsonObject(value: Readonly<Record<string, unknown>>): Part<JsonObject> {
  try {
    const json = toJson(value);
    return isJsonObject(json) ? { value: json } : { problem: "schema must be a mapping" };
  } catch (thrown) {
    return { problem: `schema is ${messageOf(thrown)}` };
  }
}
