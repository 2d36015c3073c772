import { whenAborted } from "../core/async.ts";
import type { Clock } from "../core/clock.ts";
import type { FileWatch } from "../core/file_watch.ts";
import { EXIT } from "../service/exit_code.ts";
import type { WatchedFiles } from "./watched_files.ts";

/** Somebody saves several files, or one in several steps: changes so close together are one. */
const QUIET_MS = 100;
/** Beyond this nobody waits for quiet. */
const MAX_QUIET_ROUNDS = 20;

/** What is run again and again. */
export interface WatchRunsOptions {
  /** The file that is run: real and absolute. */
  readonly entry: string;
  readonly files: WatchedFiles;
  readonly watch: FileWatch;
  readonly clock: Clock;
  /** Ends it. */
  readonly signal: AbortSignal;
  /** Gives the exit code. */
  runOnce(): Promise<number>;
  /** A run is over, and nothing has changed. */
  onWait(files: readonly string[]): Promise<void>;
  onChange(files: readonly string[]): Promise<void>;
}

/** Runs, waits for a change of a file that the run used, and runs again, until the signal. Gives the exit code: 0 when nothing ran then. */
export async function watchRuns(options: WatchRunsOptions): Promise<number> {
  const { files, signal, entry } = options;
  /** It ran again for what had changed during a run, which may be its own doing. */
  let isOwnEcho = false;
  for (;;) {
    files.clear();
    const code = await options.runOnce();
    if (signal.aborted) return code;
    const during = await files.changed();
    const counts: readonly string[] = isOwnEcho ? during.filter((path) => path === entry) : during;
    isOwnEcho = counts.length > 0;
    if (counts.length === 0) {
      await files.accept();
      await options.onWait(files.paths);
    }
    const changed = counts.length > 0 ? await settled(options) : await nextChange(options);
    if (signal.aborted) return EXIT.ok;
    await options.onChange(changed);
  }
}

async function nextChange(options: WatchRunsOptions): Promise<readonly string[]> {
  const { files, watch, signal } = options;
  while (!signal.aborted) {
    const woken = Promise.withResolvers<void>();
    using _watching = watch.watch(files.paths, woken.resolve);
    // It may have changed before somebody watched it.
    if ((await files.changed()).length === 0) await Promise.race([woken.promise, whenAborted(signal)]);
    const changed = await settled(options);
    if (changed.length > 0) return changed;
  }
  return [];
}

/** What has changed when it is quiet. */
async function settled({ files, watch, clock, signal }: WatchRunsOptions): Promise<readonly string[]> {
  let isQuiet = true;
  using _watching = watch.watch(files.paths, () => void (isQuiet = false));
  for (let round = 0; round < MAX_QUIET_ROUNDS && !signal.aborted; round++) {
    isQuiet = true;
    await clock.sleep(QUIET_MS, signal).catch(() => undefined);
    if (isQuiet) break;
  }
  return await files.changed();
}
