/// <reference lib="dom" />
// Texts of a run as they come: what a model says, what a command prints. The end stays in sight unless the reader has gone up.

import { type OpenText, type RunState, textKey, type WholeText } from "./run_state.ts";

/** Which texts are shown, and how. */
export interface TextViewOptions {
  /** Whether a text is shown. */
  takes(text: OpenText | WholeText): boolean;
  /** What is shown of a text. */
  wordsOf(step: string, text: string): string;
  /** What is around the words. */
  make(words: Text, text: OpenText, state: RunState): HTMLElement;
  /** A text is whole. */
  ended?(element: HTMLElement, text: WholeText, state: RunState): void;
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
  /** The last text of each step: what was thought before it stands above it. */
  readonly #last = new Map<string, HTMLElement>();
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
    for (const text of state.open.values()) if (takes(text)) this.#grow(text, state);
    for (const [key, { element }] of this.#open) {
      if (state.end !== undefined) settle(element);
      if (state.open.has(key)) continue;
      element.remove(); // its step began again, and has said nothing yet
      this.#open.delete(key);
    }
    if (scrollHeight - scrollTop - clientHeight < nearPx) this.#root.scrollTop = this.#root.scrollHeight;
  }

  /** The whole text takes the place of what was there of it. */
  #end(whole: WholeText, state: RunState): void {
    const text = this.#options.wordsOf(whole.step, whole.text);
    if (text.trim() === "") return;
    const key = textKey(whole);
    const { element, words } = this.#open.get(key) ?? this.#begin(whole, state);
    this.#open.delete(key);
    if (words.data !== text) words.data = text;
    settle(element);
    this.#options.ended?.(element, whole, state);
  }

  #grow(open: OpenText, state: RunState): void {
    const key = textKey(open);
    const text = this.#options.wordsOf(open.step, open.text);
    if (text.trim() === "" && !this.#open.has(key)) return;
    const { words } = this.#open.get(key) ?? this.#begin(open, state);
    if (text.startsWith(words.data)) words.appendData(text.slice(words.length));
    else words.data = text; // it was begun again
  }

  #begin(text: OpenText, state: RunState): Shown {
    const words = new Text();
    const element = this.#options.make(words, text, state);
    element.dataset.open = "";
    element.setAttribute("aria-busy", "true"); // else each piece of it would be read out
    const last = text.isThought && "n" in text && this.#last.get(text.step);
    if (last) last.before(element);
    else this.#root.append(element);
    if (!text.isThought) this.#last.set(text.step, element);
    const shown = { element, words };
    this.#open.set(textKey(text), shown);
    return shown;
  }
}

/** Nothing more comes of it. */
function settle(element: HTMLElement): void {
  delete element.dataset.open;
  element.removeAttribute("aria-busy");
}
