import type { RunEvent } from "../core/event.ts";
import { duration } from "./duration.ts";

/** How many calls of a run are where. */
export interface RunTally {
  readonly opened: number;
  readonly running: number;
  readonly done: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Before the first event. */
export const emptyTally: RunTally = { opened: 0, running: 0, done: 0, failed: 0, skipped: 0 };

/** The tally after one more event; `ran` says whether the call had started. */
export function tallyAfter(tally: RunTally, event: RunEvent, ran: boolean): RunTally {
  const running = tally.running - (ran ? 1 : 0);
  switch (event.type) {
    case "call-open":
      return { ...tally, opened: tally.opened + 1 };
    case "call-run":
      return { ...tally, running: tally.running + 1 };
    case "call-result":
      return { ...tally, running, done: tally.done + 1 };
    case "call-error":
      return { ...tally, running, failed: tally.failed + 1 };
    case "call-skip":
      return { ...tally, running, skipped: tally.skipped + 1 };
    default:
      return tally;
  }
}

/** `5 calls: 3 ok, 1 failed, 1 skipped, 1.3 s`. */
export function tallyLine(tally: RunTally, ms: number): string {
  const parts = [
    part(tally.done, "ok"),
    part(tally.failed, "failed"),
    part(tally.skipped, "skipped"),
    part(tally.running, "running"),
    part(tally.opened - tally.done - tally.failed - tally.skipped - tally.running, "waiting"),
  ];
  const calls = `${tally.opened} ${tally.opened === 1 ? "call" : "calls"}`;
  return `${calls}: ${[...parts.filter((text) => text !== ""), duration(ms)].join(", ")}`;
}

function part(count: number, word: string): string {
  return count > 0 ? `${count} ${word}` : "";
}
