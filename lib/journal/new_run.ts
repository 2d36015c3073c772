import type { RunStart } from "../core/journal.ts";
import type { JournalSettings } from "./journal_options.ts";
import { newLease } from "./lease.ts";
import { OpenRun } from "./open_run.ts";
import type { OpenRunOptions, OwnedRow } from "./open_run.ts";
import { newRunId } from "./run_id.ts";

/** What a new run needs besides what it starts with. */
export type NewRunOptions = Pick<
  OpenRunOptions,
  "store" | "settings" | "onKept" | "onRelease" | "noSuchStep"
>;

/** A run that this process begins; the store has it from its first commit on. @throws {TypeError} when its id cannot be one */
export function newRun(start: RunStart, options: NewRunOptions): OpenRun {
  const { settings } = options;
  const { kind, file, files = [], input } = settings.mask(start);
  const now = settings.now();
  const id = start.id === undefined ? newRunId(now) : usableId(start.id);
  return new OpenRun({
    ...options,
    row: newRow({ id, kind, file, now }, settings),
    run: {
      id,
      kind,
      ...(file === undefined ? {} : { file }),
      ...(files.length === 0 ? {} : { files }),
      input,
    },
    events: [],
    resumedFrom: undefined,
    isNew: true,
  });
}

function newRow(
  { id, kind, file, now }: Pick<OwnedRow, "id" | "kind" | "file"> & { readonly now: number },
  settings: JournalSettings,
): OwnedRow {
  return {
    id,
    kind,
    file,
    status: "running",
    startedAt: now,
    updatedAt: now,
    usage: JSON.stringify({ input: 0, output: 0 }),
    steps: 0,
    ticks: 0,
    elapsedMs: 0,
    lease: newLease({ id, lease: undefined }, settings),
  };
}

function usableId(wanted: string): string {
  if (/^[\w.:@-]{1,100}$/.test(wanted)) return wanted;
  throw new TypeError(
    `The id of a run has 1 to 100 letters, digits and "_.:@-"; found ${JSON.stringify(wanted.slice(0, 120))}`,
  );
}
