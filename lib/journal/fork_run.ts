import { addUsage } from "../core/usage.ts";
import type { Usage } from "../core/model.ts";
import { noSuchStep } from "./no_such_step.ts";
import { runEvents } from "./run_rows.ts";
import { stepPieces } from "./open_run.ts";
import type { JournalStore, RunRow } from "./store.ts";

/** What a fork is made of. */
export interface ForkOptions {
  readonly source: RunRow;
  /** A key of the source. */
  readonly from: string;
  /** Of the new run. */
  readonly id: string;
  /** ms since 1970. */
  readonly now: number;
}

/** Writes a run that stands where the source stood when the step `from` began; inside a commit. @throws {StepNotFoundError} */
export function forkRun(store: JournalStore, { source, from, id, now }: ForkOptions): void {
  const steps = store.steps(source.id);
  const place = steps.find(({ key }) => key === from);
  if (place === undefined) throw noSuchStep(store, { id: source.id, key: from });
  // What had begun and not ended is kept as such: an effect that may not be done twice is unverified in the fork too.
  const before = steps.filter(({ beganTick, endedTick, idempotent }) =>
    endedTick === undefined ? !idempotent && beganTick < place.beganTick : endedTick < place.beganTick
  );
  const events = runEvents(store, source.id).filter(({ seq }) => seq <= place.seenSeq).map((event) => ({
    ...event,
    run: id,
  }));
  const usage = events.reduce<Usage>((sum, event) => event.type === "usage" ? addUsage(sum, event) : sum, {
    input: 0,
    output: 0,
  });
  store.putRun({
    ...source,
    id,
    status: "stopped",
    startedAt: now,
    updatedAt: now,
    steps: before.length,
    ticks: place.beganTick - 1,
    elapsedMs: place.startedAt,
    usage: JSON.stringify(usageOnly(usage)),
    lease: undefined,
  });
  store.putInput(id, store.input(source.id));
  for (const file of store.files(source.id)) store.addFile(id, file);
  for (const step of before) {
    store.putStep(id, step);
    for (const pieces of stepPieces(store, { id: source.id, row: step })) {
      store.addPieces(id, { key: step.key, pieces });
    }
  }
  if (events.length > 0) store.addEvents(id, JSON.stringify(events));
}

/** Without the fields of the event it came from. */
function usageOnly({ input, output, cached, reasoning, cost }: Usage): Usage {
  return {
    input,
    output,
    ...(cached === undefined ? {} : { cached }),
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(cost === undefined ? {} : { cost }),
  };
}
