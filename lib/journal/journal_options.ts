import { systemClock } from "../core/clock.ts";
import type { Clock } from "../core/clock.ts";
import type { RunOwner } from "../core/journal.ts";
import type { Secrets } from "../core/secrets.ts";

/** What a journal needs of the machine. */
export interface JournalOptions {
  /** Taken out of everything that is kept. */
  readonly secrets?: Secrets;
  /** This process. Default: one that no other process can look for. */
  readonly owner?: RunOwner;
  /** Whether a process of this machine still runs; `undefined`: not known. Default: not known of any. */
  readonly isAlive?: (owner: RunOwner) => boolean | undefined;
  /** Calls `work` every `ms` until the function that it gives is called, without keeping the process alive. Default: commits alone are signs of life. */
  readonly every?: (ms: number, work: () => void) => () => void;
  /** ms since 1970. Default: the machine's. */
  readonly now?: () => number;
  /** For the times of steps. Default: the machine's. */
  readonly clock?: Clock;
}

/** The same with nothing left open. */
export interface JournalSettings extends Omit<Required<JournalOptions>, "secrets"> {
  readonly mask: <T>(value: T) => T;
}

/** The options with their defaults. */
export function journalSettings({ secrets, ...options }: JournalOptions): JournalSettings {
  return {
    owner: { host: "", pid: 0 },
    isAlive: () => undefined,
    every: () => () => undefined,
    now: Date.now,
    clock: systemClock,
    ...options,
    mask: secrets === undefined ? (value) => value : (value) => secrets.maskJson(value),
  };
}
