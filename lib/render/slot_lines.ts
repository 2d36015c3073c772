import type { Json } from "../core/json.ts";
import { cellWidth, cutToCells } from "./cells.ts";
import { printableLine } from "./shown_text.ts";
import { table } from "./table.ts";

/** A name and a value take at most so many lines of a window. */
const LINES = 2;
/** However narrow the window is, so much of a value is shown. */
const LEAST_CELLS = 20;

/** The slots of a conversation, a line each, in a window of so many columns; a long value is cut, and `whole` says how to see all of it. */
export function slotLines(
  slots: Readonly<Record<string, Json>>,
  { columns, whole }: { readonly columns: number; readonly whole: string },
): string {
  const names = Object.keys(slots).map(printableLine);
  const room = Math.max(LEAST_CELLS, columns * LINES - Math.max(0, ...names.map(cellWidth)) - 2);
  let isCut = false;
  const rows = Object.entries(slots).map(([name, value]) => {
    const text = printableLine(JSON.stringify(value));
    const cut = cutToCells(text, room);
    isCut ||= cut !== text;
    return [printableLine(name), cut];
  });
  if (rows.length === 0) return "No slot is filled\n";
  return [...table(rows), ...(isCut ? [whole] : [])].map((line) => `${line}\n`).join("");
}
