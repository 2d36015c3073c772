// Pages for people: sections, lists and tables.
import { table } from "./cells.ts";
import { printableLine } from "./shown_text.ts";

/** Sections with an empty line between them; empty ones are left out. */
export function pageOf(sections: readonly string[]): string {
  return `${sections.filter((section) => section !== "").join("\n\n")}\n`;
}

/** A text moved in by two; empty lines stay empty. */
export function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "  ");
}

/** Rows in columns, each on one line whatever its cells hold; without the last line end. */
export function columns(rows: readonly (readonly string[])[]): string {
  return table(rows.map((row) => row.map(printableLine))).join("\n");
}

/** A table with its head; empty without rows. */
export function tableText(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? "" : `${columns([head, ...rows])}\n`;
}

/** What there is under a heading, in columns; empty without rows. */
export function listed(what: string, rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? "" : `${what}:\n${indented(columns(rows))}`;
}
