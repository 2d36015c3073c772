import { copyRun } from "./copy_run.ts";
import { noSuchStep } from "./no_such_step.ts";
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
  copyRun(store, {
    source,
    id,
    now,
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
