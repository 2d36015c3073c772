// Programs, with no shell in between and no policy: lib/policy/guard_shell.ts puts one around it.
import { linkedSignal, whenAborted } from "../core/async.ts";
import type { Shell, ShellResult } from "../core/world.ts";
import { CappedText, type TextSource } from "./capped_text.ts";
import { boundToUs } from "./bound_child.ts";
import { childEnvironment, startChild } from "./child_start.ts";
import { seesProgram } from "./find_program.ts";
import { type MergedChild, startMergedChild } from "./merged_child.ts";
import { atExit } from "./process.ts";
import { endGroup, killGroup } from "./process_group.ts";

const DEFAULT_MAX_BYTES = 1024 * 1024;
/** How long output may still come after the end of a command and of what it left behind. */
const LAST_OUTPUT_MS = 2_000;

type RunOptions = Parameters<Shell["run"]>[1];
type Started = Pick<MergedChild, "child"> & Partial<MergedChild>;

/** The programs of this machine. */
export function hostShell(): Shell {
  return {
    async run(command, options) {
      options.signal?.throwIfAborted();
      return await finish(start(command, options), options);
    },
  };
}

function start(command: string, options: RunOptions): Started {
  const { args = [], cwd, env = {}, inherit, stdin, isMerged = false } = options;
  const settings = {
    args,
    env,
    cwd,
    inherit,
    stdin: stdin === undefined ? "null" as const : "piped" as const,
  };
  if (isMerged) return startMergedChild(command, settings);
  // One that is not there is started directly: the error then names it, and not the one that binds it.
  const isSeen = seesProgram(command, { ...settings, env: childEnvironment(settings) });
  return { child: startChild(command, { ...settings, ...(isSeen && boundToUs()) }) };
}

async function finish(started: Started, options: RunOptions): Promise<ShellResult> {
  const { child } = started;
  const { signal, stop } = options;
  if (options.stdin !== undefined) feed(child.stdin, options.stdin);
  const texts = textsOf(started, options);
  using exit = new DisposableStack();
  exit.use(atExit(() => killGroup(child)));
  const isCut = await endOf(child, [signal, stop]);
  const stopped = isCut && stop?.aborted === true;
  // Also after a normal end: nothing that a command started goes on after it.
  const quiet = Promise.allSettled([child.status, ...texts.map(({ done }) => done)]);
  await endGroup(child, { quiet, hasEnded: !isCut });
  exit.dispose();
  const { code } = await child.status;
  await Promise.all(texts.map((text) => text.end(LAST_OUTPUT_MS)));
  signal?.throwIfAborted();
  const dropped = texts.reduce((sum, text) => sum + text.dropped, 0);
  const [stdout = "", stderr = ""] = texts.map(({ text }) => text);
  return { exitCode: code, stdout, stderr, truncated: dropped > 0, dropped, stopped };
}

/** Of stdout and of stderr, or of both in one. */
function textsOf({ child, shownError }: Started, options: RunOptions): readonly CappedText[] {
  const { maxBytes = DEFAULT_MAX_BYTES, onOutput } = options;
  const capped = (sources: readonly TextSource[], name: "stdout" | "stderr") =>
    new CappedText(sources, { maxBytes, onText: onOutput && ((text) => onOutput(text, name)) });
  const [stdout, stderr] = [{ stream: child.stdout }, { stream: child.stderr }];
  if (shownError === undefined) return [capped([stdout], "stdout"), capped([stderr], "stderr")];
  return [capped([stdout, { ...stderr, shown: shownError }], "stdout")];
}

/** Waits for the end of a child or for the first signal; true when it was a signal. */
async function endOf(
  child: Deno.ChildProcess,
  signals: readonly (AbortSignal | undefined)[],
): Promise<boolean> {
  using either = linkedSignal(signals);
  return await Promise.race([child.status.then(() => false), whenAborted(either.signal).then(() => true)]);
}

/** A command need not read its input to the end. */
function feed(stdin: WritableStream<Uint8Array>, text: string): void {
  const writer = stdin.getWriter();
  writer.write(new TextEncoder().encode(text)).then(() => writer.close()).catch(() => {});
}
