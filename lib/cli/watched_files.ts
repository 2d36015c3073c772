import { FileError } from "../core/world.ts";
import { NO_FILE_THERE, printOf } from "./noted_files.ts";
import type { FileListener, FilePrint } from "./noted_files.ts";

/** What is needed to look at files. */
export interface WatchedFilesOptions {
  /** The real, absolute path of one as it was named. */
  real(path: string): string;
  /** @throws {FileError} */
  readBytes(path: string): Promise<Uint8Array>;
}

/** The files that the last run used, each as that run saw it. */
export class WatchedFiles implements FileListener {
  readonly #options: WatchedFilesOptions;
  /** By real path; undefined where it was looked at and not read. */
  #prints = new Map<string, FilePrint | undefined>();

  constructor(options: WatchedFilesOptions) {
    this.#options = options;
  }

  /** Real and absolute. */
  get paths(): readonly string[] {
    return [...this.#prints.keys()];
  }

  /** A run begins: what it uses counts from now on. */
  clear(): void {
    this.#prints = new Map();
  }

  onRead(path: string, print: FilePrint): void {
    this.#prints.set(this.#options.real(path), print);
  }

  onLook(path: string): void {
    const real = this.#options.real(path);
    if (!this.#prints.has(real)) this.#prints.set(real, undefined);
  }

  /** What a run writes is no change that anybody made. */
  async onWrite(path: string): Promise<void> {
    const real = this.#options.real(path);
    if (this.#prints.has(real)) this.#prints.set(real, await this.#printNow(real));
  }

  /** Those that are not as they were seen; one that was only looked at is from now on. */
  async changed(): Promise<readonly string[]> {
    const changed: string[] = [];
    for (const [path, print] of this.#prints) {
      const now = await this.#printNow(path);
      if (print === undefined) this.#prints.set(path, now);
      else if (print !== now) changed.push(path);
    }
    return changed;
  }

  /** As they are now is as they were seen. */
  async accept(): Promise<void> {
    for (const path of this.paths) this.#prints.set(path, await this.#printNow(path));
  }

  async #printNow(path: string): Promise<FilePrint> {
    try {
      return await printOf(await this.#options.readBytes(path));
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      return error.code === "not-found" ? NO_FILE_THERE : error.code;
    }
  }
}
