import type { SourceError } from "../core/source_error.ts";
import type { Paint } from "./paint.ts";
import { paintFor } from "./paint.ts";
import { printable, printableLine } from "./shown_text.ts";
import { sourceLines } from "./source_lines.ts";

/**
 * An error of something a user wrote, for people: `file:line:column: error: message`, the source line with a caret under the
 * place, and what to do. Ends with a line feed.
 */
export function errorFrame(error: SourceError, options: { readonly paint?: Paint } = {}): string {
  const paint = options.paint ?? paintFor(false);
  const place = error.place === "" ? "" : paint("bold", `${printableLine(error.place)}: `);
  const lines = [`${place}${paint("red", "error:")} ${printable(error.message)}`];
  if (error.source !== undefined && error.span !== undefined) {
    lines.push(...sourceLines(error.source, error.span, paint));
  }
  if (error.hint !== undefined) lines.push(`${paint("cyan", "hint:")} ${printable(error.hint)}`);
  return `${lines.join("\n")}\n`;
}

/** An error without a place: `error: message`. Ends with a line feed. */
export function plainErrorFrame(message: string, options: { readonly paint?: Paint } = {}): string {
  const paint = options.paint ?? paintFor(false);
  return message.split("\n").map((line) => `${paint("red", "error:")} ${printable(line)}\n`).join("");
}
