import { systemReason } from "../files/attempt.ts";
import { stdinChunks } from "../files/files.ts";
import { hearingSignals, hostEnv, program, type ProgramOutput } from "../process.ts";
import type { TerminalUser } from "./user.ts";

/** The three streams of the process, its signals, and the size of its window. */
export interface Terminal {
  readonly stdout: Output;
  readonly stderr: Output;
  readonly stdinIsTerminal: boolean;
  /** The bytes of stdin as they come; ends early when the signal is aborted. */
  stdinChunks(options?: { signal?: AbortSignal }): AsyncIterable<Uint8Array>;
  /** The window in cells; 80 by 24 when nothing tells. */
  size(): { readonly columns: number; readonly rows: number };
  onResize(listener: () => void): Disposable;
  /** Ctrl-C, an orderly request to end, or a window that was closed. Without a listener they end the process. */
  onInterrupt(listener: () => void): Disposable;
  /** A promise of some gadget that was rejected with nobody listening: told, instead of ending the process. */
  onStrayError(listener: (error: unknown) => void): Disposable;
  /** The person who can be asked: only when stdin and stderr are terminals. @param options `edits`: lines are edited, where the terminal can */
  user(options?: { show?: (question: string) => Promise<void>; edits?: boolean }): Promise<TerminalUser>;
}

/** The terminal of this process. */
export function hostTerminal(): Terminal {
  const { stdin, stdout: out, stderr: err } = program();
  const stdout = new HostOutput(out, "stdout");
  const stderr = new HostOutput(err, "stderr");
  return {
    stdout,
    stderr,
    stdinIsTerminal: stdin.isTerminal(),
    stdinChunks,
    size: windowSize,
    onResize: (listener) => onSignals(["SIGWINCH"], listener),
    onInterrupt: (listener) => {
      const heard = new DisposableStack();
      heard.use(hearingSignals());
      heard.use(onSignals(["SIGINT", "SIGTERM", "SIGHUP"], listener));
      return heard;
    },
    onStrayError,
    async user(options = {}) {
      const { terminalUser }: typeof import("./user.ts") = await import(
        "./user.ts" as string
      );
      const canAnswer = stdin.isTerminal() && stderr.isTerminal;
      const { show = (question) => stderr.write(question) } = options;
      const edits = options.edits === true && canAnswer && hostEnv("TERM") !== "dumb";
      return terminalUser({ canAnswer, show, edits });
    },
  };
}

/** The window in cells; 80 by 24 when nothing tells. */
export function windowSize(): { columns: number; rows: number } {
  try {
    const { columns, rows } = Deno.consoleSize();
    // A window that was never given a size says 0 by 0.
    if (columns > 0 && rows > 0) return { columns, rows };
  } catch {
    // No terminal at all: the size of none is that of the smallest usual one.
  }
  return { columns: 80, rows: 24 };
}

function onSignals(names: readonly Deno.Signal[], listener: () => void): Disposable {
  const heard = Deno.build.os === "windows" ? names.filter((signal) => signal === "SIGINT") : names;
  const signals = program().signals ?? Deno;
  for (const signal of heard) signals.addSignalListener(signal, listener);
  return {
    [Symbol.dispose]() {
      for (const signal of heard) signals.removeSignalListener(signal, listener);
    },
  };
}

function onStrayError(listener: (error: unknown) => void): Disposable {
  const onRejection = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    listener(event.reason);
  };
  const onError = (event: ErrorEvent) => {
    event.preventDefault();
    listener(event.error);
  };
  globalThis.addEventListener("unhandledrejection", onRejection);
  globalThis.addEventListener("error", onError);
  return {
    [Symbol.dispose]() {
      globalThis.removeEventListener("unhandledrejection", onRejection);
      globalThis.removeEventListener("error", onError);
    },
  };
}

/** Where text goes: stdout or stderr. */
export interface Output {
  readonly isTerminal: boolean;
  /** True once the reader has gone away (EPIPE): everything after that is dropped, which is no error. */
  readonly closed: boolean;
  /** Written whole and in order, however slow the reader is. @throws {Error} for stdout, when the disk is full, say. */
  write(text: string): Promise<void>;
  /** The same at once, for the moments in which nothing can be awaited, such as a second Ctrl-C. */
  writeNow(text: string): void;
}

/** How long to wait when a pipe that somebody set to non-blocking is full. */
const FULL_PIPE_DELAY_MS = 5;

/** Stdout or stderr. What cannot be said on stderr cannot be said anywhere: it is dropped, and the work goes on. */
class HostOutput implements Output {
  readonly isTerminal: boolean;
  readonly #stream: ProgramOutput;
  readonly #name: "stdout" | "stderr";
  readonly #encoder = new TextEncoder();
  closed = false;
  #last: Promise<void> = Promise.resolve();

  constructor(stream: ProgramOutput, name: "stdout" | "stderr") {
    this.#stream = stream;
    this.#name = name;
    this.isTerminal = stream.isTerminal();
  }

  write(text: string): Promise<void> {
    if (text === "") return this.#last;
    const bytes = this.#encoder.encode(text);
    const written = this.#last.then(() => this.#writeAll(bytes));
    this.#last = written.catch(() => {});
    return written;
  }

  writeNow(text: string): void {
    try {
      const bytes = this.#encoder.encode(text);
      for (let at = 0; at < bytes.length && !this.closed;) at += this.#stream.writeSync(bytes.subarray(at));
    } catch {
      this.closed = true;
    }
  }

  async #writeAll(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length && !this.closed;) {
      try {
        at += await this.#stream.write(bytes.subarray(at));
      } catch (error) {
        if (error instanceof Deno.errors.WouldBlock) await pause();
        else if (error instanceof Deno.errors.BrokenPipe || this.#name === "stderr") this.closed = true;
        else throw new Error(`Cannot write to ${this.#name}: ${systemReason(error)}`, { cause: error });
      }
    }
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, FULL_PIPE_DELAY_MS));
}

/** Whether an output gets colours and a live view: a terminal, and nothing in the environment against it (cli.md). */
export function hasColor(output: Output): boolean {
  return output.isTerminal && !isSet("NO_COLOR") && !isSet("CI") && hostEnv("TERM") !== "dumb";
}

/** Set to the empty text counts as not set (https://no-color.org), and `CI=false` says what it says. */
function isSet(variable: string): boolean {
  const value = hostEnv(variable);
  return value !== undefined && value !== "" && value !== "false";
}
