// Deno gives a child two pipes. One pipe, in which the order is that of the writing, takes a shell that sends its stderr into its
// stdout: the command's own one where it is a shell, which saves a start, else one that becomes the command.
import { basename } from "node:path";
import { childEnvironment, type ChildOptions, startChild } from "./child_start.ts";
import { maybeFindProgram, seesProgram } from "./find_program.ts";
import { denoGrants } from "./process.ts";

/** A child whose stderr goes into its stdout. */
export interface MergedChild {
  readonly child: Deno.ChildProcess;
  /** What came out of its stderr nevertheless, as it is to be shown: before it began, or where the pipes cannot be one. */
  shownError(text: string): string;
}

const BECOME = 'exec "$@" 2>&1';

/**
 * Starts a program like {@linkcode startChild}, with its stderr in its stdout. Where that cannot be done, they are two pipes.
 *
 * @throws {Error} that names the program and why it cannot be started
 */
export function startMergedChild(command: string, settings: ChildOptions): MergedChild {
  const asIs = (text: string): string => text;
  const options = { ...settings, env: childEnvironment(settings), inherit: [] };
  const isSeen = seesProgram(command, options);
  // A missing one is started directly: the error then names it, and not the one who looked for it.
  if (Deno.build.os === "windows" || (!isSeen && denoGrants({ name: "read" }))) {
    return { child: startChild(command, options), shownError: asIs };
  }
  const script = maybeScript(command, options.args);
  if (script !== undefined) return startScript(command, { ...options, script, isSeen });
  const isAllowed = denoGrants({ name: "run", command: "/bin/sh" });
  const through = ownGroup(isAllowed ? ["/bin/sh", "-c", BECOME, "sh"] : [], { isSeen });
  return { child: startChild(command, { ...options, ...through }), shownError: asIs };
}

const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash", "ash", "ksh", "zsh"]);
/** On the script's own first line, so that messages name the lines of the script. */
const SCRIPT_START = "exec 2>&1; ";

/** The script of a shell that is given one and nothing else. */
function maybeScript(command: string, args: readonly string[] = []): string | undefined {
  const [option, script, ...rest] = args;
  return SHELLS.has(basename(command)) && option === "-c" && rest.length === 0 ? script : undefined;
}

/** A shell that sends its stderr into its stdout before the first word of its script. Its environment is `env` and nothing else. */
function startScript(
  command: string,
  { script, isSeen, ...options }: ChildOptions & {
    readonly env: Readonly<Record<string, string>>;
    readonly script: string;
    readonly isSeen: boolean;
  },
): MergedChild {
  const child = startChild(command, {
    ...options,
    args: ["-c", SCRIPT_START + script],
    ...ownGroup([], { isSeen }),
  });
  // What its parser quotes is the line that it cannot read, with our words at its beginning.
  return { child, shownError: (text) => text.replace(SCRIPT_START, "") };
}

/**
 * What starts the words. A group of its own that Deno makes needs a copy of our whole process, which takes several times as long as the
 * start itself; setsid(1) makes one without.
 *
 * @param isSeen the program that is started has been found: the error for a missing one is to name it, and not setsid
 */
function ownGroup(
  words: readonly string[],
  { isSeen }: { readonly isSeen: boolean },
): Pick<ChildOptions, "through" | "isGrouped"> {
  const isFree = isSeen && Deno.build.os === "linux" && denoGrants({ name: "run" });
  const setsid = isFree ? maybeFindProgram("setsid", { path: "/usr/bin:/bin" }) : undefined;
  return setsid === undefined ? { through: words } : { through: [setsid, ...words], isGrouped: true };
}
