// Outcomes of one moment are one commit: what ends together, and what starts because of it, costs one wait for the disk. Until then
// nothing of it is told to anybody.

import type { Channel } from "../core/async.ts";
import type { RunEvent, RunEventBody } from "../core/event.ts";
import type { RunJournal, StepOutcome } from "../core/journal.ts";

/** A run that is over so soon is one commit in all: where something takes its time, and where nothing does. */
const OPENING_MS = 10;
const BUSY_OPENING_MS = 50;

/** What has been read is kept so late: whoever goes on with the run before that reads it anew. */
const READING_MS = 25;

/** So many events are held back at its opening. */
const MAX_OPENING_EVENTS = 1000;

/** The way out of a run: events in order, none before what it tells of is durable. */
export class Outbox {
  readonly #events: Channel<RunEvent>;
  readonly #journal: RunJournal | undefined;
  readonly #onError: (error: unknown) => void;
  #waiting: RunEvent[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** An outcome waits: nothing may begin before it is durable. */
  #hasOutcome = false;
  /** One of them is not of a read: not even a read may begin. */
  #isPressing = false;
  /** Nothing is durable yet. No timer runs: the first one of a process takes 4 ms to be set in Deno 2.9, as long as a whole short run. */
  #openedAt: number | undefined;
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
    if (journal !== undefined && journal.resumedFrom === undefined) {
      this.#openedAt = performance.now();
    }
  }

  /** `isKept`: the journal is told too. */
  push(event: RunEvent, { isKept }: { readonly isKept: boolean }): void {
    if (isKept) this.#try((journal) => journal.tell(event));
    if (this.#timer === undefined && this.#openedAt === undefined && !this.#isLast) {
      return this.#events.push(event);
    }
    this.#waiting.push(event);
    if (this.#openedAt === undefined) return;
    const isLong = performance.now() - this.#openedAt > BUSY_OPENING_MS;
    if (isLong || this.#waiting.length > MAX_OPENING_EVENTS) this.flush();
  }

  /**
   * Notes an outcome; it and everything told from now on waits for the next commit, at the latest when this turn of the event loop is over;
   * that of a read may wait for those that come after it.
   */
  end(key: string, outcome: StepOutcome, { isRead }: { readonly isRead: boolean }): void {
    if (this.#journal === undefined) return;
    this.#try((journal) => journal.end(key, outcome));
    if (this.#isPressing || (this.#hasOutcome && isRead)) return;
    this.#hasOutcome = true;
    this.#isPressing = !isRead;
    if (this.#openedAt === undefined) this.#commitIn(isRead ? READING_MS : 0);
  }

  /** A step begins: it may depend on what has just ended. */
  beforeStep({ isRead }: { readonly isRead: boolean }): void {
    if (isRead ? this.#isPressing : this.#hasOutcome) this.flush();
  }

  /** Something takes its time: the opening ends by itself. */
  wait(): void {
    if (this.#openedAt === undefined) return;
    const leftMs = this.#hasOutcome ? 0 : this.#openedAt + OPENING_MS - performance.now();
    this.#openedAt = undefined;
    this.#commitIn(Math.max(0, leftMs));
  }

  /** The last event waits until the journal has taken it; `amend` may change it by then. */
  last(tell: () => void, { keep, amend }: { keep: () => void; amend: (event: RunEvent) => RunEvent }): void {
    this.#isLast = this.#journal !== undefined;
    tell();
    keep();
    const last = this.#waiting.pop();
    if (last !== undefined) this.#waiting.push(amend(last));
    this.release();
  }

  /** All that waits is durable by now. */
  release(): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer); // it, too, would load the timers
    this.#timer = undefined;
    this.#openedAt = undefined;
    this.#hasOutcome = this.#isPressing = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const event of waiting) this.#events.push(event);
  }

  #commitIn(ms: number): void {
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.flush(), ms);
  }

  /** Makes all that waits durable, and tells it. */
  flush(): void {
    this.#try((journal) => journal.commit());
    this.release();
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
