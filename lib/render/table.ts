import { cellWidth, padToCells } from "./cells.ts";

/** Rows as columns, two blanks apart; the last column is not padded. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [index, cell] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, cellWidth(cell));
  }
  return rows.map((row) =>
    row.map((cell, index) => padToCells(cell, widths[index] ?? 0)).join("  ").trimEnd()
  );
}
