// What commands print: pages of sections, tables, JSON, and warnings.
import type { Terminal } from "../host/terminal/terminal.ts";
import { table } from "../render/cells.ts";
import { printable, printableLine } from "../render/shown_text.ts";

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

/** What there is under a heading, in columns; empty without rows. */
export function listed(what: string, rows: readonly (readonly string[])[]): string {
  return rows.length === 0 ? "" : `${what}:\n${indented(columns(rows))}`;
}

/** A value for programs. */
export function jsonPage(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Tells on stderr what was ignored. */
export function warningsTo({ stderr }: Pick<Terminal, "stderr">): (text: string) => void {
  return (text) => void stderr.write(`warning: ${printable(text)}\n`);
}
