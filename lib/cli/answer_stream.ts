import type { RunEvent } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import type { Output } from "../host/terminal.ts";
import { isInsideCall, printable } from "../render/shown_text.ts";

/** How the answer of a model gets to stdout while it is being written. */
export interface AnswerStreamOptions {
  readonly stdout: Output;
  /** Whether a line end is written behind each answer that has none. Default: for a terminal. */
  readonly endsLines?: boolean;
  /** Before the first text of an answer: everything else leaves the screen. */
  readonly onBegin?: () => Promise<void>;
  /** After the last. */
  readonly onEnd?: () => void;
}

/** A text that a piece may not end with: half a character, or half a line end, which a terminal would obey. */
const HALF = /[\ud800-\udbff\r]$/;

/** Writes text as it comes. A terminal gets nothing that it would obey. */
export class AnswerStream {
  readonly #options: AnswerStreamOptions;
  #held = "";
  #written = "";
  #isOpen = false;

  constructor(options: AnswerStreamOptions) {
    this.#options = options;
  }

  async event(event: RunEvent): Promise<void> {
    if (event.type === "text-delta" && !isInsideCall(event.step)) await this.#write(event.text);
    else if (event.type === "step-end" && !isInsideCall(event.key)) await this.end();
  }

  /** No more comes of this answer. */
  async end(): Promise<void> {
    const { stdout, onEnd, endsLines = stdout.isTerminal } = this.#options;
    await this.#out(this.#held);
    this.#held = "";
    if (!this.#isOpen) return;
    if (endsLines && !this.#written.endsWith("\n")) await stdout.write("\n");
    this.#isOpen = false;
    onEnd?.();
  }

  /** Writes what is missing of the value: an answer that was given before a resume is not told piece by piece again. */
  async complete(value: Json | undefined): Promise<void> {
    await this.end();
    if (typeof value !== "string" || value === this.#written || !value.startsWith(this.#written)) return;
    await this.#write(value.slice(this.#written.length));
    await this.end();
  }

  async #write(text: string): Promise<void> {
    if (text === "") return;
    const all = this.#held + text;
    this.#held = HALF.test(all) ? all.slice(-1) : "";
    await this.#out(this.#held === "" ? all : all.slice(0, -1));
  }

  async #out(text: string): Promise<void> {
    if (text === "") return;
    const { stdout, onBegin } = this.#options;
    if (!this.#isOpen) {
      this.#isOpen = true;
      await onBegin?.();
    }
    this.#written += text;
    await stdout.write(stdout.isTerminal ? printable(text) : text);
  }
}
