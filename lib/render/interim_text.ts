import type { RunEvent } from "../core/event.ts";

/**
 * Tells what a model says on the way from its answer. The text of a step is held back until it is known which it is: a step that calls
 * something, or that another model step follows, was on the way.
 */
export class InterimText {
  #step: string | undefined;
  #isInterim = false;
  #held = "";

  /** Text that is now known not to be of the answer; what is left at the end of the run is. */
  take(event: RunEvent): string {
    if (event.type === "text-delta") return this.#takeText(event.step, event.text);
    if (event.type === "step-start" && event.kind === "model") return this.#begin(event.key);
    if (event.type === "call-open" && event.step !== undefined) return this.#callIn(event.step);
    return "";
  }

  /** What may still be the answer: the last line of it is worth a look while it is written. */
  get held(): string {
    return this.#held;
  }

  #takeText(step: string, text: string): string {
    const before = this.#begin(step);
    if (this.#isInterim) return before + text;
    this.#held += text;
    return before;
  }

  #begin(step: string): string {
    if (this.#step === step) return "";
    const before = this.#release();
    this.#step = step;
    this.#isInterim = false;
    return before;
  }

  #callIn(step: string): string {
    const before = this.#begin(step);
    this.#isInterim = true;
    return before + this.#release();
  }

  #release(): string {
    const text = this.#held;
    this.#held = "";
    return text === "" || text.endsWith("\n") || this.#isInterim ? text : `${text}\n`;
  }
}
