// A run whose process is about to end: its steps may come to their end, no other one begins, and nothing is kept of what follows from
// that. So whoever goes on with it does what it would have done.

import type { RunEventBody } from "../core/core.ts";

/** Makes what drains a run; `stop` aborts it. */
export type DrainRun = (stop: (reason: unknown) => void) => RunDrain;

/** What is under way in a run, and whether more of it may begin. */
export interface RunDrain extends Disposable {
  readonly reason: unknown;
  /** A step wanted to begin, and did not: the run is not what it would have been. */
  readonly hasRefused: boolean;
  /** Whether a step must not begin. */
  refuses(): boolean;
  began(key: string): void;
  ended(key: string): void;
  /** What is told meanwhile follows from a step that has ended. */
  whileKept(tell: () => void): void;
  /** Whether an event may be kept. */
  keeps(event: RunEventBody): boolean;
}

/** @param stop aborts the run */
export function runDrain(signal: AbortSignal, stop: (reason: unknown) => void): RunDrain {
  const open = new Set<string>();
  let hasRefused = false;
  let isKept = false;
  let isOver = false;
  if (signal.aborted) stop(signal.reason);
  else signal.addEventListener("abort", stopIfIdle, { once: true });

  function refuses(): boolean {
    if (!signal.aborted) return false;
    hasRefused = true;
    if (open.size === 0) stop(signal.reason);
    return true;
  }

  function began(key: string): void {
    open.add(key);
  }

  function ended(key: string): void {
    open.delete(key);
    // What follows from it may end the run in this very turn of the event loop.
    if (signal.aborted) setTimeout(stopIfIdle, 0);
  }

  function whileKept(tell: () => void): void {
    isKept = true;
    tell();
    isKept = false;
  }

  function keeps({ type }: RunEventBody): boolean {
    return !hasRefused || isKept || type === "usage";
  }

  function stopIfIdle(): void {
    if (!isOver && open.size === 0) stop(signal.reason);
  }

  return {
    get reason() {
      return signal.reason;
    },
    get hasRefused() {
      return hasRefused;
    },
    refuses,
    began,
    ended,
    whileKept,
    keeps,
    [Symbol.dispose]() {
      signal.removeEventListener("abort", stopIfIdle);
      open.clear();
      isOver = true;
    },
  };
}
