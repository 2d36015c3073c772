import type { RunEvent } from "../core/event.ts";

/** An event as one line of JSON, with its line feed. */
export function jsonLine(event: RunEvent): string {
  return `${JSON.stringify(event)}\n`;
}
