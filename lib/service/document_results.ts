import { basename, dirname, join, resolve } from "node:path";
import { isInside } from "../catalog/paths.ts";
import { FileError } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { realPath } from "../host/paths.ts";
import { mayHaveOperations, parseDocument } from "../parse/document/document.ts";

/** A document as its run has left it. */
export interface ResultDocument {
  /** Relative to the project root where it lies inside. */
  readonly path: string;
  readonly text: string;
  /** Files inside each other, the entry being 1. */
  readonly depth: number;
  /** How many operations it has, those that are text not among them. */
  readonly operations: number;
}

/** Where the result documents of a run go (documents.md 12): each is whole or not there. */
export class DocumentResults {
  readonly #out: string | undefined;
  readonly #root: string;
  readonly #cwd: string;
  readonly #onWritten: (path: string) => Promise<void>;
  #entry: string | undefined;
  #woken = 0;

  /** @param place `onWritten` is told the real path of each result document beside its source */
  constructor(
    out: string | undefined,
    place: {
      readonly root: string;
      readonly cwd: string;
      readonly onWritten?: (path: string) => Promise<void>;
    },
  ) {
    this.#out = out;
    this.#root = place.root;
    this.#cwd = place.cwd;
    this.#onWritten = place.onWritten ?? (() => Promise.resolve());
  }

  /** That of the entry, once it is there; where it goes to stdout. */
  get shown(): string | undefined {
    return this.#out === "-" ? this.#entry : undefined;
  }

  /** What is to be told of where it was written: text of answers and commands has operations once it is in a document. */
  get warning(): string | undefined {
    const some = this.#woken === 1
      ? "an operation that is text in this result"
      : `${this.#woken} operations that are text in this result`;
    return this.#woken === 0
      ? undefined
      : `${this.#out} is a document: ${some} would run with it; as a .ctx file it cannot run`;
  }

  /** @throws {FileError} */
  async keep({ path, text, depth, operations }: ResultDocument): Promise<void> {
    if (depth === 1) this.#entry = text;
    if (this.#out === undefined) return await this.#beside(path, text);
    if (depth > 1 || this.#out === "-" || this.#out === "none") return;
    if (mayHaveOperations(this.#out)) {
      const all = parseDocument(text).nodes.filter(({ kind }) => kind === "operation");
      this.#woken = Math.max(0, all.length - operations);
    }
    await hostFiles({ root: this.#cwd }).writeText(this.#out, text);
  }

  /** No grant is needed for these, so a link must not lead them elsewhere: not out of the project, nor to another file in it. */
  async #beside(path: string, text: string): Promise<void> {
    const wanted = resolve(this.#root, path);
    const place = join(realPath(dirname(wanted)), basename(wanted));
    const real = realPath(place);
    const why = !isInside(real, this.#root)
      ? `it would be outside the project root, at ${real}`
      : real !== place
      ? `it is a link, which leads to ${real}`
      : undefined;
    if (why !== undefined) {
      throw new FileError(
        `Cannot write the result document ${JSON.stringify(path)}: ${why}; name a place for it with --out`,
        { path, code: "other" },
      );
    }
    await hostFiles({ root: this.#root }).writeText(real, text);
    await this.#onWritten(real);
  }
}
