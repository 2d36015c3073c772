// What commands print: pages of sections, tables, JSON, and warnings.
import type { Terminal } from "../host/terminal/terminal.ts";
import { table } from "../render/cells.ts";
import { printable, printableLine } from "../render/shown_text.ts";
import { EXIT } from "../service/exit_code.ts";

/** What a command has to tell, in each form that it may have. */
export interface Told {
  /** For programs. */
  readonly json: unknown;
  /** For people. */
  readonly text: string;
  /** For stderr, below the text. Default: nothing. */
  readonly notes?: string;
  /** What can be typed: a script reads one a line. */
  readonly names?: readonly string[];
}

/** Tells it in the form that is wanted; gives the exit code. */
export async function tell(
  { json, text, notes = "", names = [] }: Told,
  flags: { readonly json: boolean; readonly names?: boolean },
  { stdout, stderr }: Terminal,
): Promise<number> {
  if (flags.names) await stdout.write(names.map((name) => `${name}\n`).join(""));
  else if (flags.json) await stdout.write(jsonPage(json));
  else {
    await stdout.write(text);
    await stderr.write(notes);
  }
  return EXIT.ok;
}

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

/** A value for programs. */
export function jsonPage(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Tells on stderr what was ignored. */
export function warningsTo({ stderr }: Pick<Terminal, "stderr">): (text: string) => void {
  return (text) => void stderr.write(`warning: ${printable(text)}\n`);
}
