import type { Usage } from "../core/model.ts";
import { duration, withUsage } from "./shown_text.ts";

/** How many calls of a run are where. */
export interface RunTally {
  opened: number;
  running: number;
  done: number;
  failed: number;
  skipped: number;
  /** Answers of models. */
  answers: number;
  usage: Usage;
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
