import type { RunEvent } from "../core/event.ts";
import { RunNotFoundError, RunOwnedError } from "../core/journal.ts";
import type {
  JournalStatus,
  RunJournal,
  RunStart,
  StepOutcome,
  StepStart,
  StepTurn,
  StoredFile,
} from "../core/journal.ts";
import type { Json } from "../core/json.ts";
import type { Usage } from "../core/model.ts";
import type { JournalSettings } from "./journal_options.ts";
import { noSuchStep } from "./no_such_step.ts";
import { assertSameStep, parsed, parsedOutcome, stepIdentity } from "./step_rows.ts";
import type { StepIdentity } from "./step_rows.ts";
import type { FileRow, JournalStore, RunRow, StepRow } from "./store.ts";

/** What is told and not kept: it is read while it happens. */
const PASSING: ReadonlySet<RunEvent["type"]> = new Set(["text-delta", "call-log", "call-progress"]);

/** What a run is opened with. */
export interface OpenRunOptions {
  readonly store: JournalStore;
  readonly settings: JournalSettings;
  /** As the store has it, with this process's lease. */
  readonly row: RunRow;
  readonly token: string;
  readonly run: RunStart;
  readonly events: readonly RunEvent[];
  readonly resumedFrom: JournalStatus | undefined;
  readonly onRelease: () => void;
  /** The store has a new run that goes on. */
  readonly onKept: () => void;
  /** Adds the run to the store, with the first commit. */
  readonly create?: () => void;
}

/** A run that this process owns. What has to be written waits in memory for the next commit. */
export class OpenRun implements RunJournal {
  readonly id: string;
  readonly run: RunStart;
  readonly events: readonly RunEvent[];
  readonly resumedFrom: JournalStatus | undefined;
  readonly #store: JournalStore;
  readonly #settings: JournalSettings;
  readonly #token: string;
  readonly #onRelease: () => void;
  readonly #onKept: () => void;
  /** Where the run's own time is 0 on the clock. */
  readonly #zero: number;
  /** Begun by this process and not ended. */
  readonly #begun = new Map<string, StepRow>();
  readonly #reruns = new Set<string>();
  #changed = new Map<string, StepRow>();
  #told: RunEvent[] = [];
  #pieces: FileRow[] = [];
  #steps: number;
  #ticks: number;
  #lastSeq: number;
  #create: (() => void) | undefined;
  #state: "held" | "released" | "lost" = "held";

  constructor(options: OpenRunOptions) {
    const { store, settings, row, token, run, events, resumedFrom, onRelease, onKept, create } = options;
    this.#create = create;
    this.id = row.id;
    this.run = run;
    this.events = events;
    this.resumedFrom = resumedFrom;
    this.#store = store;
    this.#settings = settings;
    this.#token = token;
    this.#onRelease = onRelease;
    this.#onKept = onKept;
    this.#zero = settings.clock.now() - Math.max(row.elapsedMs, events.at(-1)?.at ?? 0);
    this.#steps = row.steps;
    this.#ticks = row.ticks;
    this.#lastSeq = events.at(-1)?.seq ?? 0;
  }

  begin(step: StepStart): StepTurn {
    this.#assertHeld();
    const now = stepIdentity(this.#settings.mask(step));
    if (this.#begun.has(now.key)) throw new Error(`Step "${now.key}" has begun already and has not ended`);
    const kept = this.#changed.get(now.key) ?? this.#store.step(this.id, now.key);
    if (kept === undefined) return this.#perform(now, undefined);
    assertSameStep(kept, now);
    if (kept.outcome !== undefined) {
      const ms = (kept.endedAt ?? kept.startedAt) - kept.startedAt;
      return { do: "answer", outcome: parsedOutcome(kept.outcome), ms, attempt: kept.attempt };
    }
    const isSafe = (kept.idempotent && now.idempotent) || this.#reruns.has(now.key);
    return isSafe ? this.#perform(now, kept) : { do: "unverified", attempt: kept.attempt };
  }

  finish(key: string, outcome: StepOutcome): void {
    this.end(key, outcome);
    this.#commit();
  }

  end(key: string, outcome: StepOutcome): void {
    this.#assertHeld();
    const row = this.#begunStep(key);
    this.#begun.delete(row.key);
    this.#end(row, outcome);
  }

  commit(): void {
    this.#assertHeld();
    const isWaiting = this.#changed.size > 0 || this.#told.length > 0 || this.#pieces.length > 0;
    if (isWaiting || this.#create !== undefined) this.#commit();
  }

  prefix(key: string, prefix: Json): void {
    this.#assertHeld();
    const row = { ...this.#begunStep(key), prefix: JSON.stringify(this.#settings.mask(prefix)) };
    this.#begun.set(row.key, row);
    this.#changed.set(row.key, row);
  }

  tell(event: RunEvent): void {
    this.#assertHeld();
    this.#lastSeq = event.seq;
    if (!PASSING.has(event.type)) this.#told.push(this.#settings.mask(event));
  }

  file(stored: StoredFile): void {
    this.#assertHeld();
    this.#pieces.push(this.#settings.mask(stored));
  }

  settle(key: string, decision: "rerun" | { readonly outcome: StepOutcome }): void {
    this.#assertHeld();
    const masked = this.#settings.mask(key);
    const row = this.#store.step(this.id, masked);
    if (row === undefined) throw noSuchStep(this.#store, { id: this.id, key: masked });
    if (row.outcome !== undefined || this.#begun.has(masked)) {
      const why = row.outcome === undefined ? "it is being performed" : "its outcome is known";
      throw new Error(`Step "${masked}" has nothing to be settled: ${why}`);
    }
    if (decision === "rerun") this.#reruns.add(masked);
    else {
      this.#end(row, decision.outcome);
      this.#commit();
    }
  }

  release(status: JournalStatus, usage?: Usage): void {
    if (this.#state === "released") return;
    this.#assertHeld();
    this.#commit((row) =>
      this.#store.putRun({
        ...row,
        status,
        lease: undefined,
        ...(usage === undefined ? {} : { usage: JSON.stringify(usage) }),
      })
    );
    this.#state = "released";
    this.#onRelease();
  }

  /** A sign of life between two commits. */
  sign(): void {
    if (this.#state !== "held" || this.#create !== undefined) return;
    const seenAt = this.#settings.now();
    if (!this.#store.commit(() => this.#store.noteSeen(this.id, { token: this.#token, seenAt }))) {
      this.#lose();
    }
  }

  #perform(now: StepIdentity, before: StepRow | undefined): StepTurn {
    const row: StepRow = {
      ...now,
      outcome: undefined,
      prefix: before?.prefix,
      startedAt: this.#elapsed(),
      endedAt: undefined,
      attempt: (before?.attempt ?? 0) + 1,
      beganTick: ++this.#ticks,
      endedTick: undefined,
      seenSeq: this.#lastSeq,
    };
    this.#begun.set(row.key, row);
    this.#changed.set(row.key, row);
    if (before === undefined) this.#steps++;
    if (!row.idempotent) this.#commitStart(row.key, before === undefined);
    this.#reruns.delete(row.key);
    return {
      do: "perform",
      attempt: row.attempt,
      ...(row.prefix === undefined ? {} : { prefix: parsed(row.prefix) }),
    };
  }

  /** A step whose start could not be kept is not performed, so it has not begun. */
  #commitStart(key: string, isNew: boolean): void {
    try {
      this.#commit();
    } catch (error) {
      this.#begun.delete(key);
      this.#changed.delete(key);
      if (isNew) this.#steps--;
      throw error;
    }
  }

  #end(row: StepRow, outcome: StepOutcome): void {
    this.#changed.set(row.key, {
      ...row,
      outcome: JSON.stringify(this.#settings.mask(outcome)),
      prefix: undefined,
      endedAt: this.#elapsed(),
      endedTick: ++this.#ticks,
    });
  }

  #begunStep(key: string): StepRow {
    const row = this.#begun.get(this.#settings.mask(key));
    if (row === undefined) throw new Error(`Step "${key}" has not begun, or has ended already`);
    return row;
  }

  /** All that waits, and what `last` does to the run's row, as one. What waits stays when it fails. */
  #commit(last?: (row: RunRow) => void): void {
    const store = this.#store;
    store.commit(() => {
      this.#create?.();
      this.#noteProgress();
      for (const row of this.#changed.values()) store.putStep(this.id, row);
      for (const piece of this.#pieces) store.addFile(this.id, piece);
      if (this.#told.length > 0) store.addEvents(this.id, JSON.stringify(this.#told));
      if (last !== undefined) last(this.#row());
    });
    const isNew = this.#create !== undefined;
    this.#create = undefined;
    this.#changed = new Map();
    this.#pieces = [];
    this.#told = [];
    if (isNew && last === undefined) this.#onKept();
  }

  #noteProgress(): void {
    const now = this.#settings.now();
    const isOurs = this.#store.noteProgress(this.id, {
      token: this.#token,
      seenAt: now,
      updatedAt: now,
      status: "running",
      steps: this.#steps,
      ticks: this.#ticks,
      elapsedMs: this.#elapsed(),
    });
    if (!isOurs) throw this.#lose();
  }

  #row(): RunRow {
    const row = this.#store.run(this.id);
    if (row === undefined) throw this.#lose();
    return row;
  }

  /** Another process has taken the run while this one gave no sign of life. */
  #lose(): Error {
    this.#state = "lost";
    this.#onRelease();
    return this.#lostError();
  }

  #lostError(): Error {
    const lease = this.#store.run(this.id)?.lease;
    if (lease === undefined) {
      return new RunNotFoundError(
        `Run "${this.id}" was removed, or ended, by another process while it ran here`,
      );
    }
    return new RunOwnedError(
      `Run "${this.id}" was taken over by process ${lease.pid} on host "${lease.host}" while this process gave no sign of life: ` +
        `nothing more of it is kept here`,
    );
  }

  #assertHeld(): void {
    if (this.#state === "released") throw new Error(`Run "${this.id}" was released: open it again to go on`);
    if (this.#state === "lost") throw this.#lostError();
  }

  #elapsed(): number {
    return Math.round((this.#settings.clock.now() - this.#zero) * 1000) / 1000;
  }
}
