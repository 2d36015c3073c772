import { addUsage, type JournalStatus, type RunEvent, TurnNotFoundError, type Usage } from "../core/core.ts";
import { noSuchStep } from "./find.ts";
import { eventLists, stepPieces } from "./open_run.ts";
import { parsedEvents } from "./new_run.ts";
import type { CheckpointMark, JournalStore, RunRow, StepRow } from "./store.ts";

/** What a copy is made of, and what it is to be called. */
export interface CopyOptions {
  readonly source: RunRow;
  /** Of the new run. */
  readonly id: string;
  /** ms since 1970. */
  readonly now: number;
}

/** Writes a run that stands where the source stood when the step `from` began; inside a commit. @throws {StepNotFoundError} */
export function forkRun(store: JournalStore, from: string, copy: CopyOptions): void {
  const { source } = copy;
  const steps = store.steps(source.id);
  const place = steps.find(({ key }) => key === from);
  if (place === undefined) throw noSuchStep(store, { id: source.id, key: from });
  copyRun(store, {
    ...copy,
    status: "stopped",
    // What had begun and not ended is kept as such: an effect that may not be done twice is unverified in the fork too.
    steps: steps.filter(({ beganTick, endedTick, idempotent }) =>
      endedTick === undefined ? !idempotent && beganTick < place.beganTick : endedTick < place.beganTick
    ),
    ticks: place.beganTick - 1,
    elapsedMs: place.startedAt,
    checkpoints: store.conversations.checkpoints(source.id).filter(({ ticks }) => ticks < place.beganTick),
    seenSeq: place.seenSeq,
  });
}

/**
 * Writes a conversation that stands where the source stood behind a turn (0: before the first one); inside a commit. Slots of the session,
 * the module and the user stay as they are by now: they are the person's.
 *
 * @throws {TurnNotFoundError}
 */
export function branchRun(store: JournalStore, turn: number, copy: CopyOptions): void {
  const { source } = copy;
  const all = store.conversations.checkpoints(source.id);
  const mark = all[turn - 1];
  if (turn !== 0 && mark === undefined) throw noSuchTurn(source.id, { turn, turns: all.length });
  const ticks = mark?.ticks ?? 0;
  const steps = store.steps(source.id).filter(({ beganTick, outcome, idempotent }) =>
    beganTick <= ticks && (outcome !== undefined || !idempotent)
  );
  copyRun(store, {
    ...copy,
    status: "held",
    // Of what ended later the outcome is known: it has ended by then here.
    steps: steps.map((step) =>
      step.endedTick === undefined ? step : { ...step, endedTick: Math.min(step.endedTick, ticks) }
    ),
    ticks,
    elapsedMs: mark?.elapsedMs ?? 0,
    checkpoints: all.slice(0, turn),
    seenSeq: 0,
    usage: mark?.usage,
  });
}

function noSuchTurn(
  id: string,
  { turn, turns }: { readonly turn: number; readonly turns: number },
): TurnNotFoundError {
  const there = turns === 0
    ? "none has ended yet"
    : turns === 1
    ? "it has turn 1"
    : `it has turns 1 to ${turns}`;
  return new TurnNotFoundError(`Run "${id}" has no turn ${turn}: ${there}, and 0 is its beginning`);
}

/** How much of a run a copy has. */
interface RunCopy extends CopyOptions {
  readonly status: JournalStatus;
  readonly steps: readonly StepRow[];
  readonly ticks: number;
  readonly elapsedMs: number;
  /** The first ones of the source. */
  readonly checkpoints: readonly CheckpointMark[];
  /** `seq` of the last event that it has of those told behind the last of these. */
  readonly seenSeq: number;
  /** JSON. Default: what its events tell of. */
  readonly usage?: string;
}

/** Writes a new run that has a part of what another one has; inside a commit. */
function copyRun(store: JournalStore, copy: RunCopy): void {
  const { source, id, now, status, steps, ticks, elapsedMs, checkpoints } = copy;
  const lists = copiedEvents(store, copy);
  store.putRun({
    ...source,
    id,
    status,
    startedAt: now,
    updatedAt: now,
    steps: steps.length,
    ticks,
    elapsedMs,
    usage: copy.usage ?? JSON.stringify(usageOf(lists.flat())),
    lease: undefined,
  });
  store.putInput(id, store.input(source.id));
  for (const file of store.files(source.id)) store.addFile(id, file);
  for (const step of steps) {
    store.putStep(id, step);
    for (const pieces of stepPieces(store, { id: source.id, row: step })) {
      store.addPieces(id, { key: step.key, pieces });
    }
  }
  copyMessages(store, copy);
  lists.forEach((events, index) => {
    for (const list of eventLists(events)) store.addEvents(id, list);
    const mark = checkpoints[index];
    if (mark !== undefined) copyCheckpoint(store, copy, mark);
  });
}

/** Those told before each of the checkpoints and behind the one before it, and those behind the last one. */
function copiedEvents(store: JournalStore, copy: RunCopy): readonly (readonly RunEvent[])[] {
  const { source, id, checkpoints, seenSeq } = copy;
  const lists = store.events(source.id);
  const ends = checkpoints.map(({ events }) => events);
  return [...ends, lists.length].map((end, index) => {
    const events = parsedEvents(lists.slice(ends[index - 1] ?? 0, end));
    const told = index < ends.length ? events : events.filter(({ seq }) => seq <= seenSeq);
    return told.map((event) => ({ ...event, run: id }));
  });
}

function usageOf(events: readonly RunEvent[]): Usage {
  return events.reduce<Usage>((sum, event) => event.type === "usage" ? addUsage(sum, event) : sum, {
    input: 0,
    output: 0,
  });
}

function copyMessages({ conversations }: JournalStore, { source, id, checkpoints }: RunCopy): void {
  const length = checkpoints.at(-1)?.messages ?? 0;
  if (length === 0) return;
  for (const [index, message] of conversations.messages(source.id, {}).slice(0, length).entries()) {
    conversations.addMessage(id, { n: index + 1, message });
  }
}

/** One at a time: the states of a long conversation are not all in memory. */
function copyCheckpoint(
  { conversations }: JournalStore,
  { source, id }: RunCopy,
  mark: CheckpointMark,
): void {
  const row = conversations.checkpoint(source.id, mark.n);
  if (row !== undefined) conversations.addCheckpoint(id, row);
}
