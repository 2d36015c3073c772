import type { RunEvent } from "../core/event.ts";
import type { Output } from "../host/terminal.ts";
import { isInsideCall, printable } from "../render/shown_text.ts";

/**
 * Writes the answer of each turn when the turn is over, a line end behind it: what a model said while it called something is none, nor what
 * broke a contract and was asked for again.
 */
export class LastAnswers {
  readonly #stdout: Output;
  /** The last step that called something. */
  #calling: string | undefined;
  #answer: { readonly step: string; readonly text: string } | undefined;

  constructor(stdout: Output) {
    this.#stdout = stdout;
  }

  event(event: RunEvent): Promise<void> {
    if (event.type === "message" && !isInsideCall(event.step)) this.#answer = event;
    const isCall = event.type === "call-open" && event.step !== undefined && !isInsideCall(event.step);
    if (isCall) this.#calling = event.step;
    if (this.#answer?.step === this.#calling) this.#answer = undefined;
    return Promise.resolve();
  }

  /** The turn is over. */
  async end(): Promise<void> {
    const { text } = this.#answer ?? {};
    this.#answer = undefined;
    if (text === undefined) return;
    const shown = this.#stdout.isTerminal ? printable(text) : text;
    await this.#stdout.write(shown.endsWith("\n") ? shown : `${shown}\n`);
  }
}
