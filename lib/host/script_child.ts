// A shell that sends its stderr into its stdout before the first word of its script. It can be held there: what has to be done before
// that is done while it is loaded.
import { basename } from "../core/path.ts";
import { type ChildOptions, startChild } from "./child_start.ts";
import { ownGroup } from "./own_group.ts";

const SHELLS: ReadonlySet<string> = new Set(["sh", "bash", "dash", "ash", "ksh", "zsh"]);
/** On the script's own first line, so that messages name the lines of the script. */
const SCRIPT_START = "exec 2>&1; ";
/** The same, at a gate: a line on stdin opens it; its end alone, also that of our process, ends the shell. */
const HELD_START = "read -r _ || exit; exec 2>&1 </dev/null; ";
/** Before either, where {@linkcode lateLocale} has set it. */
const OWN_LOCALE = "unset LC_ALL; ";

/** A shell and how it was started. */
export interface ScriptChild {
  readonly child: Deno.ChildProcess;
  /** What came out of its stderr itself, without our words: its parser quotes the line that it cannot read. */
  shownError(text: string): string;
}

/** How a shell with a script begins; its environment is `env` and nothing else. */
export interface ScriptOptions extends ChildOptions {
  readonly env: Readonly<Record<string, string>>;
  /** The program has been found. */
  readonly isSeen: boolean;
  /** It waits for a line on its stdin, which is piped then. */
  readonly isHeld: boolean;
}

/** The script of a shell that is given one and nothing else. */
export function maybeScript(command: string, args: readonly string[] = []): string | undefined {
  const [option, script, ...rest] = args;
  return SHELLS.has(basename(command)) && option === "-c" && rest.length === 0 ? script : undefined;
}

/** @throws {Error} that names the program and why it cannot be started */
export function startScriptChild(
  command: string,
  { script, isSeen, isHeld, ...options }: ScriptOptions & { readonly script: string },
): ScriptChild {
  const late = lateLocale(options.env);
  const begin = (late === undefined ? "" : OWN_LOCALE) + (isHeld ? HELD_START : SCRIPT_START);
  const child = startChild(command, {
    ...options,
    args: ["-c", begin + script],
    env: { ...options.env, ...late },
    inherit: [],
    stdin: isHeld ? "piped" : options.stdin,
    ...ownGroup([], { isSeen }),
  });
  return { child, shownError: (text) => text.replace(begin, "") };
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
