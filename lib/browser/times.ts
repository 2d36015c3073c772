/// <reference lib="dom" />

// Times as the reader's own clock has them; how long ago, where that is not long.

import { findAll } from "./dom.ts";

const DAY_MS = 86_400_000;
const clock = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
const ago = new Intl.RelativeTimeFormat(undefined, { numeric: "auto" });

/** `3 minutes ago`, and a date when that was a day ago. */
function timeText(at: number, now: number): string {
  const seconds = Math.round((now - at) / 1000);
  if (now - at >= DAY_MS) return clock.format(at);
  if (seconds < 60) return ago.format(-seconds, "second");
  return seconds < 3600
    ? ago.format(-Math.round(seconds / 60), "minute")
    : ago.format(-Math.round(seconds / 3600), "hour");
}

function showTimes(): void {
  for (const time of findAll("time[data-time]", HTMLTimeElement)) {
    const at = Date.parse(time.dateTime);
    time.title = clock.format(at);
    time.textContent = timeText(at, Date.now());
  }
}

showTimes();
document.addEventListener("live", showTimes);
