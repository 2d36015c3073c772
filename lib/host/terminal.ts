import { createOutput } from "./output.ts";
import type { Output } from "./output.ts";
import { stdinChunks } from "./read_chunks.ts";
import type { TerminalUser } from "./terminal_user.ts";

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
  /** The person who can be asked: only when stdin and stderr are terminals. */
  user(options?: { show?: (question: string) => Promise<void> }): Promise<TerminalUser>;
}

/** The terminal of this process. */
export function hostTerminal(): Terminal {
  const stdout = createOutput(Deno.stdout, "stdout");
  const stderr = createOutput(Deno.stderr, "stderr");
  return {
    stdout,
    stderr,
    stdinIsTerminal: Deno.stdin.isTerminal(),
    stdinChunks,
    size: windowSize,
    onResize: (listener) => onSignals(["SIGWINCH"], listener),
    onInterrupt: (listener) => onSignals(["SIGINT", "SIGTERM", "SIGHUP"], listener),
    onStrayError,
    async user(options = {}) {
      const { terminalUser }: typeof import("./terminal_user.ts") = await import(
        "./terminal_user.ts" as string
      );
      const canAnswer = Deno.stdin.isTerminal() && stderr.isTerminal;
      return terminalUser({ canAnswer, show: options.show ?? ((question) => stderr.write(question)) });
    },
  };
}

function windowSize(): { columns: number; rows: number } {
  try {
    const { columns, rows } = Deno.consoleSize();
    // A window that was never given a size says 0 by 0.
    if (columns > 0 && rows > 0) return { columns, rows };
  } catch {
    // No terminal at all: the size of none is that of the smallest usual one.
  }
  return { columns: 80, rows: 24 };
}

function onSignals(signals: readonly Deno.Signal[], listener: () => void): Disposable {
  const heard = Deno.build.os === "windows" ? signals.filter((signal) => signal === "SIGINT") : signals;
  for (const signal of heard) Deno.addSignalListener(signal, listener);
  return {
    [Symbol.dispose]() {
      for (const signal of heard) Deno.removeSignalListener(signal, listener);
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
