import type { Span } from "../core/source_error.ts";
import { cellWidth } from "./cells.ts";
import type { Paint } from "./paint.ts";
import { printableLine } from "./shown_text.ts";

/** How much of a very long source line is shown around the place. */
const MAX_LINE_CELLS = 100;

/** The line of a place with a caret under it; nothing where the source has no such line. */
export function sourceLines(source: string, span: Omit<Span, "file">, paint: Paint): string[] {
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
