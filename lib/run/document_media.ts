import { isJsonObject } from "../core/json.ts";
import type { ContentPart } from "../core/message.ts";
import { MAX_MEDIA_BYTES, mediaTypeOf, noMedia, tooLargeMedia } from "../parse/media_type.ts";
import type { LlmFields } from "../parse/operation_fields.ts";
import { effectOf, pathOf, refuseNarrowed } from "./document_operation.ts";
import type { Operation } from "./document_operation.ts";
import { fileFailure } from "./document_text.ts";
import { OperationError } from "./operation_error.ts";

/** The media of an @llm. @throws {OperationError}, {FileError} */
export async function readMedia(operation: Operation<LlmFields>): Promise<readonly ContentPart[]> {
  const { run, means, key, fields } = operation;
  const parts: ContentPart[] = [];
  for (const [index, named] of fields.media.entries()) {
    const path = pathOf(operation, named);
    const mediaType = mediaTypeOf(path);
    if (mediaType === undefined) {
      throw new OperationError(noMedia(named));
    }
    refuseNarrowed(operation, { kind: "read", path, named });
    const read = await effectOf(`${key}/media[${index + 1}]`, {
      run,
      name: path,
      read: async () => {
        const bytes = await means.files.readBytes(path, { signal: run.signal })
          .catch((error) => Promise.reject(fileFailure(error, named)));
        if (bytes.length > MAX_MEDIA_BYTES) throw new OperationError(tooLargeMedia(named));
        return { data: bytes.toBase64() };
      },
    });
    parts.push({ type: "media", mediaType, data: isJsonObject(read) ? String(read.data) : "" });
  }
  return parts;
}
