import { narrowedAway, NOT_NARROWED } from "../check/narrowing.ts";
import type { Narrowing } from "../check/narrowing.ts";
import type { PermissionRequest } from "../core/world.ts";

/** What the document that runs may use at most; its tools are held to it too (documents.md 13.3). */
export class DocumentBounds {
  readonly #root: string;
  #narrowing = NOT_NARROWED;

  /** @param root the project root: absolute */
  constructor(root: string) {
    this.#root = root;
  }

  narrow(narrowing: Narrowing): void {
    this.#narrowing = narrowing;
  }

  /** The end of a sentence that says what is against a request; undefined when nothing is. */
  against({ kind, value }: PermissionRequest): string | undefined {
    if (kind === "env" || kind === "sys") return undefined;
    const wanted = kind === "run" ? {} : kind === "net" ? { host: value } : { path: value };
    return narrowedAway(this.#narrowing, { kind, root: this.#root, ...wanted });
  }
}
