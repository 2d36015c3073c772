import type { RunEvent } from "../core/event.ts";
import { addUsage, type Usage } from "../core/model.ts";
import { duration, withUsage } from "./shown_text.ts";

/** How many calls of a run are where. */
export interface RunTally {
  readonly opened: number;
  readonly running: number;
  readonly done: number;
  readonly failed: number;
  readonly skipped: number;
  /** Answers of models. */
  readonly answers: number;
  readonly usage: Usage;
}

/** Before the first event. */
export const emptyTally: RunTally = {
  opened: 0,
  running: 0,
  done: 0,
  failed: 0,
  skipped: 0,
  answers: 0,
  usage: { input: 0, output: 0 },
};

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
    case "usage":
      return { ...tally, answers: tally.answers + 1, usage: addUsage(tally.usage, event) };
    default:
      return tally;
  }
}

/** `5 calls: 3 ok, 1 failed, 1 skipped, 1.3 s`, and with models `2 answers: 120 in, 34 out, $0.0012; 5 calls: 5 ok, 1.3 s`. */
export function tallyLine(tally: RunTally, ms: number): string {
  const parts = [
    part(tally.done, "ok"),
    part(tally.failed, "failed"),
    part(tally.skipped, "skipped"),
    part(tally.running, "running"),
    part(tally.opened - tally.done - tally.failed - tally.skipped - tally.running, "waiting"),
  ].filter((text) => text !== "");
  const time = duration(ms);
  if (tally.answers === 0) return `${counted(tally.opened, "call")}: ${[...parts, time].join(", ")}`;
  const answers = answersText(tally);
  return tally.opened === 0
    ? `${answers}, ${time}`
    : `${answers}; ${counted(tally.opened, "call")}: ${[...parts, time].join(", ")}`;
}

/** The same, and the time alone while there are no calls and no answers. */
export function figuresLine(tally: RunTally, ms: number): string {
  return tally.opened + tally.answers === 0 ? duration(ms) : tallyLine(tally, ms);
}

/** `2 answers: 120 in, 34 out, $0.0012` */
export function answersText({ answers, usage }: RunTally): string {
  return withUsage(counted(answers, "answer"), { usage, before: ": " });
}

/** `1 call`, `2 calls` */
export function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

function part(count: number, word: string): string {
  return count > 0 ? `${count} ${word}` : "";
}
