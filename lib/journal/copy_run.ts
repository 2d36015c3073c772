import type { RunEvent } from "../core/event.ts";
import type { JournalStatus } from "../core/journal.ts";
import type { Usage } from "../core/model.ts";
import { addUsage } from "../core/usage.ts";
import { eventLists, stepPieces } from "./open_run.ts";
import { parsedEvents } from "./new_run.ts";
import type { CheckpointMark, JournalStore, RunRow, StepRow } from "./store.ts";

/** How much of a run a copy has. */
export interface RunCopy {
  readonly source: RunRow;
  /** Of the new run. */
  readonly id: string;
  /** ms since 1970. */
  readonly now: number;
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
export function copyRun(store: JournalStore, copy: RunCopy): void {
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
