// A child that ends when this process does, also when it hangs in a loop and this process was killed: nobody is left to tell it then.
import type { ChildOptions } from "./child_start.ts";
import { denoGrants } from "./process.ts";
import { maybeFindProgram } from "./find_program.ts";

const PLACES = { path: "/usr/bin:/bin" };
/** Looks after the child from a shell of its own, for as long as both are there, and then becomes the child. */
const WATCHED = '( while kill -0 "$$"; do kill -0 "$PPID" || kill -9 "$$"; sleep 1; done ) ' +
  '</dev/null >/dev/null 2>&1 & exec "$@"';

/**
 * What starts such a child: in a process group of its own, so that Ctrl-C reaches this process alone. Where Deno may not start every
 * program, and on Windows, there is nothing of that kind.
 */
export function boundToUs(): Pick<ChildOptions, "through" | "isGrouped"> {
  if (Deno.build.os === "windows" || !denoGrants({ name: "run" })) return { isGrouped: true };
  const binding = kernelBinding() ?? watchedByShell();
  const setsid = maybeFindProgram("setsid", PLACES);
  // Making a group ourselves takes a copy of our whole process.
  return setsid === undefined ? { through: binding } : { through: [setsid, ...binding], isGrouped: true };
}

/** Linux tells a child that its parent has died; `busybox` has a setpriv without that. */
function kernelBinding(): readonly string[] | undefined {
  const setpriv = Deno.build.os === "linux" ? maybeFindProgram("setpriv", PLACES) : undefined;
  if (setpriv === undefined || Deno.realPathSync(setpriv).includes("busybox")) return undefined;
  return [setpriv, "--pdeathsig", "KILL"];
}

/** The same without help of the kernel: a second or two later. */
export function watchedByShell(): readonly string[] {
  return maybeFindProgram("sh", PLACES) === undefined ? [] : ["/bin/sh", "-c", WATCHED, "sh"];
}
