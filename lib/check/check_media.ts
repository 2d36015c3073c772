import { MAX_MEDIA_BYTES, mediaTypeOf, noMedia, tooLargeMedia } from "../parse/media_type.ts";
import type { LlmFields } from "../parse/operation_fields.ts";
import { type CheckContext, type PlacedOperation, placeOf } from "./check_context.ts";

/** Whether the files that a model is shown are of its kinds, are there, and are not too large. */
export async function checkMedia(
  fields: LlmFields,
  placed: PlacedOperation,
  context: CheckContext,
): Promise<void> {
  const place = placeOf(placed, "media");
  for (const written of fields.media) {
    if (mediaTypeOf(written) === undefined) {
      context.problems.error(place, noMedia(written));
      continue;
    }
    const path = context.readable(written, { ...placed, place });
    if (path === undefined) continue;
    const size = await context.files.size(path);
    if ("failure" in size) context.tellFailure(size.failure, { place, written, document: placed.document });
    else if ((size.value ?? 0) > MAX_MEDIA_BYTES) {
      context.problems.error(place, tooLargeMedia(written));
    }
  }
}
