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

/** Which call it is. */
const CALL = ["step", "line", "invocationId"] as const;

/** What tells an event from others of its type: its place, not its text, but for what a call logs. */
const IDENTITY: {
  readonly [Type in RunEvent["type"]]: readonly KeysOf<Extract<RunEvent, { type: Type }>>[];
} = {
  "run-start": [],
  "run-end": [],
  "step-start": ["key", "attempt"],
  "step-end": ["key", "error", "partial"],
  "message": ["step", "n"],
  "jump": ["from"],
  "slot-set": ["step", "destination", "name"],
  "hold": ["step"],
  "usage": ["step"],
  "step-skip": ["step"],
  "block-merge": ["step"],
  "call-open": CALL,
  "call-run": CALL,
  "call-result": CALL,
  "call-error": CALL,
  "call-skip": CALL,
  "call-log": [...CALL, "text"],
  "permission-ask": ["subject", "permissions"],
  "permission-answer": ["subject", "permissions"],
  "warning": ["file", "line", "text"],
  // Deltas and progress are not stored and have nothing in common with a stored event.
  "text-delta": [],
  "call-progress": [],
};

type KeysOf<Event> = Extract<keyof Event, string>;

/** What makes an event the same one when a resumed run comes by again. */
export function eventIdentity(event: RunEventBody | RunEvent): string {
  const fields: readonly string[] = IDENTITY[event.type];
  const valueOf = (field: string): unknown => {
    const value: unknown = Reflect.get(event, field);
    return field === "error" ? value !== undefined : value; // only whether a step has failed
  };
  return JSON.stringify([event.type, ...fields.map(valueOf)]);
}
