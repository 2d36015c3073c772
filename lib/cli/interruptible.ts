import { exitProcess } from "../host/process.ts";
import type { Terminal } from "../host/terminal.ts";
import { EXIT } from "./exit_code.ts";

/** A run that Ctrl-C ends: once in order, by the signal; twice at once. */
export interface Interruptible {
  readonly signal: AbortSignal;
  /** True after Ctrl-C. */
  readonly isInterrupted: boolean;
  /** What is to be done before the process ends at once. */
  onSecond(cleanUp: () => void): void;
  /** Ends the run in order because nobody reads its result any more, which is no error. */
  leave(): void;
  readonly hasLeft: boolean;
}

/** Listens for Ctrl-C and for requests to end until the process is over. */
export function interruptible(terminal: Terminal): Interruptible {
  const controller = new AbortController();
  let cleanUp = () => {};
  let hasLeft = false;
  let isInterrupted = false;
  terminal.onInterrupt(() => {
    if (isInterrupted) {
      cleanUp();
      exitProcess(EXIT.interrupted);
    }
    isInterrupted = true;
    controller.abort(new Error("the run was interrupted"));
  });
  return {
    signal: controller.signal,
    get isInterrupted() {
      return isInterrupted;
    },
    onSecond: (work) => void (cleanUp = work),
    leave() {
      hasLeft = true;
      controller.abort(new Error("nobody reads the result any more"));
    },
    get hasLeft() {
      return hasLeft;
    },
  };
}
