import {
  type BeginOptions,
  canonicalJson,
  type Checkpoint,
  type ConversationSave,
  DivergedError,
  firstDifference,
  type JournalStatus,
  type Json,
  type LogEntry,
  type MessageRange,
  type RunEvent,
  type RunJournal,
  RunNotFoundError,
  RunOwnedError,
  type RunStart,
  sha256,
  type SlotScope,
  type StepOutcome,
  type StepRecord,
  type StepStart,
  type StepTurn,
  type StoredFile,
  type Usage,
} from "../core/core.ts";
import { noSuchStep } from "./find.ts";
import type { RunConversation, RunMoment } from "./run_conversation.ts";
import type { FileRow, JournalSettings, JournalStore, Lease, RunProgress, RunRow, StepRow } from "./store.ts";

/** What is told and not kept: it is read while it happens. */
const PASSING: ReadonlySet<RunEvent["type"]> = new Set(["text-delta", "call-progress"]);

/** Whoever reads events from a place on reads whole lists. */
const MAX_LIST_EVENTS = 100;
const MAX_LIST_CHARS = 65_536;

/** The row of a run that this process owns. */
export type OwnedRow = RunRow & { readonly lease: Lease };

/** What the end of a run changes of its row. */
type RunEnd = Pick<RunRow, "status" | "lease"> & Partial<Pick<RunRow, "usage">>;

/** What a run is opened with. */
export interface OpenRunOptions {
  readonly store: JournalStore;
  readonly settings: JournalSettings;
  /** As the store has it, with this process's lease. */
  readonly row: OwnedRow;
  readonly run: RunStart;
  /** Those behind the checkpoint that the conversation has. */
  readonly events: readonly RunEvent[];
  readonly conversation: RunConversation;
  readonly resumedFrom: JournalStatus | undefined;
  readonly onRelease: () => void;
  /** The run is not in the store yet: the first commit adds it. */
  readonly isNew: boolean;
}

/** A run that this process owns. What has to be written waits in memory for the next commit. */
export class OpenRun implements RunJournal {
  readonly id: string;
  readonly run: RunStart;
  readonly checkpoint: Checkpoint | undefined;
  readonly events: readonly RunEvent[];
  readonly lastSeq: number;
  readonly lastAt: number;
  readonly usage: Usage;
  readonly resumedFrom: JournalStatus | undefined;
  readonly #conversation: RunConversation;
  readonly #store: JournalStore;
  readonly #settings: JournalSettings;
  readonly #row: OwnedRow;
  readonly #onRelease: () => void;
  /** Where the run's own time is 0 on the clock. */
  readonly #zero: number;
  /** Begun by this process and not ended. */
  readonly #begun = new Map<string, StepRow>();
  readonly #reruns = new Set<string>();
  /** Keys of steps that have pieces in the store. */
  readonly #withPieces = new Set<string>();
  #changed = new Map<string, StepRow>();
  /** JSON, by the key of the step. */
  #pieces = new Map<string, string[]>();
  /** Keys of steps that have ended and have pieces in the store still. */
  #emptied: string[] = [];
  #told: RunEvent[] = [];
  #files: FileRow[] = [];
  #steps: number;
  #ticks: number;
  #seen: { readonly seq: number; readonly at: number };
  #isNew: boolean;
  #status: JournalStatus = "running";
  #state: "held" | "released" | "lost" = "held";

  constructor(options: OpenRunOptions) {
    const { store, settings, row, run, events, resumedFrom, isNew, onRelease, conversation } = options;
    const before = conversation.before;
    this.#seen = events.at(-1) ?? before ?? { seq: 0, at: 0 };
    this.id = row.id;
    this.run = run;
    this.checkpoint = before?.checkpoint;
    this.events = events;
    this.lastSeq = this.#seen.seq;
    this.lastAt = this.#seen.at;
    this.usage = before?.usage ?? { input: 0, output: 0 };
    this.resumedFrom = resumedFrom;
    this.#conversation = conversation;
    this.#store = store;
    this.#settings = settings;
    this.#row = row;
    this.#isNew = isNew;
    this.#onRelease = onRelease;
    this.#zero = settings.clock.now() - Math.max(row.elapsedMs, this.lastAt);
    this.#steps = row.steps;
    this.#ticks = row.ticks;
  }

  /** Where the run is: `running` until its release. */
  get status(): JournalStatus {
    return this.#status;
  }

  begin(step: StepStart, { isDeferred = false }: BeginOptions = {}): StepTurn {
    this.#assertHeld();
    const now = stepIdentity(this.#settings.mask(step));
    if (this.#begun.has(now.key)) throw new Error(`Step "${now.key}" has begun already and has not ended`);
    const kept = this.#changed.get(now.key) ?? this.#storedStep(now.key);
    if (kept === undefined) return this.#perform(now, { before: undefined, isDeferred });
    assertSameStep(kept, now);
    if (kept.outcome !== undefined) {
      const ms = (kept.endedAt ?? kept.startedAt) - kept.startedAt;
      return { do: "answer", outcome: parsedOutcome(kept.outcome), ms, attempt: kept.attempt };
    }
    const isSafe = (kept.idempotent && now.idempotent) || this.#reruns.has(now.key);
    return isSafe
      ? this.#perform(now, { before: kept, isDeferred })
      : { do: "unverified", attempt: kept.attempt };
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
    const isWaiting = this.#changed.size > 0 || this.#pieces.size > 0 || this.#told.length > 0 ||
      this.#files.length > 0 || this.#conversation.isWaiting;
    if (isWaiting || this.#isNew) this.#commit();
  }

  prefix(key: string, piece: Json): void {
    this.#assertHeld();
    const row = this.#begunStep(key);
    const text = JSON.stringify(this.#settings.mask(piece));
    const waiting = this.#pieces.get(row.key);
    if (waiting === undefined) this.#pieces.set(row.key, [text]);
    else waiting.push(text);
  }

  tell(event: RunEvent): void {
    this.#assertHeld();
    this.#seen = event;
    this.#conversation.tell(event);
    if (!PASSING.has(event.type)) this.#told.push(this.#settings.mask(event));
  }

  file(stored: StoredFile): void {
    this.#assertHeld();
    this.#files.push(this.#settings.mask(stored));
  }

  save(saved: ConversationSave): void {
    this.#assertHeld();
    this.#conversation.save(saved);
  }

  messages(options: MessageRange = {}): readonly LogEntry[] {
    this.#assertHeld();
    return this.#conversation.messages(options);
  }

  slots(scope: SlotScope): Readonly<Record<string, Json>> {
    this.#assertHeld();
    return this.#conversation.slots(scope);
  }

  settle(key: string, decision: "rerun" | { readonly outcome: StepOutcome }): void {
    this.#assertHeld();
    const masked = this.#settings.mask(key);
    const row = this.#storedStep(masked);
    if (row === undefined) throw noSuchStep(this.#store, { id: this.id, key: masked });
    if (row.outcome !== undefined || this.#begun.has(masked)) {
      const why = row.outcome === undefined ? "it is being performed" : "its outcome is known";
      throw new Error(`Step "${masked}" has nothing to be settled: ${why}`);
    }
    if (decision === "rerun") this.#reruns.add(masked);
    else {
      this.#storedPieces(row);
      this.#end(row, decision.outcome);
      this.#commit();
    }
  }

  release(status: JournalStatus, usage?: Usage): void {
    if (this.#state === "released") return;
    this.#assertHeld();
    this.#commit({
      status,
      lease: undefined,
      ...(usage === undefined ? {} : { usage: JSON.stringify(usage) }),
    });
    this.#state = "released";
    this.#status = status;
    this.#onRelease();
  }

  /** A sign of life between two commits. */
  sign(): void {
    if (this.#state !== "held" || this.#isNew) return;
    const seenAt = this.#settings.now();
    if (!this.#store.commit(() => this.#store.noteSeen(this.id, { token: this.#row.lease.token, seenAt }))) {
      this.#lose();
    }
  }

  #storedStep(key: string): StepRow | undefined {
    return this.#isNew ? undefined : this.#store.step(this.id, key);
  }

  /** Those of earlier attempts. */
  #storedPieces(row: StepRow): readonly string[] {
    const pieces = stepPieces(this.#store, { id: this.id, row });
    if (pieces.length > 0) this.#withPieces.add(row.key);
    return pieces;
  }

  #perform(
    now: StepIdentity,
    { before, isDeferred }: { readonly before: StepRow | undefined; readonly isDeferred: boolean },
  ): StepTurn {
    const pieces = before === undefined ? [] : this.#storedPieces(before);
    const row: StepRow = {
      ...now,
      outcome: undefined,
      startedAt: this.#elapsed(),
      endedAt: undefined,
      attempt: (before?.attempt ?? 0) + 1,
      beganTick: ++this.#ticks,
      endedTick: undefined,
      seenSeq: this.#seen.seq,
    };
    this.#begun.set(row.key, row);
    this.#changed.set(row.key, row);
    if (before === undefined) this.#steps++;
    if (!row.idempotent && !isDeferred) this.#commitStart(row.key, before === undefined);
    this.#reruns.delete(row.key);
    return {
      do: "perform",
      attempt: row.attempt,
      ...(pieces.length === 0 ? {} : { prefix: parsedPieces(pieces) }),
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
      endedAt: this.#elapsed(),
      endedTick: ++this.#ticks,
    });
    this.#pieces.delete(row.key);
    if (this.#withPieces.delete(row.key)) this.#emptied.push(row.key);
  }

  #begunStep(key: string): StepRow {
    const row = this.#begun.get(this.#settings.mask(key));
    if (row === undefined) throw new Error(`Step "${key}" has not begun, or has ended already`);
    return row;
  }

  /** All that waits, and what changes with the end, as one. What waits stays when it fails. */
  #commit(end?: RunEnd): void {
    this.#store.commit(() => this.#put(end));
    this.#kept();
  }

  /** Inside a commit. */
  #put(end?: RunEnd): void {
    const store = this.#store;
    const isNew = this.#isNew;
    if (isNew) this.#putNew(end);
    else this.#noteProgress();
    for (const row of this.#changed.values()) store.putStep(this.id, row);
    for (const key of this.#emptied) store.removePieces(this.id, key);
    for (const [key, pieces] of this.#pieces) {
      store.addPieces(this.id, { key, pieces: `[${pieces.join(",")}]` });
    }
    for (const file of this.#files) store.addFile(this.id, file);
    for (const list of eventLists(this.#told)) store.addEvents(this.id, list);
    this.#conversation.put(this.#moment(), end?.usage);
    if (!isNew && end !== undefined) store.putRun({ ...this.#keptRow(), ...end });
  }

  /** What was put is durable. */
  #kept(): void {
    this.#isNew = false;
    this.#conversation.kept();
    for (const key of this.#pieces.keys()) this.#withPieces.add(key);
    this.#changed = new Map();
    this.#pieces = new Map();
    this.#emptied = [];
    this.#files = [];
    this.#told = [];
  }

  #putNew(end: RunEnd | undefined): void {
    if (this.#store.run(this.id) !== undefined) throw takenError(this.id);
    const progress = this.#progress();
    const lease = { ...this.#row.lease, seenAt: progress.updatedAt };
    this.#store.putRun({ ...this.#row, ...progress, lease, ...end });
    this.#store.putInput(this.id, JSON.stringify(this.run.input));
    for (const stored of this.run.files ?? []) this.#store.addFile(this.id, stored);
  }

  #noteProgress(): void {
    const progress = this.#progress();
    const sign = { token: this.#row.lease.token, seenAt: progress.updatedAt };
    if (!this.#store.noteProgress(this.id, { ...sign, ...progress })) throw this.#lose();
  }

  #progress(): RunProgress {
    return {
      status: "running",
      updatedAt: this.#settings.now(),
      steps: this.#steps,
      ticks: this.#ticks,
      elapsedMs: this.#elapsed(),
    };
  }

  #moment(): RunMoment {
    return {
      ticks: this.#ticks,
      elapsedMs: this.#elapsed(),
      seenSeq: this.#seen.seq,
      seenAt: this.#seen.at,
    };
  }

  #keptRow(): RunRow {
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

/** The error for an id that another run has. */
export function takenError(id: string): Error {
  return new Error(`There is a run "${id}" already: open it, or choose another id`);
}

/** What of a row says which step it is. */
export type StepIdentity = Pick<StepRow, "key" | "kind" | "name" | "input" | "inputHash" | "idempotent">;

/** The step as a row has it. */
function stepIdentity({ key, kind, name, input, idempotent }: StepStart): StepIdentity {
  return {
    key,
    kind,
    name,
    input: JSON.stringify(input),
    inputHash: sha256(canonicalJson(input)),
    idempotent,
  };
}

/** @throws {DivergedError} that shows both where they differ first, when the run wants another step than the recorded one. */
function assertSameStep(recorded: StepIdentity, now: StepIdentity): void {
  if (recorded.inputHash === now.inputHash && recorded.kind === now.kind && recorded.name === now.name) {
    return;
  }
  const difference = firstDifference(comparable(recorded), comparable(now));
  throw new DivergedError(
    `Step "${now.key}" is not the one that was recorded: ${difference}. ` +
      `Go on with what the run was started with, or fork it from this step`,
    now.key,
  );
}

/** With the keys of all objects in order, so that it is no difference. */
function comparable({ kind, name, input }: StepIdentity): Json {
  return { kind, name, input: parsed(canonicalJson(parsed(input))) };
}

/** Events as the store has them: JSON lists of which none is long but for a long event. */
export function eventLists(events: readonly RunEvent[]): readonly string[] {
  const lists: string[] = [];
  let texts: string[] = [];
  let room = MAX_LIST_CHARS;
  const end = (): void => {
    if (texts.length > 0) lists.push(`[${texts.join(",")}]`);
    texts = [];
    room = MAX_LIST_CHARS;
  };
  for (const event of events) {
    const text = JSON.stringify(event);
    if (texts.length >= MAX_LIST_EVENTS || text.length > room) end();
    texts.push(text);
    room -= text.length;
  }
  end();
  return lists;
}

/** What a step has given before its end: a finished one has none of it any more, and is not asked. */
export function stepPieces(
  store: Pick<JournalStore, "pieces">,
  { id, row }: { readonly id: string; readonly row: StepRow },
): readonly string[] {
  return row.outcome === undefined ? store.pieces(id, row.key) : [];
}

/** A row, and the pieces of its step, as the port gives them. */
export function stepRecord(row: StepRow, pieces: readonly string[]): StepRecord {
  const { key, kind, name, idempotent, startedAt, endedAt, attempt } = row;
  return {
    key,
    kind,
    name,
    input: parsed(row.input),
    idempotent,
    status: row.outcome === undefined ? "started" : "finished",
    ...(row.outcome === undefined ? {} : { outcome: parsedOutcome(row.outcome) }),
    ...(pieces.length === 0 ? {} : { prefix: parsedPieces(pieces) }),
    startedAt,
    ...(endedAt === undefined ? {} : { endedAt }),
    attempt,
  };
}

/** The lists of a step's pieces as one. */
function parsedPieces(lists: readonly string[]): readonly Json[] {
  const parsedLists: readonly (readonly Json[])[] = JSON.parse(`[${lists.join(",")}]`);
  return parsedLists.flat();
}

/** JSON that this room has written. */
export function parsed(text: string): Json {
  return JSON.parse(text);
}

/** The same for an outcome. */
function parsedOutcome(text: string): StepOutcome {
  return JSON.parse(text);
}
