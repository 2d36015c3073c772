import { TurnNotFoundError } from "../core/journal.ts";
import { copyRun } from "./copy_run.ts";
import type { JournalStore, RunRow } from "./store.ts";

/** What a branch is made of. */
export interface BranchOptions {
  readonly source: RunRow;
  /** Of the source; 0: before the first one. */
  readonly turn: number;
  /** Of the new run. */
  readonly id: string;
  /** ms since 1970. */
  readonly now: number;
}

/** Writes a conversation that stands where the source stood behind a turn; inside a commit. @throws {TurnNotFoundError} */
export function branchRun(store: JournalStore, { source, turn, id, now }: BranchOptions): void {
  const all = store.conversations.checkpoints(source.id);
  const mark = all[turn - 1];
  if (turn !== 0 && mark === undefined) throw noSuchTurn(source.id, { turn, turns: all.length });
  const ticks = mark?.ticks ?? 0;
  const steps = store.steps(source.id).filter(({ beganTick, outcome, idempotent }) =>
    beganTick <= ticks && (outcome !== undefined || !idempotent)
  );
  copyRun(store, {
    source,
    id,
    now,
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
