/// <reference lib="dom" />
// Texts of a run as they come: what a model says, what a command prints. The end stays in sight unless the reader has gone up.

import type { OpenText, RunState, WholeText } from "./run_state.ts";

/** Which texts are shown, and how. */
export interface TextViewOptions {
  /** Whether a text is shown. */
  takes(text: OpenText | WholeText): boolean;
  /** What is shown of a text. */
  wordsOf(step: string, text: string): string;
  /** What is around the words. */
  make(words: Text, step: string, state: RunState): HTMLElement;
  /** A text is whole. */
  ended?(element: HTMLElement, text: WholeText): void;
  /** How near to its end counts as there, px. */
  readonly nearPx: number;
}

interface Shown {
  readonly element: HTMLElement;
  readonly words: Text;
}

/** The texts of a run in an element that scrolls. */
export class TextView {
  readonly #root: HTMLElement;
  readonly #options: TextViewOptions;
  readonly #open = new Map<string, Shown>();
  #whole = 0;

  constructor(root: HTMLElement, options: TextViewOptions) {
    this.#root = root;
    this.#options = options;
  }

  update(state: RunState): void {
    const { takes, nearPx } = this.#options;
    const { scrollTop, scrollHeight, clientHeight } = this.#root;
    for (const text of state.texts.slice(this.#whole)) if (takes(text)) this.#end(text, state);
    this.#whole = state.texts.length;
    for (const [step, text] of state.open) if (takes(text)) this.#grow(step, text.text, state);
    for (const [step, { element }] of this.#open) {
      if (state.end !== undefined) settle(element);
      if (state.open.has(step)) continue;
      element.remove(); // its step began again, and has said nothing yet
      this.#open.delete(step);
    }
    if (scrollHeight - scrollTop - clientHeight < nearPx) this.#root.scrollTop = this.#root.scrollHeight;
  }

  /** The whole text takes the place of what was there of it. */
  #end(whole: WholeText, state: RunState): void {
    const { step } = whole;
    const text = this.#options.wordsOf(step, whole.text);
    if (text.trim() === "") return;
    const { element, words } = this.#open.get(step) ?? this.#begin(step, state);
    this.#open.delete(step);
    if (words.data !== text) words.data = text;
    settle(element);
    this.#options.ended?.(element, whole);
  }

  #grow(step: string, all: string, state: RunState): void {
    const text = this.#options.wordsOf(step, all);
    if (text.trim() === "" && !this.#open.has(step)) return;
    const { words } = this.#open.get(step) ?? this.#begin(step, state);
    if (text.startsWith(words.data)) words.appendData(text.slice(words.length));
    else words.data = text; // it was begun again
  }

  #begin(step: string, state: RunState): Shown {
    const words = new Text();
    const element = this.#options.make(words, step, state);
    element.dataset.open = "";
    element.setAttribute("aria-busy", "true"); // else each piece of it would be read out
    this.#root.append(element);
    const shown = { element, words };
    this.#open.set(step, shown);
    return shown;
  }
}

/** Nothing more comes of it. */
function settle(element: HTMLElement): void {
  delete element.dataset.open;
  element.removeAttribute("aria-busy");
}
