import { denoGrants } from "./process.ts";

/** Two changes are not told from each other within this time: Deno gives the time of a change in whole seconds. */
const TICK_MS = 1100;

/** What tells files from each other, for many of them: what may be read is asked once. Like `fileStamp`. */
export function fileStamps(): (path: string) => string | undefined {
  return mayReadAll() ? (path) => stampOf(path, Date.now()) : (path) => fileStamp(path);
}

function mayReadAll(): boolean {
  const { state, partial = false } = Deno.permissions.querySync({ name: "read" });
  return state === "granted" && !partial;
}

/**
 * A text that is another one as soon as the file is another one or was changed, without reading it. Undefined when that cannot be
 * told: for what is no file, where the system does not say when a file was changed, and for one that was changed just now.
 *
 * @param now ms since 1970
 */
export function fileStamp(path: string, now: number = Date.now()): string | undefined {
  return denoGrants({ name: "read", path }) ? stampOf(path, now) : undefined;
}

function stampOf(path: string, now: number): string | undefined {
  try {
    const { isFile, size, mtime, ctime, ino } = Deno.lstatSync(path);
    if (!isFile || mtime === null || ctime === null || ino === null) return undefined;
    const times = [mtime.getTime(), ctime.getTime()];
    return Math.max(...times) > now - TICK_MS ? undefined : [...times, size, ino].join(" ");
  } catch {
    return undefined; // not there, or not to be looked at: whoever reads it is told
  }
}
