import type { Json } from "../core/json.ts";

/** The value of a run as it goes to stdout: text as it is, everything else as JSON with a final line feed. */
export function resultText(value: Json): string {
  return typeof value === "string" ? value : `${JSON.stringify(value, null, 2)}\n`;
}
