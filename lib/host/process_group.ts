import { denoGrants } from "./process.ts";

/** How long processes have to end by themselves after TERM. */
const GRACE_MS = 2_000;
/** The same when the child has ended and nobody holds its output any more: then mostly nobody is left, but the dead that init has not taken away. */
const QUIET_GRACE_MS = 200;
const POLL_MS = 10;

/**
 * Ends a child that was started with `detached`, and everything in its process group: TERM, and KILL after 2 s for what
 * is still there. Comes back when the group is gone. `quiet` resolves when the child and its output have ended; `hasEnded`: the child
 * has, and what is left are others.
 *
 * Signals to a group need Deno's `--allow-run` without a list; with a list only the child itself can be ended.
 */
export async function endGroup(
  child: Deno.ChildProcess,
  { quiet, hasEnded }: { readonly quiet: Promise<unknown>; readonly hasEnded: boolean },
): Promise<void> {
  const hasGroup = denoGrants({ name: "run" }) && Deno.build.os !== "windows";
  // A signal that reaches nobody is an exception: one, and not two.
  const signal = !hasGroup ? signalChild : hasEnded ? signalOthers : signalGroup;
  if (!signal(child, "SIGTERM")) return;
  let deadline = performance.now() + GRACE_MS;
  const hurry = () => void (deadline = Math.min(deadline, performance.now() + QUIET_GRACE_MS));
  quiet.then(hurry);
  while (performance.now() < deadline) {
    // CONT changes nothing for a running process, and one that is stopped gets its TERM only then.
    if (!signal(child, "SIGCONT")) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  signal(child, "SIGKILL");
}

/** Ends a child and its process group at once, for the moment in which this process ends itself. */
export function killGroup(child: Deno.ChildProcess): void {
  const signal = denoGrants({ name: "run" }) && Deno.build.os !== "windows" ? signalGroup : signalChild;
  signal(child, "SIGKILL");
}

/** False when nobody is left to get it. A child that makes its group itself may not have come to that yet. */
function signalGroup(child: Deno.ChildProcess, signal: Deno.Signal): boolean {
  return signalOthers(child, signal) || signalChild(child, signal);
}

function signalOthers({ pid }: Deno.ChildProcess, signal: Deno.Signal): boolean {
  try {
    Deno.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

function signalChild(child: Deno.ChildProcess, signal: Deno.Signal): boolean {
  try {
    child.kill(signal);
    return true;
  } catch {
    return false; // it has ended
  }
}
