import { extname } from "node:path";
import {
  isJsonObject,
  type JsonObject,
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

/** By the ending of the file, in lower case. */
const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".pdf": "application/pdf",
};

/** Bytes of one file that a model is shown (documents.md 14). */
export const MAX_MEDIA_BYTES = 20 * 1024 * 1024;

/** What is said of a larger one. @param written the path as the document has it */
export function tooLargeMedia(written: string): string {
  return `media "${written}" is larger than 20 MB`;
}

/** What a model can be shown (documents.md 4), by the name of the file; undefined for anything else. */
export function mediaTypeOf(path: string): string | undefined {
  return MEDIA_TYPES[extname(path).toLowerCase()];
}

/** What is said of anything else. @param written the path as the document has it */
export function noMedia(written: string): string {
  return `media "${written}" is not png, jpeg, gif, webp or pdf`;
}
