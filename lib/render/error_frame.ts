import type { SourceError, Span } from "../core/core.ts";
import { cellWidth, type Paint, paintFor } from "./cells.ts";
import { problemText, type ToldProblem } from "./problems.ts";
import { printable, printableLine } from "./shown_text.ts";

/**
 * An error of something a user wrote, for people: `file:line:column: error: message`, the source line with a caret under the
 * place, and what to do. Ends with a line feed.
 */
export function errorFrame(
  error: SourceError,
  { paint = paintFor(false) }: { readonly paint?: Paint } = {},
): string {
  const place = error.place === "" ? "" : paint("bold", `${printableLine(error.place)}: `);
  const lines = [`${place}${paint("red", "error:")} ${printable(error.message)}`];
  if (error.source !== undefined && error.span !== undefined) {
    lines.push(...sourceLines(error.source, error.span, paint));
  }
  if (error.hint !== undefined) lines.push(`${paint("cyan", "hint:")} ${printable(error.hint)}`);
  return `${lines.join("\n")}\n`;
}

/** An error without a place: `error: message`. Ends with a line feed. */
export function plainErrorFrame(
  message: string,
  { paint = paintFor(false) }: { readonly paint?: Paint } = {},
): string {
  return message.split("\n").map((line) => `${paint("red", "error:")} ${printable(line)}\n`).join("");
}

/** How much of a very long source line is shown around the place. */
const MAX_LINE_CELLS = 100;

/** The line of a place with a caret under it; nothing where the source has no such line. */
function sourceLines(source: string, span: Omit<Span, "file">, paint: Paint): string[] {
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

/** A problem for a terminal: its line, the source line with a caret under the place, what to do, its code. Ends with a line feed. */
export function problemFrame(
  problem: ToldProblem,
  { source, paint }: { readonly source: string | undefined; readonly paint: Paint },
): string {
  const { file, line, column, severity, message, code, hint } = problem;
  const place = file === "" ? "" : paint("bold", `${printableLine(`${file}:${line}:${column}`)}: `);
  const color = severity === "error" ? "red" : "yellow";
  const shown = source === undefined || file === "" ? [] : sourceLines(source, { line, column }, paint);
  const advice = hint === undefined ? [] : [`${paint("cyan", "hint:")} ${printableLine(hint)}`];
  return [
    `${place}${paint(color, `${severity}:`)} ${printableLine(message)} ${paint("dim", `[${code}]`)}`,
    ...shown,
    ...advice,
  ].map((each) => `${each}\n`).join("");
}

/** A problem for a pipe: one line, with its line feed. */
export function problemPlainLine(problem: ToldProblem): string {
  return `${printableLine(problemText(problem))}\n`;
}
