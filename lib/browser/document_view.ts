/// <reference lib="dom" />
// A document while it grows: what each operation has put into it, and where.

import { el } from "./dom.ts";
import type { BlockMerge, RunState } from "./run_state.ts";
import { stepName } from "./step_name.ts";

/** The newest changes are shown, so many. */
const MAX_BLOCKS = 200;

/** The changes of a document in an element. */
export class DocumentView {
  readonly #root: HTMLElement;
  #shown = 0;

  constructor(root: HTMLElement) {
    this.#root = root;
  }

  update(state: RunState): void {
    for (const merge of state.merges.slice(this.#shown)) this.#add(merge, stepName(merge.step, state));
    this.#shown = state.merges.length;
    while (this.#root.childElementCount > MAX_BLOCKS) this.#root.firstElementChild?.remove();
  }

  #add(merge: BlockMerge, name: string): void {
    const { mode, removed, inserted } = merge;
    this.#root.append(el(
      "article",
      { class: "merge", "data-mode": mode },
      el(
        "h3",
        {},
        el("span", { "aria-hidden": "true" }, mode === "replace" ? "~ " : "+ "),
        name,
        place(merge),
      ),
      removed !== "" && mode === "replace" && el(
        "details",
        {},
        el("summary", {}, "What stood there"),
        el("pre", { class: "block wrap removed", tabindex: 0 }, removed),
      ),
      el("pre", { class: "block wrap", tabindex: 0, role: "group", "aria-label": name }, inserted),
    ));
  }
}

function place({ mode, target }: BlockMerge): HTMLElement {
  const words = mode === "append" ? "to" : mode === "prepend" ? "before" : "in place of";
  return el("span", { class: "soft" }, ` ${words} ${target ?? "itself"}`);
}
