import { exitProcess } from "../host/process.ts";
import type { Terminal } from "../host/terminal.ts";
import { EXIT } from "./exit_code.ts";

/** A run that Ctrl-C ends: once in order, by the signal; twice at once. */
export interface Interruptible {
  readonly signal: AbortSignal;
  /** What is to be done before the process ends at once. */
  onSecond(cleanUp: () => void): void;
}

/** Listens for Ctrl-C and for requests to end until the process is over. */
export function interruptible(terminal: Terminal): Interruptible {
  const controller = new AbortController();
  let cleanUp = () => {};
  terminal.onInterrupt(() => {
    if (controller.signal.aborted) {
      cleanUp();
      exitProcess(EXIT.interrupted);
    }
    controller.abort(new Error("the run was interrupted"));
  });
  return { signal: controller.signal, onSecond: (work) => void (cleanUp = work) };
}
