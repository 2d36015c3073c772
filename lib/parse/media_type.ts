import { extname } from "node:path";

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
