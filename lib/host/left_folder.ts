// Takes a folder away when this process has ended, however it did: a signal that nobody listens to ends it at once, and to listen would change
// what a program that uses Orrery does at Ctrl-C. So a shell waits for the end of a pipe that only this process can write to. A command of `orrery` that
// listens needs none, and would pay two milliseconds before its first call.
import { denoGrants } from "./process.ts";
import { maybeFindProgram } from "./find_program.ts";

const PATH = "/usr/bin:/bin";
/** Whoever ends our whole group, or our terminal, ends us and not this. It removes what has the name of such a folder, and nothing else. */
const WAITING =
  'trap "" HUP INT QUIT TERM; read -r _; case $1 in /*/orrery-gadget-[0-9a-f]*) rm -rf -- "$1"* ;; esac';

/** Somebody who waits for our end. */
export interface LeftFolder {
  /** There is no such folder any more. The last time it comes back when nobody waits any more; never fails. */
  release(): Promise<void>;
}

/** Nobody waits. */
export const NOT_WAITED: LeftFolder = { release: () => Promise.resolve() };

/** By what the paths of their folders begin with: one for all of them. */
const known = new Map<string, Waiting>();

/**
 * Has every folder taken away whose path begins like this once we have ended, whatever is in it by then: it may be said before there is one.
 * Where Deno may not start every program, and on Windows, nobody does it.
 *
 * @param start absolute, and of no folder of another process
 */
export function whenWeHaveEnded(start: string): LeftFolder {
  const waiting = known.get(start) ?? maybeWaiting(start);
  if (waiting === undefined) return NOT_WAITED;
  known.set(start, waiting);
  waiting.folders++;
  let released: Promise<void> | undefined;
  return {
    release() {
      if (released !== undefined) return released;
      const isLast = --waiting.folders === 0;
      if (isLast) known.delete(start);
      return released = isLast ? endOf(waiting.child) : Promise.resolve();
    },
  };
}

interface Waiting {
  readonly child: Deno.ChildProcess;
  /** How many it waits for. */
  folders: number;
}

function maybeWaiting(start: string): Waiting | undefined {
  const [shell, ...options] = maybeShell() ?? [];
  if (shell === undefined) return undefined;
  try {
    const child = new Deno.Command(shell, {
      args: [...options, "-c", WAITING, "sh", start],
      cwd: "/", // it holds no folder of the user's
      env: { PATH },
      clearEnv: true,
      stdin: "piped",
      stdout: "null",
      stderr: "null",
    }).spawn();
    child.unref();
    return { child, folders: 0 };
  } catch {
    return undefined; // such as no process more: the next one that makes such a folder takes it away
  }
}

/** A shell, in a session of its own where that can be. */
function maybeShell(): readonly string[] | undefined {
  if (Deno.build.os === "windows" || !denoGrants({ name: "run" })) return undefined;
  const [shell, setsid] = ["sh", "setsid"].map((name) => maybeFindProgram(name, { path: PATH }));
  if (shell === undefined) return undefined;
  return setsid === undefined ? [shell] : [setsid, shell];
}

async function endOf(child: Deno.ChildProcess): Promise<void> {
  try {
    child.ref();
    child.kill("SIGKILL"); // before the pipe ends: the name may be another's by then
  } catch { /* it has ended */ }
  await Promise.all([child.status, child.stdin.abort().catch(() => undefined)]);
}
