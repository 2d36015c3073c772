// Outcomes of one moment are one commit: what ends together, and what starts because of it, costs one wait for the disk. Until then
// nothing of it is told to anybody.

import type { Channel, RunEvent, RunEventBody, RunJournal, StepOutcome } from "../core/core.ts";

/** What has been read is kept so late: whoever goes on with the run before that reads it anew. */
const READING_MS = 25;

/** The way out of a run: events in order, none of an outcome before that is durable. */
export class Outbox {
  readonly #events: Channel<RunEvent>;
  readonly #journal: RunJournal | undefined;
  readonly #onError: (error: unknown) => void;
  #waiting: RunEvent[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What has ended and is not durable. Behind a read another read may begin, and nothing else. */
  #ended: "nothing" | "reads" | "steps" = "nothing";
  #isLast = false;

  constructor(
    events: Channel<RunEvent>,
    { journal, onError }: {
      readonly journal: RunJournal | undefined;
      readonly onError: (error: unknown) => void;
    },
  ) {
    this.#events = events;
    this.#journal = journal;
    this.#onError = onError;
  }

  /** `isKept`: the journal is told too. */
  push(event: RunEvent, { isKept }: { readonly isKept: boolean }): void {
    if (isKept) this.#try((journal) => journal.tell(event));
    if (this.#ended === "nothing" && !this.#isLast) this.#events.push(event);
    else this.#waiting.push(event);
  }

  /**
   * Notes an outcome; it and everything told from now on waits for the next commit, at the latest when this turn of the event loop is over;
   * that of a read may wait for those that come after it.
   */
  end(key: string, outcome: StepOutcome, { isRead }: { readonly isRead: boolean }): void {
    if (this.#journal === undefined) return;
    this.#try((journal) => journal.end(key, outcome));
    if (this.#ended === "steps" || (this.#ended === "reads" && isRead)) return;
    this.#ended = isRead ? "reads" : "steps";
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), isRead ? READING_MS : 0);
  }

  /** A step begins: it may depend on what has just ended. */
  beforeStep({ isRead }: { readonly isRead: boolean }): void {
    if (this.#ended === "steps" || (this.#ended === "reads" && !isRead)) this.flush();
  }

  /** Makes all that waits durable, and tells it. */
  flush(): void {
    this.#try((journal) => journal.commit());
    this.#release();
  }

  /** The last event waits until the journal has taken it; `amend` may change it by then. */
  last(tell: () => void, { keep, amend }: { keep: () => void; amend: (event: RunEvent) => RunEvent }): void {
    this.#isLast = this.#journal !== undefined;
    tell();
    keep();
    const last = this.#waiting.pop();
    if (last !== undefined) this.#waiting.push(amend(last));
    this.#release();
  }

  #release(): void {
    clearTimeout(this.#timer);
    this.#ended = "nothing";
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const event of waiting) this.#events.push(event);
  }

  #try(work: (journal: RunJournal) => void): void {
    try {
      if (this.#journal !== undefined) work(this.#journal);
    } catch (error) {
      this.#onError(error);
    }
  }
}

/**
 * What makes an event the same one when a resumed run comes by again: its place, not its text, but for what a call logs. Deltas and
 * progress are not stored and have none in common with a stored event.
 */
export function eventIdentity(event: RunEventBody | RunEvent): string {
  switch (event.type) {
    case "run-start":
    case "run-end":
      return event.type;
    case "step-start":
      return `${event.type} ${event.key} ${event.attempt}`;
    case "step-end":
      return `${event.type} ${event.key} ${event.error === undefined} ${event.partial ?? ""}`;
    case "message":
      return `${event.type} ${event.step} ${event.n}`;
    case "jump":
      return `${event.type} ${event.from}`;
    case "slot-set":
      return `${event.type} ${event.step} ${event.destination}.${event.name}`;
    case "hold":
    case "usage":
    case "step-skip":
    case "block-merge":
      return `${event.type} ${event.step}`;
    case "call-open":
    case "call-run":
    case "call-result":
    case "call-error":
    case "call-skip":
      return `${event.type} ${event.step ?? ""} ${event.line} ${event.invocationId}`;
    case "permission-ask":
    case "permission-answer":
      return `${event.type} ${event.subject} ${event.permissions.join("\n")}`;
    case "warning":
      return `${event.type} ${event.file ?? ""} ${event.line ?? 0} ${event.text}`;
    case "call-log":
      return `${event.type} ${event.step ?? ""} ${event.line} ${event.invocationId} ${event.text}`;
    case "text-delta":
    case "call-progress":
      return `${event.type} -`;
    default:
      return event satisfies never;
  }
}
