import { type CheckContext, type PlacedOperation, placeOf } from "./check_context.ts";
import type { DocumentSource } from "./document_source.ts";

/** Opens what the parameter `file` of an operation names, and tells what is wrong with it; undefined where it cannot be used. */
export async function openSource(
  written: string,
  { placed, hasOperations, context }: {
    readonly placed: PlacedOperation;
    readonly hasOperations: boolean;
    readonly context: CheckContext;
  },
): Promise<DocumentSource | undefined> {
  const { document } = placed;
  const place = placeOf(placed, "file");
  const path = context.readable(written, { ...placed, place });
  if (path === undefined) return undefined;
  const opened = await context.files.open(path, hasOperations);
  if ("failure" in opened) {
    context.tellFailure(opened.failure, { place, written, document });
    return undefined;
  }
  context.noteSource(opened.value);
  return opened.value;
}
