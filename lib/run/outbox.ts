// Outcomes of one moment are one commit: what ends together, and what starts because of it, costs one wait for the disk. Until then
// nothing of it is told to anybody.

import {
  type Channel,
  isPassing,
  type RunEvent,
  type RunEventBody,
  type RunJournal,
  type StepOutcome,
} from "../core/core.ts";

/** What has been read is kept so late: whoever goes on with the run before that reads it anew. */
const READING_MS = 25;

/** The way out of a run: events in order, none of an outcome before that is durable. */
export interface Outbox {
  /** `isKept`: the journal is told too. */
  push(event: RunEvent, told: { readonly isKept: boolean }): void;
  /**
   * Notes an outcome; it and everything told from now on waits for the next commit, at the latest when this turn of the event loop is over;
   * that of a read may wait for those that come after it.
   */
  end(key: string, outcome: StepOutcome, step: { readonly isRead: boolean }): void;
  /** A step begins: it may depend on what has just ended. */
  beforeStep(step: { readonly isRead: boolean }): void;
  /** Makes all that waits durable, and tells it. */
  flush(): void;
  /** The last event waits until the journal has taken it; `amend` may change it by then. */
  last(tell: () => void, how: { keep: () => void; amend: (event: RunEvent) => RunEvent }): void;
  /** No more comes. */
  close(): void;
}

/** Tells events to a channel, and to the journal where there is one. */
export function createOutbox(events: Channel<RunEvent>, { journal, onError }: {
  readonly journal: RunJournal | undefined;
  readonly onError: (error: unknown) => void;
}): Outbox {
  const waiting: RunEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** What has ended and is not durable. Behind a read another read may begin, and nothing else. */
  let ended: "nothing" | "reads" | "steps" = "nothing";
  let holdsLast = false;
  /** What is committed and not durable yet: what is told meanwhile goes out behind it. */
  let keeping: Promise<void> | undefined;
  let amendLast = (event: RunEvent): RunEvent => event;

  function push(event: RunEvent, { isKept }: { readonly isKept: boolean }): void {
    if (isKept) tryJournal((journal) => journal.tell(event));
    // Where another process may go on with the run, nobody hears of what that one would not know.
    if (isKept && journal?.whenKept !== undefined && !isPassing(event)) soon("steps", 0);
    if (ended === "nothing" && !holdsLast && keeping === undefined) events.push(event);
    else waiting.push(event);
  }

  function end(key: string, outcome: StepOutcome, { isRead }: { readonly isRead: boolean }): void {
    if (journal === undefined) return;
    tryJournal((journal) => journal.end(key, outcome));
    soon(isRead ? "reads" : "steps", isRead ? READING_MS : 0);
  }

  function soon(what: "reads" | "steps", ms: number): void {
    if (ended === "steps" || ended === what) return;
    ended = what;
    clearTimeout(timer);
    timer = setTimeout(flush, ms);
  }

  function beforeStep({ isRead }: { readonly isRead: boolean }): void {
    if (ended === "steps" || (ended === "reads" && !isRead)) flush();
  }

  function flush(): void {
    tryJournal((journal) => journal.commit());
    release();
  }

  function last(
    tell: () => void,
    { keep, amend }: { keep: () => void; amend: (event: RunEvent) => RunEvent },
  ): void {
    holdsLast = journal !== undefined;
    amendLast = amend;
    tell();
    keep();
    release();
  }

  function release(): void {
    clearTimeout(timer);
    ended = "nothing";
    const released = waiting.splice(0);
    const kept = journal?.whenKept?.();
    if (kept === undefined && keeping === undefined) return give(released);
    const mine: Promise<void> = Promise.all([kept, keeping]).catch(onError).then(() => {
      give(released);
      if (keeping !== mine) return;
      keeping = undefined;
      if (ended === "nothing") give(waiting.splice(0));
    });
    keeping = mine;
  }

  function give(released: readonly RunEvent[]): void {
    for (const event of released) events.push(holdsLast ? amendLast(event) : event);
  }

  function close(): void {
    if (keeping === undefined) events.end();
    else keeping.then(() => events.end());
  }

  function tryJournal(work: (journal: RunJournal) => void): void {
    try {
      if (journal !== undefined) work(journal);
    } catch (error) {
      onError(error);
    }
  }

  return { push, end, beforeStep, flush, last, close };
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
  "reasoning-delta": [],
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
