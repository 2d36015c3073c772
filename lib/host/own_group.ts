import type { ChildOptions } from "./child_start.ts";
import { denoGrants } from "./process.ts";
import { maybeFindProgram } from "./find_program.ts";

/**
 * What starts the words. A group of its own that Deno makes needs a copy of our whole process, which takes several times as long as the
 * start itself; setsid(1) makes one without.
 *
 * @param isSeen the program that is started has been found: the error for a missing one is to name it, and not setsid
 */
export function ownGroup(
  words: readonly string[],
  { isSeen }: { readonly isSeen: boolean },
): Pick<ChildOptions, "through" | "isGrouped"> {
  const isFree = isSeen && Deno.build.os === "linux" && denoGrants({ name: "run" });
  const setsid = isFree ? maybeFindProgram("setsid", { path: "/usr/bin:/bin" }) : undefined;
  return setsid === undefined ? { through: words } : { through: [setsid, ...words], isGrouped: true };
}
