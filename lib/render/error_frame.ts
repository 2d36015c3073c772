import type { SourceError, Span } from "../core/source_error.ts";
import { cellWidth } from "./cells.ts";
import type { Paint } from "./paint.ts";
import { paintFor } from "./paint.ts";
import { printable, printableLine } from "./printable.ts";

/** How much of a very long source line is shown around the place. */
const MAX_LINE_CELLS = 100;

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

function sourceLines(source: string, span: Span, paint: Paint): string[] {
  const line = source.split("\n", span.line)[span.line - 1];
  if (line === undefined) return [];
  const column = Math.min(span.column - 1, line.length);
  const from = Math.max(0, column - MAX_LINE_CELLS / 2);
  const shown = line.slice(from, from + MAX_LINE_CELLS);
  const before = printableLine(shown.slice(0, column - from));
  const marked = printableLine(
    line.slice(column, Math.min(column + (span.length ?? 1), from + MAX_LINE_CELLS)),
  );
  const number = String(span.line);
  const margin = " ".repeat(number.length);
  const caret = "^".repeat(Math.max(1, cellWidth(marked)));
  return [
    paint("dim", `${margin} |`),
    `${paint("dim", `${number} |`)} ${printableLine(shown)}`,
    `${paint("dim", `${margin} |`)} ${" ".repeat(cellWidth(before))}${paint("red", caret)}`,
  ];
}
