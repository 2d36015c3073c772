import { sha256 } from "../../core/sha256.ts";
import type { CatalogJson } from "../../service/look/look.ts";
import { mcpTools } from "./mcp_tools.ts";

/** Tells everybody when what they have listed is not what there is any more. Nobody looks for it: it is noticed where somebody asks. */
export class CatalogWatch {
  readonly #listeners = new Set<() => void>();
  #last: CatalogJson | undefined;
  #hash = "";

  /** The catalogue as somebody has just got it. */
  seen(catalog: CatalogJson): CatalogJson {
    if (catalog === this.#last) return catalog;
    const hash = hashOf(catalog);
    const isChanged = this.#last !== undefined && hash !== this.#hash;
    this.#last = catalog;
    this.#hash = hash;
    if (isChanged) { for (const listener of this.#listeners) listener(); }
    return catalog;
  }

  /** Calls back at each change, until what it gives is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

function hashOf(catalog: CatalogJson): string {
  const { prompts, documents, agents } = catalog;
  return sha256(JSON.stringify([mcpTools(catalog), prompts, documents, agents]));
}
