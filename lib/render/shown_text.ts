import type { RunEvent } from "../core/event.ts";

/** Text between blocks, for people: any number of blank lines is one, and one that nothing follows is none. */
export class BlankLines {
  #lineHasText = false;
  #isBlankDue = false;
  #hasText = false;

  /** What to show of the text that comes next. */
  fold(text: string): string {
    return text.replaceAll(/\n|[^\n]+/g, (part) => part === "\n" ? this.#lineEnding() : this.#words(part));
  }

  #lineEnding(): string {
    const ending = this.#lineHasText ? "\n" : "";
    this.#isBlankDue ||= !this.#lineHasText;
    this.#lineHasText = false;
    return ending;
  }

  #words(part: string): string {
    const blank = this.#isBlankDue && this.#hasText ? "\n" : "";
    this.#isBlankDue = false;
    this.#lineHasText = this.#hasText = true;
    return blank + part;
  }
}

const MAX_CHARACTERS = 4000;

/** A text for people to read: a very long one is cut, and says how much is missing and where all of it is. */
export function longText(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  return `${text.slice(0, MAX_CHARACTERS)}… (${
    text.length - MAX_CHARACTERS
  } more characters; --jsonl shows all)`;
}

/** Whether a step is one of what runs inside of a call: its text is the result of that call, and no answer of the run. */
export function isInsideCall(step: string): boolean {
  return /(?:^|\/)call:/.test(step);
}

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
    const step = event.type === "step-start" ? event.key : "step" in event ? event.step : undefined;
    if (step === undefined || isInsideCall(step)) return "";
    if (event.type === "text-delta") return this.#takeText(step, event.text);
    if (event.type === "step-start" && event.kind === "model") return this.#begin(step);
    if (event.type === "call-open") return this.#callIn(step);
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
