// Deno gives a child two pipes. One pipe, in which the order is that of the writing, takes a shell that sends its stderr into its
// stdout: the command's own one where it is a shell, which saves a start, else one that becomes the command.
import { basename } from "../core/path.ts";
import { childEnvironment, type ChildOptions, startChild } from "./child_start.ts";
import { denoGrants } from "./deno_grants.ts";
import { maybeFindProgram } from "./find_program.ts";

/** A child whose stderr goes into its stdout. */
export interface MergedChild {
  readonly child: Deno.ChildProcess;
  /** What came out of its stderr nevertheless, as it is to be shown: before it began, or where the pipes cannot be one. */
  shownError(text: string): string;
}

const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash", "ash", "ksh", "zsh"]);
/** On the script's own first line, so that messages name the lines of the script. */
const SCRIPT_START = "exec 2>&1; ";
const BECOME = 'exec "$@" 2>&1';

/**
 * Starts a program like {@linkcode startChild}, with its stderr in its stdout. Where that cannot be done, they are two pipes.
 *
 * @throws {Error} that names the program and why it cannot be started
 */
export function startMergedChild(command: string, settings: ChildOptions): MergedChild {
  const asIs = (text: string): string => text;
  const { args = [], cwd } = settings;
  const options = { ...settings, env: childEnvironment(settings), inherit: [] };
  const path = options.env.PATH ?? "";
  const isSeen = maybeFindProgram(command, { path, ...(cwd !== undefined && { cwd }) }) !== undefined;
  // A missing one is started directly: the error then names it, and not the one who looked for it.
  if (Deno.build.os === "windows" || (!isSeen && denoGrants({ name: "read" }))) {
    return { child: startChild(command, options), shownError: asIs };
  }
  const [option, script, ...rest] = args;
  if (SHELLS.has(basename(command)) && option === "-c" && script !== undefined && rest.length === 0) {
    const own = { ...options, args: ["-c", SCRIPT_START + script], ...launch([], isSeen) };
    // Its parser quotes the line that it cannot read, and has not come to our words yet.
    return { child: startChild(command, own), shownError: (text) => text.replace(SCRIPT_START, "") };
  }
  const isAllowed = denoGrants({ name: "run", command: "/bin/sh" });
  const through = launch(isAllowed ? ["/bin/sh", "-c", BECOME, "sh"] : [], isSeen);
  return { child: startChild(command, { ...options, ...through }), shownError: asIs };
}

/**
 * What starts the words. A group of its own that Deno makes needs a copy of our whole process, which takes several times as long as the
 * start itself; setsid(1) makes one without.
 */
function launch(words: readonly string[], isSeen: boolean): Pick<ChildOptions, "through" | "isGrouped"> {
  const isFree = isSeen && Deno.build.os === "linux" && denoGrants({ name: "run" });
  const setsid = isFree ? maybeFindProgram("setsid", { path: "/usr/bin:/bin" }) : undefined;
  return setsid === undefined ? { through: words } : { through: [setsid, ...words], isGrouped: true };
}
