// A process number is given again when its process is gone, so a process is told by its start as well. Only Linux says that, and
// only to a process with all of Deno's permissions.

import type { RunOwner } from "../core/journal.ts";
import { denoGrants } from "./deno_grants.ts";

/** What this machine is called when Deno may not ask it. */
const UNKNOWN_HOST = "localhost";

type Sight =
  | { readonly found: "running"; readonly startedAt: string }
  | { readonly found: "gone" }
  | { readonly found: "unknown" };

/** This process, as the owner of runs. */
export function thisProcess(): RunOwner {
  const sight = lookInProc(Deno.pid);
  return {
    host: denoGrants({ name: "sys", kind: "hostname" }) ? Deno.hostname() : UNKNOWN_HOST,
    pid: Deno.pid,
    ...(sight.found === "running" ? { startedAt: sight.startedAt } : {}),
  };
}

/** Whether a process of this machine still runs; `undefined` when that cannot be known. Never asks for a permission, never throws. */
export function isProcessAlive({ pid, startedAt }: Omit<RunOwner, "host">): boolean | undefined {
  const sight = lookInProc(pid);
  switch (sight.found) {
    case "gone":
      return false;
    case "running":
      return startedAt === undefined ? undefined : sight.startedAt === startedAt;
    case "unknown":
      return isNumberFree(pid) ? false : undefined;
    default:
      return sight satisfies never;
  }
}

/** proc_pid_stat(5): field 3 is the state, field 22 the start in ticks since the machine was started. */
function lookInProc(pid: number): Sight {
  const path = `/proc/${pid}/stat`;
  if (Deno.build.os !== "linux" || !denoGrants({ name: "read", path })) return { found: "unknown" };
  try {
    const stat = Deno.readTextFileSync(path);
    // The second field is the program's name in parentheses, and may hold blanks and parentheses itself.
    const [state = "", ...fields] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    // A zombie has ended, and only its parent has yet to hear of it.
    return "ZX".includes(state)
      ? { found: "gone" }
      : { found: "running", startedAt: `${bootId()}/${fields[18]}` };
  } catch (error) {
    return { found: error instanceof Deno.errors.NotFound ? "gone" : "unknown" };
  }
}

/** Another one after each start of the machine: process numbers and ticks begin again then. */
function bootId(): string {
  return Deno.readTextFileSync("/proc/sys/kernel/random/boot_id").trim();
}

/** Signal 0 does nothing but look for the process. Windows has no such thing. */
function isNumberFree(pid: number): boolean {
  if (Deno.build.os === "windows" || !denoGrants({ name: "run" })) return false;
  try {
    Deno.kill(pid, 0);
    return false;
  } catch (error) {
    return error instanceof Deno.errors.NotFound;
  }
}
