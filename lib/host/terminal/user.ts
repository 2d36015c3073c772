// A read from the terminal cannot be taken back: when a question is given up, its read goes on. It is kept as `#reading` until
// somebody takes its line, which answers the question that is on the screen by then.

import type { Interface } from "node:readline";
import { orAborted, type User } from "../../core/core.ts";
import { isDeno29, program } from "../process.ts";
import { windowSize } from "./terminal.ts";

/** How to ask. */
export interface TerminalUserOptions {
  readonly canAnswer: boolean;
  /** Shows the question; the answer is typed below it. */
  readonly show: (question: string) => Promise<void>;
  /** Lines are edited with the keys of a shell, and messages can be had again: not with Deno 2.6, which loses what is typed between two lines. */
  readonly edits: boolean;
}

/** The person at the terminal. */
export interface TerminalUser extends User {
  /** The next line that is typed; undefined at the end of the input. No question may wait meanwhile. */
  line(prompt: string, signal?: AbortSignal): Promise<string | undefined>;
}

/** Asks the person at the terminal, one question at a time, in the order in which they came. */
export function terminalUser(options: TerminalUserOptions): TerminalUser {
  const { show, edits } = options;
  const lines = edits && isDeno29() ? new EditedLines(show) : new LineReader(show);
  let last: Promise<unknown> = Promise.resolve();
  return {
    canAnswer: options.canAnswer,
    line: (prompt, signal) => lines.next(prompt, signal),
    ask(question, { choices = [], words = {}, signal } = {}) {
      if (!options.canAnswer) {
        return Promise.reject(new Error("Nobody can be asked: stdin and stderr are not both a terminal"));
      }
      const answer = last.then(() => askUntilValid(question, { choices, words, signal, lines, show }));
      last = answer.catch(() => {});
      return answer;
    },
  };
}

async function askUntilValid(question: string, { choices, words, signal, lines, show }: {
  readonly choices: readonly string[];
  readonly words: Readonly<Record<string, string>>;
  readonly signal: AbortSignal | undefined;
  readonly lines: Lines;
  readonly show: (question: string) => Promise<void>;
}): Promise<string> {
  const asked = choices.length === 0 ? question : `${question} [${choices.join("/")}]`;
  for (let text = asked;; text = lastLine(asked)) {
    signal?.throwIfAborted();
    // The answer has a line of its own: `deno run` wipes the line that the cursor is in whenever it loads a module, as if its own progress
    // stood there, and the rest of the program goes on loading some while somebody thinks.
    await show(`${text}\n`);
    const line = await lines.next("", signal);
    if (line === undefined) throw new Error("Nobody answered: the input ended");
    const word = line.trim().toLowerCase();
    const said = Object.hasOwn(words, word) ? words[word] ?? line : line;
    const answer = choices.length === 0 ? line : choiceOf(said, choices);
    if (answer !== undefined) return answer;
  }
}

/** What is asked again after an answer that is none. */
function lastLine(text: string): string {
  return text.slice(text.lastIndexOf("\n") + 1);
}

/** The choice that was typed, whole or as a beginning that fits one choice only. */
function choiceOf(line: string, choices: readonly string[]): string | undefined {
  const typed = line.trim().toLowerCase();
  const exact = choices.find((choice) => choice.toLowerCase() === typed);
  if (exact !== undefined || typed === "") return exact;
  const fitting = choices.filter((choice) => choice.toLowerCase().startsWith(typed));
  return fitting.length === 1 ? fitting[0] : undefined;
}

/** What is typed, line by line. */
interface Lines {
  /** The next line without its ending, also one that came while nobody waited; undefined at the end of the input. */
  next(prompt: string, signal: AbortSignal | undefined): Promise<string | undefined>;
}

/** Between two lines the terminal is as it was, so that nothing of what is shown then is drawn over. */
class EditedLines implements Lines {
  readonly #show: (text: string) => Promise<void>;
  readonly #typed: (string | undefined)[] = [];
  #editor: Interface | undefined;
  #history: string[] = [];
  #take: ((line: string | undefined) => void) | undefined;

  constructor(show: (text: string) => Promise<void>) {
    this.#show = show;
    addEventListener("unload", () => this.#rest());
  }

  async next(prompt: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    const editor = this.#editor ??= await this.#opened();
    signal?.throwIfAborted();
    if (this.#typed.length > 0) return this.#typed.shift();
    const { promise, resolve, reject } = Promise.withResolvers<string | undefined>();
    const onAbort = () => reject(signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#take = resolve;
    editor.setPrompt(prompt);
    // Ctrl-C is a signal as ever; what is said of it stands where the line was.
    const drawAgain = () => void this.#draw(editor);
    Deno.addSignalListener("SIGINT", drawAgain);
    try {
      await this.#draw(editor);
      return await promise;
    } finally {
      this.#take = undefined;
      Deno.removeSignalListener("SIGINT", drawAgain);
      signal?.removeEventListener("abort", onAbort);
      this.#rest();
    }
  }

  async #draw(editor: Interface): Promise<void> {
    await this.#show(""); // behind all that was told before
    if (this.#take === undefined) return;
    Deno.stdin.setRaw(true, { cbreak: Deno.build.os !== "windows" });
    if (editor.line !== "") return editor.prompt(true);
    await this.#show(editor.getPrompt());
    if (this.#take !== undefined) editor.resume();
  }

  #rest(): void {
    this.#editor?.pause();
    Deno.stdin.setRaw(false);
  }

  async #opened(): Promise<Interface> {
    const { createInterface } = await import("node:readline");
    const { stdin: input } = await import("node:process");
    const { Writable } = await import("node:stream");
    const output = new Writable({
      decodeStrings: false,
      write(text: string, _encoding, done) {
        Deno.stderr.writeSync(new TextEncoder().encode(text.replace("\r\n", "\n"))); // the terminal adds its own
        done();
      },
    });
    Object.defineProperty(output, "columns", { get: () => windowSize().columns });
    // `deno run` wipes the line of the cursor up to an eighth of a second after it has loaded a module.
    if (!Deno.build.standalone) await new Promise((resolve) => setTimeout(resolve, 200));
    const editor = createInterface({ input, output, terminal: true, history: this.#history });
    const take = (line: string | undefined): void => {
      this.#rest();
      if (this.#take === undefined) this.#typed.push(line);
      else this.#take(line);
      this.#take = undefined;
    };
    editor.on("line", take);
    editor.on("history", (history) => {
      if (editor.getPrompt() === "") history.shift(); // the answer of a question
      this.#history = history;
    });
    editor.on("close", () => {
      this.#editor = undefined;
      take(undefined);
    });
    return editor;
  }
}

class LineReader implements Lines {
  readonly #show: (text: string) => Promise<void>;
  readonly #decoder = new TextDecoder();
  readonly #buffer = new Uint8Array(4096);
  #text = "";
  #reading: Promise<string | undefined> | undefined;

  constructor(show: (text: string) => Promise<void>) {
    this.#show = show;
  }

  async next(prompt: string, signal: AbortSignal | undefined): Promise<string | undefined> {
    if (prompt !== "") await this.#show(prompt);
    if (signal?.aborted) return Promise.reject(signal.reason); // while the question was being shown
    const reading = this.#reading ??= this.#readLine();
    try {
      return await (signal === undefined ? reading : orAborted(reading, signal));
    } finally {
      if (!signal?.aborted) this.#reading = undefined;
    }
  }

  async #readLine(): Promise<string | undefined> {
    while (!this.#text.includes("\n")) {
      const count = await program().stdin.read(this.#buffer);
      if (count === null) return this.#rest();
      this.#text += this.#decoder.decode(this.#buffer.subarray(0, count), { stream: true });
    }
    const end = this.#text.indexOf("\n");
    const line = this.#text.slice(0, end);
    this.#text = this.#text.slice(end + 1);
    return line.endsWith("\r") ? line.slice(0, -1) : line;
  }

  #rest(): string | undefined {
    const rest = this.#text;
    this.#text = "";
    return rest === "" ? undefined : rest;
  }
}
