import { timerTurn } from "./async.ts";

/** The only way an engine learns the time or waits. */
export interface Clock {
  /** Milliseconds since a fixed moment; only differences mean something. */
  now(): number;
  /** Resolves after `ms`; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Milliseconds as events tell them: to the microsecond. */
export function toldMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** setTimeout holds its delay in 32 bits; longer ones would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * The clock of the machine, monotonic.
 *
 * ```ts
 * import { systemClock } from "orrery";
 *
 * const start = systemClock.now();
 * await systemClock.sleep(20);
 * console.log(systemClock.now() - start >= 15); // => true
 * ```
 */
export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    abortableWait(signal, (done) => {
      const timer = setTimeout(done, Math.min(Math.max(0, ms), MAX_TIMER_MS));
      return () => clearTimeout(timer);
    }),
};

/** A wait that a signal ends with its reason. @param begin begins it, and gives what takes it back */
export function abortableWait(
  signal: AbortSignal | undefined,
  begin: (done: () => void) => () => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = (): void => {
      takeBack();
      reject(signal?.reason);
    };
    const takeBack = begin(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** A clock that stands while something holds it: what waits for a person is not late. */
export class PausableClock implements Clock {
  readonly #clock: Clock;
  #holds = 0;
  /** On the clock behind it: when it was held. */
  #heldAt = 0;
  #lost = 0;
  /** Made for the first who waits: most clocks are never held. */
  #whenReleased: PromiseWithResolvers<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return (this.#holds > 0 ? this.#heldAt : this.#clock.now()) - this.#lost;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const end = this.now() + ms;
    do {
      if (this.#holds > 0) await (this.#whenReleased ??= Promise.withResolvers()).promise;
      await this.#clock.sleep(Math.max(0, end - this.now()), signal);
    } while (this.#holds > 0 || this.now() < end);
  }

  /** Stands until this hold, and every other one, is disposed of. */
  hold(): Disposable {
    if (this.#holds++ === 0) this.#heldAt = this.#clock.now();
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        if (--this.#holds > 0) return;
        this.#lost += this.#clock.now() - this.#heldAt;
        this.#whenReleased?.resolve();
        this.#whenReleased = undefined;
      },
    };
  }
}

/** A clock for tests: time stands still until nothing else is left to do. */
export interface VirtualClock extends Clock {
  /** Lets time go from one due moment to the next, all timers of a moment at once, until `done` settles; gives what `done` gives. */
  run<T>(done: Promise<T>): Promise<T>;
}

interface Timer {
  readonly at: number;
  readonly fire: () => void;
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
    return abortableWait(signal, (fire) => {
      const timer: Timer = { at: time + Math.max(0, ms), fire };
      timers.add(timer);
      return () => timers.delete(timer);
    });
  }

  async function run<T>(done: Promise<T>): Promise<T> {
    let settled = false;
    const settle = () => void (settled = true);
    done.then(settle, settle);
    let restedSince: number | undefined;
    while (true) {
      await timerTurn();
      if (settled) return done;
      const next = [...timers].reduce((first, { at }) => Math.min(first, at), Infinity);
      if (next === Infinity) {
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
