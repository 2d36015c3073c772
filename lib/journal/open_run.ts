import {
  type BeginOptions,
  canonicalJson,
  type ConversationSave,
  DivergedError,
  firstDifference,
  isPassing,
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
  withoutMedia,
} from "../core/core.ts";
import { noSuchStep } from "./find.ts";
import type { RunConversation, RunMoment } from "./run_conversation.ts";
import type { FileRow, JournalSettings, JournalStore, Lease, RunProgress, RunRow, StepRow } from "./store.ts";

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

/** A run that this process owns. */
export interface OpenRun extends RunJournal {
  /** A sign of life between two commits. */
  sign(): void;
}

const MOST_WAITING = 2_000_000;

/** Opens a run that this process owns. What has to be written waits in memory for the next commit. */
export function openRun(options: OpenRunOptions): OpenRun {
  /** Begun by this process and not ended. */
  const begun = new Map<string, StepRow>();
  const reruns = new Set<string>();
  /** Keys of steps that have pieces in the store. */
  const withPieces = new Set<string>();
  let changed = new Map<string, StepRow>();
  /** JSON, by the key of the step. */
  let waitingPieces = new Map<string, string[]>();
  /** Keys of steps that have ended and have pieces in the store still. */
  let emptied: string[] = [];
  /** Characters of outcomes that wait. */
  let waitingText = 0;
  let unwritten: RunEvent[] = [];
  let unwrittenFiles: FileRow[] = [];
  let status: JournalStatus = "running";
  let state: "held" | "released" | "lost" = "held";
  const { store, settings, row, run, events, resumedFrom, onRelease, conversation } = options;
  const { id } = row;
  const { mask } = settings;
  const { before } = conversation;
  let seen: { readonly seq: number; readonly at: number } = events.at(-1) ?? before ?? { seq: 0, at: 0 };
  const checkpoint = before?.checkpoint;
  const lastSeq = seen.seq + settings.told(id);
  const lastAt = seen.at;
  const usage: Usage = before?.usage ?? { input: 0, output: 0 };
  let { isNew } = options;
  /** Where the run's own time is 0 on the clock. */
  const zero = settings.clock.now() - Math.max(row.elapsedMs, lastAt);
  let { steps, ticks } = row;

  function begin(step: StepStart, { isDeferred = false }: BeginOptions = {}): StepTurn {
    assertHeld();
    const now = stepIdentity(mask(step));
    if (begun.has(now.key)) throw new Error(`Step "${now.key}" has begun already and has not ended`);
    const kept = changed.get(now.key) ?? storedStep(now.key);
    if (kept === undefined) return perform(now, { before: undefined, isDeferred });
    assertSameStep(kept, now);
    if (kept.outcome !== undefined) {
      const ms = (kept.endedAt ?? kept.startedAt) - kept.startedAt;
      return { do: "answer", outcome: parsedOutcome(kept.outcome), ms, attempt: kept.attempt };
    }
    const isSafe = (kept.idempotent && now.idempotent) || reruns.has(now.key);
    return isSafe ? perform(now, { before: kept, isDeferred }) : { do: "unverified", attempt: kept.attempt };
  }

  function finish(key: string, outcome: StepOutcome): void {
    end(key, outcome);
    write();
  }

  function end(key: string, outcome: StepOutcome): void {
    assertHeld();
    const row = begunStep(key);
    if (waitingText > MOST_WAITING) write(); // what ends at once is one commit, but not without bounds
    begun.delete(row.key);
    keepOutcome(row, outcome);
  }

  function commit(): void {
    assertHeld();
    const isWaiting = changed.size > 0 || waitingPieces.size > 0 || unwritten.length > 0 ||
      unwrittenFiles.length > 0 || conversation.isWaiting;
    if (isWaiting || isNew) write();
  }

  function prefix(key: string, piece: Json): void {
    assertHeld();
    const row = begunStep(key);
    const text = JSON.stringify(mask(piece));
    const waiting = waitingPieces.get(row.key);
    if (waiting === undefined) waitingPieces.set(row.key, [text]);
    else waiting.push(text);
  }

  function tell(event: RunEvent): void {
    assertHeld();
    seen = event;
    conversation.tell(event);
    if (!isPassing(event)) unwritten.push(mask(event));
  }

  function file(stored: StoredFile): void {
    assertHeld();
    unwrittenFiles.push(mask(stored));
  }

  function save(saved: ConversationSave): void {
    assertHeld();
    conversation.save(saved);
  }

  function messages(options: MessageRange = {}): readonly LogEntry[] {
    assertHeld();
    return conversation.messages(options);
  }

  function slots(scope: SlotScope): Readonly<Record<string, Json>> {
    assertHeld();
    return conversation.slots(scope);
  }

  function settle(key: string, decision: "rerun" | { readonly outcome: StepOutcome }): void {
    assertHeld();
    const masked = mask(key);
    const row = storedStep(masked);
    if (row === undefined) throw noSuchStep(store, { id, key: masked });
    if (row.outcome !== undefined || begun.has(masked)) {
      const why = row.outcome === undefined ? "it is being performed" : "its outcome is known";
      throw new Error(`Step "${masked}" has nothing to be settled: ${why}`);
    }
    if (decision === "rerun") reruns.add(masked);
    else {
      storedPieces(row);
      keepOutcome(row, decision.outcome);
      write();
    }
  }

  function release(end: JournalStatus, usage?: Usage): void {
    if (state === "released") return;
    assertHeld();
    write({
      status: end,
      lease: undefined,
      ...(usage === undefined ? {} : { usage: JSON.stringify(usage) }),
    });
    state = "released";
    status = end;
    onRelease();
  }

  /** A sign of life between two commits. */
  function sign(): void {
    if (state !== "held" || isNew) return;
    const seenAt = settings.now();
    if (!store.commit(() => store.noteSeen(id, { token: row.lease.token, seenAt }))) {
      lose();
    }
  }

  function storedStep(key: string): StepRow | undefined {
    return isNew ? undefined : store.step(id, key);
  }

  /** Those of earlier attempts. */
  function storedPieces(row: StepRow): readonly string[] {
    const pieces = stepPieces(store, { id, row });
    if (pieces.length > 0) withPieces.add(row.key);
    return pieces;
  }

  function perform(
    now: StepIdentity,
    { before, isDeferred }: { readonly before: StepRow | undefined; readonly isDeferred: boolean },
  ): StepTurn {
    const pieces = before === undefined ? [] : storedPieces(before);
    const row: StepRow = {
      ...now,
      outcome: undefined,
      startedAt: elapsed(),
      endedAt: undefined,
      attempt: (before?.attempt ?? 0) + 1,
      beganTick: ++ticks,
      endedTick: undefined,
      seenSeq: seen.seq,
    };
    begun.set(row.key, row);
    changed.set(row.key, row);
    if (before === undefined) steps++;
    if (!row.idempotent && !isDeferred) commitStart(row.key, before === undefined);
    reruns.delete(row.key);
    return {
      do: "perform",
      attempt: row.attempt,
      ...(pieces.length === 0 ? {} : { prefix: parsedPieces(pieces) }),
    };
  }

  /** A step whose start could not be kept is not performed, so it has not begun. */
  function commitStart(key: string, isNew: boolean): void {
    try {
      write();
    } catch (error) {
      begun.delete(key);
      changed.delete(key);
      if (isNew) steps--;
      throw error;
    }
  }

  function keepOutcome(row: StepRow, outcome: StepOutcome): void {
    const text = JSON.stringify(mask(outcome));
    waitingText += text.length;
    changed.set(row.key, {
      ...row,
      outcome: text,
      endedAt: elapsed(),
      endedTick: ++ticks,
    });
    waitingPieces.delete(row.key);
    if (withPieces.delete(row.key)) emptied.push(row.key);
  }

  function begunStep(key: string): StepRow {
    const row = begun.get(mask(key));
    if (row === undefined) throw new Error(`Step "${key}" has not begun, or has ended already`);
    return row;
  }

  /** All that waits, and what changes with the end, as one. What waits stays when it fails. */
  function write(end?: RunEnd): void {
    store.commit(() => put(end));
    kept();
  }

  /** Inside a commit. */
  function put(end?: RunEnd): void {
    if (isNew) putNew(end);
    else noteProgress();
    for (const row of changed.values()) store.putStep(id, row);
    for (const key of emptied) store.removePieces(id, key);
    for (const [key, pieces] of waitingPieces) {
      store.addPieces(id, { key, pieces: `[${pieces.join(",")}]` });
    }
    for (const file of unwrittenFiles) store.addFile(id, file);
    for (const list of eventLists(unwritten)) store.addEvents(id, list);
    conversation.put(moment(), end?.usage);
    if (!isNew && end !== undefined) store.putRun({ ...keptRow(), ...end });
  }

  /** What was put is durable. */
  function kept(): void {
    isNew = false;
    conversation.kept();
    waitingText = 0;
    for (const key of waitingPieces.keys()) withPieces.add(key);
    changed = new Map();
    waitingPieces = new Map();
    emptied = [];
    unwrittenFiles = [];
    unwritten = [];
  }

  function putNew(end: RunEnd | undefined): void {
    if (store.run(id) !== undefined) throw takenError(id);
    const progress = progressNow();
    const lease = { ...row.lease, seenAt: progress.updatedAt };
    store.putRun({ ...row, ...progress, lease, ...end });
    store.putInput(id, JSON.stringify(run.input));
    for (const stored of run.files ?? []) store.addFile(id, stored);
  }

  function noteProgress(): void {
    const progress = progressNow();
    const sign = { token: row.lease.token, seenAt: progress.updatedAt };
    if (!store.noteProgress(id, { ...sign, ...progress })) throw lose();
  }

  function progressNow(): RunProgress {
    return {
      status: "running",
      updatedAt: settings.now(),
      steps,
      ticks,
      elapsedMs: elapsed(),
    };
  }

  function moment(): RunMoment {
    return {
      ticks,
      elapsedMs: elapsed(),
      seenSeq: seen.seq,
      seenAt: seen.at,
    };
  }

  function keptRow(): RunRow {
    const row = store.run(id);
    if (row === undefined) throw lose();
    return row;
  }

  /** Another process has taken the run while this one gave no sign of life. */
  function lose(): Error {
    state = "lost";
    onRelease();
    return lostError();
  }

  function lostError(): Error {
    const lease = store.run(id)?.lease;
    if (lease === undefined) {
      return new RunNotFoundError(
        `Run "${id}" was removed, or ended, by another process while it ran here`,
      );
    }
    return new RunOwnedError(
      `Run "${id}" was taken over by process ${lease.pid} on host "${lease.host}" while this process gave no sign of life: ` +
        `nothing more of it is kept here`,
    );
  }

  function assertHeld(): void {
    if (state === "released") throw new Error(`Run "${id}" was released: open it again to go on`);
    if (state === "lost") throw lostError();
  }

  function elapsed(): number {
    return Math.round((settings.clock.now() - zero) * 1000) / 1000;
  }

  return {
    id,
    run,
    checkpoint,
    events,
    lastSeq,
    lastAt,
    usage,
    resumedFrom,
    get status() {
      return status;
    },
    begin,
    finish,
    end,
    commit,
    prefix,
    tell,
    file,
    save,
    messages,
    slots,
    settle,
    whenKept: store.whenKept && (() => store.whenKept?.(id)),
    release,
    sign,
  };
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
  const [was, is] = [comparable(recorded), comparable(now)];
  if (JSON.stringify(was) === JSON.stringify(is)) return;
  throw new DivergedError(
    `Step "${now.key}" is not the one that was recorded: ${firstDifference(was, is)}. ` +
      `Go on with what the run was started with, or fork it from this step`,
    now.key,
  );
}

/** With the keys of all objects in order, so that it is no difference; nor is it whether media are kept in the step, as they once were. */
function comparable({ kind, name, input }: StepIdentity): Json {
  return { kind, name, input: parsed(canonicalJson(withoutMedia(parsed(input)))) };
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
export function parsedOutcome(text: string): StepOutcome {
  return JSON.parse(text);
}
