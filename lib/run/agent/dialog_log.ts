import { type Message, PromptError } from "../../core/core.ts";
import type { AnyPrompt } from "../../prompt/prompt.ts";

/** What of a question the journal has not seen with the question before. */
export interface Sending {
  /** Of the question in its dialog, from 1. */
  readonly n: number;
  /** How many messages are the same as before. */
  readonly after: number;
  readonly news: readonly Message[];
}

/** A message, and the path of the prompt that it was made from. */
export interface DialogEntry {
  readonly message: Message;
  readonly prompt: string | undefined;
}

/** The messages of a dialog and the prompt that is in force. */
export class DialogLog {
  topPrompt: AnyPrompt;
  readonly #messages: Message[];
  readonly #prompts: (string | undefined)[];
  #sent: readonly Message[] = [];
  #asked = 0;
  /** So many messages hold no secret. */
  #masked = 0;

  constructor(
    topPrompt: AnyPrompt,
    entries: readonly DialogEntry[],
  ) {
    this.topPrompt = topPrompt;
    this.#messages = entries.map(({ message }) => message);
    this.#prompts = entries.map(({ prompt }) => prompt);
  }

  get all(): readonly Message[] {
    return this.#messages;
  }

  get entries(): readonly DialogEntry[] {
    return this.#messages.map((message, i) => ({ message, prompt: this.#prompts[i] }));
  }

  /** How many questions were asked. */
  get asked(): number {
    return this.#asked;
  }

  add(messages: readonly Message[], prompt: AnyPrompt | undefined): void {
    for (const message of messages) {
      this.#messages.push(message);
      this.#prompts.push(prompt?.path);
    }
    if (prompt !== undefined) this.topPrompt = prompt;
  }

  /** Takes out of the messages what must not be sent or kept. */
  mask(masked: (message: Message) => Message): void {
    for (const [i, message] of this.#messages.entries()) {
      if (i >= this.#masked) this.#messages[i] = masked(message);
    }
    this.#masked = this.#messages.length;
  }

  sending(messages: readonly Message[]): Sending {
    let after = 0;
    while (after < messages.length && messages[after] === this.#sent[after]) after++;
    this.#sent = messages;
    return { n: ++this.#asked, after, news: messages.slice(after) };
  }
}

/** What a fork keeps: without `keepLast` everything. */
export interface ForkOptions {
  /** Default 1. */
  readonly keepFirst?: number;
  readonly keepLast?: number;
}

/** The entries that a fork begins with; a tool round that would be cut is left out whole. @throws {PromptError} */
export function keptInFork(entries: readonly DialogEntry[], options: ForkOptions): readonly DialogEntry[] {
  const { keepFirst = 1, keepLast } = options;
  checkCount("keepFirst", keepFirst);
  if (keepLast === undefined) return [...entries];
  checkCount("keepLast", keepLast);
  const isKept = (i: number): boolean => i < keepFirst || i >= entries.length - keepLast;
  return rounds(entries).flatMap(({ from, to }) => {
    const indices = Array.from({ length: to - from }, (_, k) => from + k);
    return indices.every(isKept) ? entries.slice(from, to) : [];
  });
}

/** The messages one by one; an answer that calls tools together with their results. */
function rounds(entries: readonly DialogEntry[]): readonly { readonly from: number; readonly to: number }[] {
  const found: { from: number; to: number }[] = [];
  for (const [i, { message }] of entries.entries()) {
    const last = found.at(-1);
    if (message.role === "tool" && last !== undefined) last.to = i + 1;
    else found.push({ from: i, to: i + 1 });
  }
  return found;
}

function checkCount(name: string, count: number): void {
  if (Number.isSafeInteger(count) && count >= 0) return;
  throw new PromptError(`fork: ${name} must be a non-negative integer, found ${count}`, { code: "define" });
}
