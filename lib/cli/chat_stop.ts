import { exitProcess } from "../host/process.ts";
import type { Terminal } from "../host/terminal.ts";
import { EXIT } from "../service/exit_code.ts";
import type { Interruptible } from "./around_run.ts";

/** Ctrl-C in a conversation: the first stops the answer, the second ends the conversation in order, the third at once. */
export class ChatStop implements Interruptible {
  readonly #run = new AbortController();
  readonly #terminal: Terminal;
  readonly #say: (text: string) => void;
  #turn = new AbortController();
  #isAnswering = false;
  #isWarned = false;
  #isInterrupted = false;
  #hasLeft = false;
  #cleanUp = () => {};

  constructor(terminal: Terminal, say: (text: string) => void) {
    this.#terminal = terminal;
    this.#say = say;
    terminal.onInterrupt(() => this.#press());
  }

  get signal(): AbortSignal {
    return this.#run.signal;
  }

  /** Of the answer that is being written. */
  get turn(): AbortSignal {
    return this.#turn.signal;
  }

  get isInterrupted(): boolean {
    return this.#isInterrupted;
  }

  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  leave(): void {
    this.#hasLeft = true;
    this.#run.abort(new Error("nobody reads the answers any more"));
  }

  onSecond(cleanUp: () => void): void {
    this.#cleanUp = cleanUp;
  }

  /** A message was said: an answer comes. */
  answering(): void {
    this.#turn = new AbortController();
    this.#isAnswering = true;
    this.#isWarned = false;
  }

  /** The answer is there, and the next message is waited for. */
  listening(): void {
    this.#isAnswering = false;
    this.#isWarned = this.#turn.signal.aborted; // whoever stopped the answer was told
  }

  #press(): void {
    if (this.#isInterrupted) {
      this.#cleanUp();
      exitProcess(EXIT.interrupted);
    }
    if (this.#isAnswering && !this.#turn.signal.aborted) {
      this.#turn.abort(new Error("the answer was stopped"));
      return this.#say("stopped; Ctrl-C once more ends the conversation");
    }
    if (!this.#isAnswering && !this.#isWarned) {
      this.#isWarned = true;
      return this.#say("Ctrl-C once more ends the conversation");
    }
    this.#isInterrupted = true;
    const { stdinIsTerminal, stderr } = this.#terminal;
    if (!this.#isAnswering && stdinIsTerminal) void stderr.write("\n"); // behind the prompt, and ^C
    this.#run.abort(new Error("the conversation was interrupted"));
  }
}
