import { isJsonObject } from "../core/json.ts";
import type { ContentPart } from "../core/message.ts";
import { extname } from "../core/path.ts";
import type { LlmFields } from "../parse/operation_fields.ts";
import { effectOf, pathOf, refuseNarrowed } from "./document_operation.ts";
import type { Operation } from "./document_operation.ts";
import { fileFailure } from "./document_text.ts";
import { OperationError } from "./operation_error.ts";

/** What a model can be shown, by the ending of the file (documents.md 4). */
export const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".pdf": "application/pdf",
};

/** Bytes of one file (documents.md 14). */
const MAX_BYTES = 20 * 1024 * 1024;

/** The media of an @llm. @throws {OperationError}, {FileError} */
export async function readMedia(operation: Operation<LlmFields>): Promise<readonly ContentPart[]> {
  const { run, means, key, fields } = operation;
  const parts: ContentPart[] = [];
  for (const [index, named] of fields.media.entries()) {
    const path = pathOf(operation, named);
    const mediaType = MEDIA_TYPES[extname(path).toLowerCase()];
    if (mediaType === undefined) {
      throw new OperationError(`media "${named}" is not png, jpeg, gif, webp or pdf`);
    }
    refuseNarrowed(operation, { kind: "read", path, named });
    const read = await effectOf(`${key}/media[${index + 1}]`, {
      run,
      name: path,
      read: async () => {
        const bytes = await means.files.readBytes(path, { signal: run.signal })
          .catch((error) => Promise.reject(fileFailure(error, named)));
        if (bytes.length > MAX_BYTES) throw new OperationError(`media "${named}" is larger than 20 MB`);
        return { data: bytes.toBase64() };
      },
    });
    parts.push({ type: "media", mediaType, data: isJsonObject(read) ? String(read.data) : "" });
  }
  return parts;
}
