// Programs, with no shell in between and no policy: lib/policy/guard.ts puts one around it.
import { basename } from "node:path";
import { linkedSignal, type Shell, type ShellResult, whenAborted } from "../../core/core.ts";
import {
  boundToUs,
  childEnvironment,
  type ChildOptions,
  endGroup,
  killGroup,
  ownGroup,
  seesProgram,
  startChild,
} from "./child.ts";
import { atExit, denoGrants } from "../process.ts";

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

// Deno gives a child two pipes. One pipe, in which the order is that of the writing, takes a shell that sends its stderr into its
// stdout: the command's own one where it is a shell, which saves a start, else one that becomes the command.

/** A child whose stderr goes into its stdout. */
interface MergedChild {
  readonly child: Deno.ChildProcess;
  /** What came out of its stderr nevertheless, as it is to be shown: before it began, or where the pipes cannot be one. */
  shownError(text: string): string;
}

const BECOME = 'exec "$@" 2>&1';

/**
 * Starts a program like {@linkcode startChild}, with its stderr in its stdout. Where that cannot be done, they are two pipes. It is a document's
 * own command: every other ends with this process, also when that is killed.
 *
 * @throws {Error} that names the program and why it cannot be started
 */
function startMergedChild(command: string, settings: ChildOptions): MergedChild {
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
  const through = groupOf(isAllowed ? ["/bin/sh", "-c", BECOME, "sh"] : [], { isSeen });
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
    ...groupOf([], { isSeen }),
  });
  // What its parser quotes is the line that it cannot read, with our words at its beginning.
  return { child, shownError: (text) => text.replace(SCRIPT_START, "") };
}

/** @param isSeen the program that is started has been found: the error for a missing one is to name it, and not setsid */
function groupOf(
  words: readonly string[],
  { isSeen }: { readonly isSeen: boolean },
): Pick<ChildOptions, "through" | "isGrouped"> {
  const isFree = isSeen && Deno.build.os === "linux" && denoGrants({ name: "run" });
  return isFree ? ownGroup(words) : { through: words };
}

/** A stream of a program's output. */
interface TextSource {
  readonly stream: ReadableStream<Uint8Array>;
  /** How a piece of it is shown. Default: as it is. */
  readonly shown?: (text: string) => string;
}

/**
 * Reads streams of bytes as one text, in the order in which they come, and keeps the first `maxBytes`; the rest is read too, so that
 * nobody waits for us. What is no UTF-8 becomes U+FFFD.
 */
class CappedText {
  text = "";
  #bytesLeft: number;
  /** How many bytes were not kept. */
  dropped = 0;
  #isDone = false;
  readonly #onText: ((text: string) => void) | undefined;
  readonly #readers: readonly ReadableStreamDefaultReader<Uint8Array>[];
  /** Settles at the end of all streams. @throws what `onText` threw. */
  readonly done: Promise<void>;

  constructor(
    sources: readonly TextSource[],
    options: { readonly maxBytes: number; readonly onText?: (text: string) => void },
  ) {
    this.#bytesLeft = options.maxBytes;
    this.#onText = options.onText;
    const read = sources.map(({ stream, shown = (text) => text }) => ({ reader: stream.getReader(), shown }));
    this.#readers = read.map(({ reader }) => reader);
    this.done = Promise.all(read.map((one) => this.#readAll(one))).then(() => {});
    this.done.then(() => this.#isDone = true, () => {}); // a failure is told by end()
  }

  /** Waits for the end of the streams, but not longer than `waitMs`. @throws what `onText` threw. */
  async end(waitMs: number): Promise<void> {
    if (this.#isDone) return;
    const timer = setTimeout(() => this.#stop(), waitMs);
    try {
      await this.done;
    } finally {
      clearTimeout(timer);
      this.#stop();
    }
  }

  #stop(): void {
    for (const reader of this.#readers) reader.cancel().catch(() => {});
  }

  async #readAll(
    { reader, shown }: {
      readonly reader: ReadableStreamDefaultReader<Uint8Array>;
      readonly shown: (text: string) => string;
    },
  ): Promise<void> {
    const decoder = new TextDecoder();
    let last = new Uint8Array();
    let isCut = false;
    while (true) {
      const { value } = await reader.read().catch(() => ({ value: undefined })); // broken off is ended
      if (value === undefined) break;
      const kept = value.subarray(0, this.#bytesLeft);
      this.#bytesLeft -= kept.length;
      this.dropped += value.length - kept.length;
      isCut ||= kept.length < value.length;
      if (kept.length === 0) continue;
      last = lastBytes(last, kept);
      this.#add(shown(decoder.decode(kept, { stream: true })));
    }
    // A character that the cut divided is left out; one that the program itself broke off is shown as such.
    if (isCut) this.dropped += unfinishedBytes(last);
    else this.#add(shown(decoder.decode()));
  }

  #add(text: string): void {
    if (text === "") return;
    this.text += text;
    this.#onText?.(text);
  }
}

/** As many as a character can have without being whole. */
const MOST_UNFINISHED = 3;

function lastBytes(before: Uint8Array, kept: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = kept.length >= MOST_UNFINISHED ? kept : [...before, ...kept];
  return Uint8Array.from(bytes.slice(-MOST_UNFINISHED));
}

/** How many bytes at the end are the beginning of a character of UTF-8. */
function unfinishedBytes(bytes: Uint8Array): number {
  for (let count = 1; count <= bytes.length; count++) {
    try {
      const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
      if (decoder.decode(bytes.subarray(-count), { stream: true }) === "") return count;
      return 0;
    } catch { /* the character begins before these */ }
  }
  return 0;
}
