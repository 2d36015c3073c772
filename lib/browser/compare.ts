/// <reference lib="dom" />
// Two runs side by side: only what differs, when one wants to see that alone.

import { findAll, maybeFind } from "./dom.ts";

const toggle = maybeFind("[data-compare-changed]", HTMLInputElement);
const count = maybeFind("[data-compare-count]");

function show(): void {
  const rows = findAll("[data-compare-row]");
  let shown = 0;
  for (const row of rows) {
    row.hidden = toggle?.checked === true && row.dataset.change === "same";
    if (!row.hidden) shown++;
  }
  if (count !== undefined) {
    count.textContent = toggle?.checked === true ? `${shown} of ${rows.length} steps` : "";
  }
}

const tools = maybeFind("[data-compare-tools]");
if (tools !== undefined) tools.hidden = false;
toggle?.addEventListener("change", show);
