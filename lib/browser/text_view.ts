/// <reference lib="dom" />
// Texts of a run as they come: what a model says, what a command prints. The end stays in sight unless the reader has gone up.

import { el, isAtEnd } from "./dom.ts";
import type { RunState } from "./run_state.ts";

/** Which texts are shown, and how they are named. */
export interface TextViewOptions {
  /** Undefined: that text is not shown. */
  readonly titleOf: (step: string, state: RunState) => string | undefined;
  /** What is shown of a text. */
  readonly wordsOf: (step: string, text: string) => string;
}

interface Shown {
  readonly element: HTMLElement;
  readonly words: Text;
}

/** How near to its end counts as there, px. */
const NEAR_PX = 24;

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
    const wasAtEnd = isAtEnd(this.#root, NEAR_PX);
    const { wordsOf } = this.#options;
    for (const { step, text } of state.texts.slice(this.#whole)) {
      this.#end(step, { text: wordsOf(step, text), state });
    }
    this.#whole = state.texts.length;
    for (const [step, { text }] of state.open) this.#grow(step, { text: wordsOf(step, text), state });
    const isOver = state.end !== undefined;
    for (const [step, shown] of this.#open) {
      if (!state.open.has(step)) this.#drop(step, shown);
      else if (isOver) settle(shown.element);
    }
    if (wasAtEnd) this.#root.scrollTop = this.#root.scrollHeight;
  }

  /** The whole text takes the place of what was there of it. */
  #end(step: string, { text, state }: { readonly text: string; readonly state: RunState }): void {
    const shown = this.#open.get(step);
    this.#open.delete(step);
    if (text.trim() === "") return shown?.element.remove();
    const { element, words } = shown ?? this.#begin(step, { text: "", state }) ?? {};
    if (element === undefined || words === undefined) return;
    if (words.data !== text) words.data = text;
    settle(element);
  }

  #grow(step: string, { text, state }: { readonly text: string; readonly state: RunState }): void {
    const shown = this.#open.get(step);
    if (shown === undefined) {
      const begun = text.trim() === "" ? undefined : this.#begin(step, { text, state });
      if (begun !== undefined) this.#open.set(step, begun);
      return;
    }
    const { words } = shown;
    if (text.startsWith(words.data)) words.appendData(text.slice(words.length));
    else words.data = text; // it was begun again
  }

  /** Its step began again, and has said nothing yet. */
  #drop(step: string, { element }: Shown): void {
    element.remove();
    this.#open.delete(step);
  }

  #begin(
    step: string,
    { text, state }: { readonly text: string; readonly state: RunState },
  ): Shown | undefined {
    const title = this.#options.titleOf(step, state);
    if (title === undefined) return undefined;
    const words = document.createTextNode(text);
    const element = el(
      "article",
      { class: "said", "data-open": true, "aria-busy": "true" }, // else each piece of it would be read out
      title !== "" && el("h3", {}, title),
      el("div", { class: "said-text" }, words),
    );
    this.#root.append(element);
    return { element, words };
  }
}

/** Nothing more comes of it. */
function settle(element: HTMLElement): void {
  delete element.dataset.open;
  element.removeAttribute("aria-busy");
}
