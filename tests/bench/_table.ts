/** One line of a benchmark's table. */
export interface Row {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** What counts: `value` against that of another row. */
  readonly ratio?: number;
  readonly of?: string;
  /** The bound the ratio, or without one the value, has to keep: at most, unless `atLeast`. */
  readonly limit?: number;
  readonly atLeast?: boolean;
}

/** True unless the row has a limit and breaks it. */
export function isWithin(row: Row): boolean {
  const measured = row.ratio ?? row.value;
  return row.limit === undefined || (row.atLeast ? measured >= row.limit : measured <= row.limit);
}

/** The rows as aligned text. */
export function formatTable(rows: readonly Row[]): string {
  const cells = rows.map((row) => [
    row.what,
    `${row.value >= 100 ? row.value.toFixed(0) : row.value.toFixed(2)} ${row.unit}`,
    row.ratio === undefined ? "" : `${row.ratio.toFixed(2)} x ${row.of ?? ""}`,
    row.limit === undefined ? "" : `${row.atLeast ? "at least" : "at most"} ${row.limit}`,
    row.limit === undefined ? "" : isWithin(row) ? "ok" : "OVER",
  ]);
  const widths = [0, 1, 2, 3, 4].map((i) => Math.max(...cells.map((line) => line[i]?.length ?? 0)));
  return cells.map((line) =>
    line.map((cell, i) => i === 1 ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)).join("  ")
      .trimEnd()
  ).join("\n");
}
