import type { Collection } from "../core/collection.ts";
import { projectCollection } from "../project/project_collection.ts";
import type { ProjectCollectionOptions } from "../project/project_collection.ts";

/** A collection whose index is in memory; it is opened with the first search. */
export class TestCollection implements Collection, AsyncDisposable {
  readonly #path: string;
  readonly #options: Pick<ProjectCollectionOptions, "root" | "files">;
  #opened: Promise<Collection & Disposable> | undefined;

  /** @param path of a `*.collection.yml`: absolute */
  constructor(path: string, options: Pick<ProjectCollectionOptions, "root" | "files">) {
    this.#path = path;
    this.#options = options;
  }

  async search(...given: Parameters<Collection["search"]>): ReturnType<Collection["search"]> {
    const opened = await (this.#opened ??= projectCollection(this.#path, {
      ...this.#options,
      isKept: false,
    }));
    return await opened.search(...given);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    (await this.#opened?.catch(() => undefined))?.[Symbol.dispose]();
  }
}
