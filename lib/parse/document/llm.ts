import {
  isJsonObject,
  type JsonObject,
  MEDIA_KINDS,
  messageOf,
  parseJson,
  withoutByteOrderMark,
} from "../../core/core.ts";

/** `provider` and `model` of an `@llm` as one name (documents.md 7.6); the model may begin with its provider already. */
export function modelOfProvider(model: string, provider: string | undefined): string {
  return provider === undefined || model.startsWith(`${provider}/`) ? model : `${provider}/${model}`;
}

/** What is said of a provider without a model. */
export function needsModel(provider: string): string {
  return `provider "${provider}" needs "model"`;
}

/** The JSON Schema in a file that an operation names. @param written the path as the document has it */
export function schemaOfText(
  text: string,
  written: string,
): { readonly value: JsonObject } | { readonly problem: string } {
  const name = `schema "${written}"`;
  try {
    const value = parseJson(withoutByteOrderMark(text));
    return isJsonObject(value) ? { value } : { problem: `${name} must be a JSON object` };
  } catch (thrown) {
    return { problem: `${name} is not JSON: ${messageOf(thrown)}` };
  }
}

/** What is said of what is no picture and no paper. @param written the path as the document has it */
export function noMedia(written: string): string {
  return `media "${written}" is not ${MEDIA_KINDS}`;
}
