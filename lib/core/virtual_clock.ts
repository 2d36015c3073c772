import type { Clock } from "./clock.ts";

/** A clock for tests: time stands still until nothing else is left to do. */
export interface VirtualClock extends Clock {
  /** Lets time go from one due moment to the next, all timers of a moment at once, until `done` settles; gives what `done` gives. */
  run<T>(done: Promise<T>): Promise<T>;
}

interface Timer {
  readonly at: number;
  fire(): void;
}

/** How long `run` waits for what takes real time when no timer is left, in milliseconds. */
const PATIENCE = 5000;

/**
 * A clock that starts at 0 and jumps to the next due timer when the event loop has come to rest.
 *
 * What takes real time (a file, a module that is loaded) is waited for where no timer is left.
 *
 * @throws {Error} from `run`, when `done` still waits after 5 real seconds without a timer: the code under test hangs.
 *
 * ```ts
 * import { virtualClock } from "orrery";
 *
 * const clock = virtualClock();
 * await clock.run(clock.sleep(60_000));
 * console.log(clock.now()); // => 60000
 * ```
 */
export function virtualClock(): VirtualClock {
  const timers = new Set<Timer>();
  let time = 0;

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        timers.delete(timer);
        reject(signal?.reason);
      };
      const timer: Timer = {
        at: time + Math.max(0, ms),
        fire() {
          signal?.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      timers.add(timer);
    });
  }

  async function run<T>(done: Promise<T>): Promise<T> {
    let settled = false;
    const settle = () => void (settled = true);
    done.then(settle, settle);
    let restedSince: number | undefined;
    while (true) {
      await atRest();
      if (settled) return done;
      const next = firstDue(timers);
      if (next === undefined) {
        restedSince ??= performance.now();
        if (performance.now() - restedSince < PATIENCE) continue;
        throw new Error(`virtualClock: nothing is left to wait for at ${time} ms, and the work is not done`);
      }
      restedSince = undefined;
      time = next;
      const due = [...timers].filter((timer) => timer.at === next);
      due.forEach((timer) => timers.delete(timer));
      due.forEach((timer) => timer.fire());
    }
  }

  return { now: () => time, sleep, run };
}

function firstDue(timers: Iterable<Timer>): number | undefined {
  let first: number | undefined;
  for (const { at } of timers) if (first === undefined || at < first) first = at;
  return first;
}

/** One turn of the event loop: all microtasks, however many they start, are done by then. */
function atRest(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
