import type { Journal, RunJournal, RunStart } from "../core/journal.ts";
import { together } from "../host/soon.ts";

/** What runs are kept with. */
export interface KeptBatchOptions {
  readonly journal: Pick<Journal, "create" | "createAll">;
  /** Asked last before they are kept. @throws {Error} when none may begin any more */
  readonly assertGoing: () => void;
}

interface Waiting {
  readonly start: RunStart;
  readonly kept: PromiseWithResolvers<RunJournal>;
}

/** Runs that are accepted in one turn of the event loop are kept with one commit: everybody waits for the disk meanwhile. */
export class KeptBatch {
  readonly #options: KeptBatchOptions;
  readonly #add = together<Waiting>((waiting) => this.#create(waiting));

  constructor(options: KeptBatchOptions) {
    this.#options = options;
  }

  /** Comes back when the run is durable. */
  create(start: RunStart): Promise<RunJournal> {
    const kept = Promise.withResolvers<RunJournal>();
    this.#add({ start, kept });
    return kept.promise;
  }

  #create(waiting: readonly Waiting[]): void {
    try {
      this.#options.assertGoing();
    } catch (error) {
      for (const { kept } of waiting) kept.reject(error);
      return;
    }
    if (this.#together(waiting)) return;
    for (const { start, kept } of waiting) { // one that cannot be kept keeps none of the others away
      try {
        kept.resolve(this.#options.journal.create(start));
      } catch (error) {
        kept.reject(error);
      }
    }
  }

  /** Whether it was done. */
  #together(waiting: readonly Waiting[]): boolean {
    if (waiting.length === 1) return false;
    try {
      const runs = this.#options.journal.createAll(waiting.map(({ start }) => start));
      waiting.forEach(({ kept }, index) => {
        const run = runs[index];
        if (run !== undefined) kept.resolve(run);
      });
      return true;
    } catch {
      return false;
    }
  }
}
