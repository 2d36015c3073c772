/// <reference lib="dom" />
// How a run stands, where a page shows it.
import { statusTone } from "../render/step_words.ts";
import { findAll } from "./dom.ts";

/** Shows the word for it. */
export function showStatus(word: string): void {
  for (const badge of findAll("[data-run-status]")) {
    if (badge.textContent === word) continue;
    badge.textContent = word;
    badge.dataset.tone = statusTone(word);
  }
}

/** Shows what can be said and done while it stands like this. */
export function showParts(status: string): void {
  for (const part of findAll("[data-while]")) {
    part.hidden = !(part.dataset.while ?? "").split(" ").includes(status);
  }
}
