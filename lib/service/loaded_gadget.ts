import type { CatalogEntry } from "../core/catalog.ts";
import type { AnyGadget } from "../core/gadget.ts";
import { messageOf } from "../core/source_error.ts";

/** A gadget for whoever describes it, or why it is not to be had. */
export async function loadedGadget(
  entry: CatalogEntry,
): Promise<{ readonly gadget?: AnyGadget; readonly problem?: string }> {
  if (entry.state !== "ready") return { problem: entry.problem ?? entry.state };
  try {
    return { gadget: await entry.load() };
  } catch (error) {
    return { problem: messageOf(error) };
  }
}
