import { cellWidth } from "./cells.ts";
import { printableLine } from "./shown_text.ts";

/** The last lines of a text as a window of this width breaks them; blank lines at its end are none. */
export function lastLines(
  tail: string,
  { columns, most }: { readonly columns: number; readonly most: number },
): readonly string[] {
  const lines: string[] = [];
  const text = tail.trimEnd();
  if (text === "" || columns < 1) return [];
  for (let end = text.length; end >= 0 && lines.length < most;) {
    const start = text.lastIndexOf("\n", end - 1) + 1;
    const line = end === 0 ? "" : text.slice(start, end);
    lines.unshift(...broken(printableLine(overwritten(line)), columns));
    end = start - 1;
  }
  return lines.slice(-most);
}

/** A carriage return begins the line anew: so programs show their progress. */
function overwritten(line: string): string {
  const whole = line.endsWith("\r") ? line.slice(0, -1) : line;
  return whole.slice(whole.lastIndexOf("\r") + 1);
}

function broken(line: string, columns: number): readonly string[] {
  if (cellWidth(line) <= columns) return [line];
  const lines: string[] = [];
  let here = "";
  let cells = 0;
  for (const character of line) {
    const width = cellWidth(character);
    if (cells + width > columns) {
      const blank = character === " " ? here.length : here.lastIndexOf(" ");
      const at = blank > here.length / 2 ? blank : here.length;
      lines.push(here.slice(0, at).trimEnd());
      here = here.slice(at).trimStart();
      cells = cellWidth(here);
    }
    if (here === "" && character === " " && lines.length > 0) continue;
    here += character;
    cells += width;
  }
  return [...lines, here];
}
