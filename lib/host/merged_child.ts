// Deno gives a child two pipes. One pipe, in which the order is that of the writing, takes a shell that sends its stderr into its
// stdout: the command's own one where it is a shell, which saves a start, else one that becomes the command.
import { childEnvironment, type ChildOptions, startChild } from "./child_start.ts";
import { denoGrants } from "./process.ts";
import { seesProgram } from "./find_program.ts";
import { HeldCommand } from "./held_command.ts";
import { ownGroup } from "./own_group.ts";
import { maybeScript, startScriptChild } from "./script_child.ts";

/** A child whose stderr goes into its stdout. */
export interface MergedChild {
  readonly child: Deno.ChildProcess;
  /** What came out of its stderr nevertheless, as it is to be shown: before it began, or where the pipes cannot be one. */
  shownError(text: string): string;
  /** Of a held one: its gate has been opened. */
  readonly opened?: Promise<void>;
}

const BECOME = 'exec "$@" 2>&1';

/** How a merged child begins. */
export interface MergedOptions extends ChildOptions {
  /** Called before anything of the command happens; when it throws, nothing does. */
  readonly onReady?: () => void;
  /** Used where it is this command; else it stays the caller's. */
  readonly loaded?: HeldCommand | undefined;
}

/**
 * Starts a program like {@linkcode startChild}, with its stderr in its stdout. Where that cannot be done, they are two pipes.
 *
 * @throws {Error} that names the program and why it cannot be started; what `onReady` throws
 */
export function startMergedChild(
  command: string,
  { onReady, loaded, ...settings }: MergedOptions,
): MergedChild {
  const asIs = (text: string): string => text;
  const { args = [], stdin } = settings;
  const options = { ...settings, env: childEnvironment(settings), inherit: [] };
  const isSeen = seesProgram(command, options);
  // A missing one is started directly: the error then names it, and not the one who looked for it.
  if (Deno.build.os === "windows" || (!isSeen && denoGrants({ name: "read" }))) {
    onReady?.();
    return { child: startChild(command, options), shownError: asIs };
  }
  const script = maybeScript(command, args);
  if (script !== undefined && onReady !== undefined && stdin === "null") {
    const isLoaded = loaded?.is(command, options) === true;
    const held = isLoaded ? loaded : HeldCommand.start(command, { ...options, script, isSeen });
    return { ...held.shell, opened: held.letGo(onReady) };
  }
  onReady?.();
  if (script !== undefined) return startScriptChild(command, { ...options, script, isSeen, isHeld: false });
  const isAllowed = denoGrants({ name: "run", command: "/bin/sh" });
  const through = ownGroup(isAllowed ? ["/bin/sh", "-c", BECOME, "sh"] : [], { isSeen });
  return { child: startChild(command, { ...options, ...through }), shownError: asIs };
}
