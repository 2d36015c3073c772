/// <reference lib="dom" />

// The lists of a page, searched while it is typed. The server has found the same, for who has no script.

import { findAll, maybeFind } from "./dom.ts";

const field = maybeFind("[data-search]", HTMLInputElement);

function show(search: string): void {
  const words = search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  let count = 0;
  for (const row of findAll("[data-row][data-text]")) {
    const { text = "" } = row.dataset;
    row.hidden = !words.every((word) => text.includes(word));
    if (!row.hidden) count++;
  }
  const told = maybeFind("[data-search-count]");
  if (told !== undefined) told.textContent = words.length === 0 ? "" : `${count} found`;
}

if (field !== undefined) {
  const button = maybeFind("[data-search-button]", HTMLButtonElement);
  if (button !== undefined) button.hidden = true;
  field.addEventListener("input", () => show(field.value));
  field.form?.addEventListener("submit", (event) => {
    event.preventDefault();
    maybeFind("[data-row][data-text]:not([hidden]) a[href]", HTMLAnchorElement)?.click();
  });
}
