import { extname } from "../core/path.ts";
import type { LlmFields } from "../parse/operation_fields.ts";
import { type CheckContext, type PlacedOperation, placeOf } from "./check_context.ts";

const MEDIA = /^\.(?:png|jpe?g|gif|webp|pdf)$/i;

/** Bytes of one file (documents.md 4, 14). */
const MAX_MEDIA_BYTES = 20 * 1024 * 1024;

/** Whether the files that a model is shown are of its kinds, are there, and are not too large. */
export async function checkMedia(
  fields: LlmFields,
  placed: PlacedOperation,
  context: CheckContext,
): Promise<void> {
  const place = placeOf(placed, "media");
  for (const written of fields.media) {
    if (!MEDIA.test(extname(written))) {
      context.problems.error(place, `media "${written}" is not png, jpeg, gif, webp or pdf`);
      continue;
    }
    const path = context.readable(written, { ...placed, place });
    if (path === undefined) continue;
    const size = await context.files.size(path);
    if ("failure" in size) context.tellFailure(size.failure, { place, written, document: placed.document });
    else if ((size.value ?? 0) > MAX_MEDIA_BYTES) {
      context.problems.error(place, `media "${written}" is larger than 20 MB`);
    }
  }
}
