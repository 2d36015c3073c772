// Deno gives a child two pipes. One pipe, in which the order is that of the writing, takes a shell that sends its stderr into its
// stdout: the command's own one where it is a shell, which saves a start, else one that becomes the command. A shell can also be held
// before the first word of its script: what has to be done before that is done while it is loaded.
import { basename } from "../core/path.ts";
import { childEnvironment, type ChildOptions, startChild } from "./child_start.ts";
import { denoGrants } from "./deno_grants.ts";
import { maybeFindProgram } from "./find_program.ts";
import { killGroup } from "./process_group.ts";

/** A child whose stderr goes into its stdout. */
export interface MergedChild {
  readonly child: Deno.ChildProcess;
  /** What came out of its stderr nevertheless, as it is to be shown: before it began, or where the pipes cannot be one. */
  shownError(text: string): string;
  /** Of a held one: its gate has been opened. */
  readonly opened?: Promise<void>;
}

const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash", "ash", "ksh", "zsh"]);
/** On the script's own first line, so that messages name the lines of the script. */
const SCRIPT_START = "exec 2>&1; ";
/** The same, at a gate: a line on stdin opens it; its end alone, also that of our process, ends the shell. */
const HELD_START = "read -r _ || exit; exec 2>&1 </dev/null; ";
/** Before either, where {@linkcode lateLocale} has set it. */
const OWN_LOCALE = "unset LC_ALL; ";
const OPEN = new TextEncoder().encode("\n");
const BECOME = 'exec "$@" 2>&1';

/** How a merged child begins. */
export interface MergedOptions extends ChildOptions {
  /** Called before anything of the command happens; when it throws, nothing does. */
  readonly onReady?: () => void;
}

/**
 * Starts a program like {@linkcode startChild}, with its stderr in its stdout. Where that cannot be done, they are two pipes.
 *
 * @throws {Error} that names the program and why it cannot be started; what `onReady` throws
 */
export function startMergedChild(command: string, { onReady, ...settings }: MergedOptions): MergedChild {
  const asIs = (text: string): string => text;
  const { args = [], cwd } = settings;
  const options = { ...settings, env: childEnvironment(settings), inherit: [] };
  const path = options.env.PATH ?? "";
  const isSeen = maybeFindProgram(command, { path, ...(cwd !== undefined && { cwd }) }) !== undefined;
  // A missing one is started directly: the error then names it, and not the one who looked for it.
  if (Deno.build.os === "windows" || (!isSeen && denoGrants({ name: "read" }))) {
    onReady?.();
    return { child: startChild(command, options), shownError: asIs };
  }
  const [option, script, ...rest] = args;
  if (SHELLS.has(basename(command)) && option === "-c" && script !== undefined && rest.length === 0) {
    const isHeld = onReady !== undefined && options.stdin === "null";
    const late = lateLocale(options.env);
    const begin = (late === undefined ? "" : OWN_LOCALE) + (isHeld ? HELD_START : SCRIPT_START);
    const own = {
      ...options,
      args: ["-c", begin + script],
      env: { ...options.env, ...late },
      stdin: isHeld ? "piped" as const : options.stdin,
      ...launch([], isSeen),
    };
    if (!isHeld) onReady?.();
    const child = startChild(command, own);
    // Its parser quotes the line that it cannot read, and has not come to our words yet.
    const shownError = (text: string): string => text.replace(begin, "");
    return { child, shownError, ...(isHeld && { opened: letGo(child, onReady) }) };
  }
  onReady?.();
  const isAllowed = denoGrants({ name: "run", command: "/bin/sh" });
  const through = launch(isAllowed ? ["/bin/sh", "-c", BECOME, "sh"] : [], isSeen);
  return { child: startChild(command, { ...options, ...through }), shownError: asIs };
}

/**
 * A locale is read from a dozen files, by setsid(1) first and by the shell again: with this the shell alone reads it, when it comes to
 * its script. Its first line is read before that, in the bytes of ASCII, which UTF-8 leaves alone and other encodings do not. Undefined
 * where that cannot be done.
 */
function lateLocale(env: Readonly<Record<string, string>>): { readonly LC_ALL: "C" } | undefined {
  const names = Object.entries(env).filter(([name]) => name === "LANG" || name.startsWith("LC_"));
  const isPlain = names.every(([name, value]) => name !== "LC_ALL" && PLAIN_LOCALE.test(value));
  return isPlain && names.length > 0 ? { LC_ALL: "C" } : undefined;
}

const PLAIN_LOCALE = /^(|C|POSIX|.*\.utf-?8)$/i;

/** Opens the gate of a held shell. @throws what `onReady` throws */
function letGo(child: Deno.ChildProcess, onReady: () => void): Promise<void> {
  try {
    onReady();
  } catch (error) {
    killGroup(child);
    for (const stream of [child.stdout, child.stderr]) stream.cancel().catch(() => {});
    child.stdin.close().catch(() => {});
    throw error;
  }
  return open(child.stdin);
}

/** The shell may have ended by then: its script cannot be read. */
async function open(gate: WritableStream<Uint8Array>): Promise<void> {
  const writer = gate.getWriter();
  await writer.write(OPEN).catch(() => {});
  await writer.close().catch(() => {});
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
