// A read from the terminal cannot be taken back: when a question is given up, its read goes on. It is kept as `#reading` until
// somebody takes its line, which answers the question that is on the screen by then.

import type { User } from "../core/world.ts";

/** How to ask. */
export interface TerminalUserOptions {
  readonly canAnswer: boolean;
  /** Shows the question; the answer is typed below it. */
  readonly show: (question: string) => Promise<void>;
}

/** The person at the terminal. */
export interface TerminalUser extends User {
  /** The next line that is typed; undefined at the end of the input. No question may wait meanwhile. */
  line(prompt: string): Promise<string | undefined>;
}

/** Asks the person at the terminal, one question at a time, in the order in which they came. */
export function terminalUser(options: TerminalUserOptions): TerminalUser {
  const lines = new LineReader();
  let last: Promise<unknown> = Promise.resolve();
  return {
    canAnswer: options.canAnswer,
    async line(prompt) {
      await options.show(prompt);
      return await lines.next();
    },
    ask(question, { choices = [], signal } = {}) {
      if (!options.canAnswer) {
        return Promise.reject(new Error("Nobody can be asked: stdin and stderr are not both a terminal"));
      }
      const answer = last.then(() => askUntilValid(question, { choices, signal, lines, show: options.show }));
      last = answer.catch(() => {});
      return answer;
    },
  };
}

async function askUntilValid(question: string, { choices, signal, lines, show }: {
  readonly choices: readonly string[];
  readonly signal: AbortSignal | undefined;
  readonly lines: LineReader;
  readonly show: (question: string) => Promise<void>;
}): Promise<string> {
  const asked = choices.length === 0 ? question : `${question} [${choices.join("/")}]`;
  for (let text = asked;; text = lastLine(asked)) {
    signal?.throwIfAborted();
    // The answer has a line of its own: `deno run` wipes the line that the cursor is in whenever it loads a module, as if its own progress
    // stood there, and the rest of the program goes on loading some while somebody thinks.
    await show(`${text}\n`);
    const line = await lines.next(signal);
    if (line === undefined) throw new Error("Nobody answered: the input ended");
    const answer = choices.length === 0 ? line : choiceOf(line, choices);
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

class LineReader {
  readonly #decoder = new TextDecoder();
  readonly #buffer = new Uint8Array(4096);
  #text = "";
  #reading: Promise<string | undefined> | undefined;

  /** The next line without its ending, also one that came while nobody waited; undefined at the end of the input. */
  next(signal?: AbortSignal): Promise<string | undefined> {
    if (signal?.aborted) return Promise.reject(signal.reason); // while the question was being shown
    const reading = this.#reading ??= this.#readLine();
    return new Promise((resolve, reject) => {
      const onAbort = () => reject(signal?.reason);
      const take = () => {
        signal?.removeEventListener("abort", onAbort);
        if (!signal?.aborted) this.#reading = undefined;
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      reading.then(resolve, reject);
      reading.then(take, take);
    });
  }

  async #readLine(): Promise<string | undefined> {
    while (!this.#text.includes("\n")) {
      const count = await Deno.stdin.read(this.#buffer);
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
