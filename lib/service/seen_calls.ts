import type { RunEvent } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import { eventBytes } from "./event_bytes.ts";
import type { ReadSource } from "./run_reader.ts";
import { RunSummary } from "./run_summary.ts";

/** Whoever follows a run by asking for its state asks again and again. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The calls of a run up to a place: the next look goes on from there. */
export class SeenCalls {
  readonly #source: Pick<ReadSource, "history" | "earlier">;
  readonly #summary = new RunSummary({ withCalls: true });
  #seen = 0;
  #bytes = 0;

  constructor(source: Pick<ReadSource, "history" | "earlier">) {
    this.#source = source;
  }

  /** It takes no more than a run's history does: it may be kept for the next look. */
  get isSmall(): boolean {
    return this.#bytes <= MAX_BYTES;
  }

  /** As they stand now; undefined where events that are not held any more were not kept. */
  look(): readonly Json[] | undefined {
    const { history } = this.#source;
    while (this.#seen < history.gone) {
      const part = this.#source.earlier(this.#seen);
      if (part === undefined) return undefined;
      for (const event of part) if (event.seq <= history.gone) this.#add(event);
      this.#seen = Math.min(part.at(-1)?.seq ?? history.gone, history.gone);
    }
    const { events, last } = history.behind(this.#seen, { maxBytes: Infinity });
    for (const event of events) this.#add(event);
    this.#seen = last;
    return this.#summary.calls;
  }

  #add(event: RunEvent): void {
    if (!("invocationId" in event)) return;
    this.#summary.add(event);
    this.#bytes += eventBytes(event);
  }
}
