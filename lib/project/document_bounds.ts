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
    if (kind === "run") return narrowedAway(this.#narrowing, { kind, root: this.#root });
    if (kind !== "net") return narrowedAway(this.#narrowing, { kind, root: this.#root, path: value });
    const { limits } = this.#narrowing;
    const limit = limits.find(({ kind, list }) =>
      kind === "net" && !list.some((host) => isHost(value, host))
    );
    return limit && `which the front matter of ${limit.file} does not allow (permissions.net)`;
  }
}

/** `host` stands for all its ports. */
function isHost(value: string, host: string): boolean {
  return value === host || value.startsWith(`${host}:`);
}
