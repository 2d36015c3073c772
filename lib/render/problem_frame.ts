import type { Paint } from "./paint.ts";
import { printableLine } from "./shown_text.ts";
import { sourceLines } from "./source_lines.ts";
import { problemText } from "./told_problem.ts";
import type { ToldProblem } from "./told_problem.ts";

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
