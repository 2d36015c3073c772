import type { Clock } from "../core/clock.ts";
import { messageOf } from "../core/source_error.ts";
import type { RunRegistry } from "./run_registry.ts";
import type { RunRoom } from "./run_room.ts";

/** What is to end. */
export interface EndRunsOptions {
  readonly registry: RunRegistry;
  /** Those that are being opened count. */
  readonly room: RunRoom;
  readonly clock: Clock;
  /** How long the steps under way may take, ms. */
  readonly graceMs: number;
}

/** How long a run that was aborted may take to end. */
const ABORT_MS = 2_000;

/** Waits until no run is under way; what takes too long is aborted, and can go on. */
export async function endRuns({ registry, room, clock, graceMs }: EndRunsOptions): Promise<void> {
  const ended = room.opened().then(() => registry.idle());
  await within(graceMs, ended, { clock });
  for (const run of registry.active) run.cancel("the process is about to end");
  await within(ABORT_MS, ended, { clock });
}

/** Waits for what is to be closed, as long as for a run that was aborted. @param options.notice told why it failed */
export async function closed(
  work: Promise<void>,
  { clock, notice }: { readonly clock: Clock; readonly notice: (text: string) => void },
): Promise<void> {
  await within(ABORT_MS, work.catch((error) => notice(messageOf(error))), { clock });
}

async function within(ms: number, work: Promise<void>, { clock }: { readonly clock: Clock }): Promise<void> {
  const late = new AbortController();
  const sleep = clock.sleep(ms, late.signal).catch(() => undefined);
  await Promise.race([work, sleep]);
  late.abort();
}
