// What commands print, in each form.
import type { Terminal } from "../host/terminal/terminal.ts";
import { printable } from "../render/shown_text.ts";
import type { PlacedProblem } from "../service/check/report.ts";
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

/** What is wrong with a file, a line each. @param name of the file, as it is typed */
export function problemText(problems: readonly PlacedProblem[], name: string): string {
  const lines = problems.map(({ line, column, severity = "error", message }) => {
    const place = [name, line, ...(column === undefined ? [] : [column])].join(":");
    return `${place}: ${severity}: ${message.replaceAll(/\s*\n\s*/g, " ")}\n`;
  });
  return printable(lines.join(""));
}

/** A value for programs. */
export function jsonPage(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Tells on stderr what was ignored. */
export function warningsTo({ stderr }: Pick<Terminal, "stderr">): (text: string) => void {
  return (text) => void stderr.write(`warning: ${printable(text)}\n`);
}
