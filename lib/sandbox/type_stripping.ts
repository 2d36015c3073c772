// Modules are prepared with the runtime's own stripper of types, in one process for all that are prepared at the same time.

import type { RuntimeStripped, StripProcess } from "../host/strip_process.ts";
import type { PrepareOptions } from "./gate/prepare_modules.ts";
import type { PreparedGraph } from "./gate/prepared_graph.ts";

const loadStripProcess = (): Promise<typeof import("../host/strip_process.ts")> =>
  import("../host/strip_process.ts" as string);
const loadPrepare = (): Promise<typeof import("./gate/prepare_modules.ts")> =>
  import("./gate/prepare_modules.ts" as string);

/** Bounds of preparing. */
export interface TypeStrippingOptions {
  /** For reading one module. */
  readonly limitMs: number;
  /** Gives up. */
  readonly signal?: AbortSignal;
}

/** Prepares modules; the process is there as long as one of them is being prepared. */
export class TypeStripping {
  readonly #options: TypeStrippingOptions;
  #process: StripProcess | undefined;
  #users = 0;
  #ending: Promise<void> = Promise.resolve();

  constructor(options: TypeStrippingOptions) {
    this.#options = options;
  }

  /** @throws {SourceError} as `prepareModules`, and the signal's reason */
  async prepare(path: string, options: Omit<PrepareOptions, "strip">): Promise<PreparedGraph> {
    const { maybeStripProcess } = await loadStripProcess();
    this.#users++;
    const process = this.#process ??= maybeStripProcess(this.#options);
    try {
      if (/\.m?ts$/.test(path)) process?.warm();
      const { prepareModules } = await loadPrepare();
      return await prepareModules(path, {
        ...options,
        strip: process && ((text) => this.#strip(text, process)),
      });
    } finally {
      this.#users--;
      if (this.#users === 0) this.#end();
    }
  }

  /** Comes back when no process is left. */
  async close(): Promise<void> {
    await this.#ending;
  }

  async #strip(text: string, process: StripProcess): Promise<RuntimeStripped> {
    const { signal } = this.#options;
    signal?.throwIfAborted();
    const onAbort = (): void => void process.end();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      const stripped = await process.strip(text);
      signal?.throwIfAborted();
      return stripped;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  #end(): void {
    const process = this.#process;
    this.#process = undefined;
    this.#ending = Promise.all([this.#ending, process?.end()]).then(() => undefined);
  }
}
