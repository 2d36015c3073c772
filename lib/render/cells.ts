// How many cells of a terminal a text takes. Terminals differ for joined emoji; here every part counts, so a text is never wider
// on the screen than it says.
import { eastAsianWidth } from "get-east-asian-width";

const EMOJI_STYLE = 0xfe0f;
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

/** How many cells the text takes; it holds no control characters (see `printable`). */
export function cellWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let cells = 0;
  for (const character of text) cells += characterWidth(character);
  return cells;
}

/** At most `cells` cells of the text; what is missing shows as `…` at the end. */
export function cutToCells(text: string, cells: number): string {
  if (cells <= 0) return "";
  // No character takes less than a cell for long: a text far too long is cut before it is measured.
  const near = text.length > cells * 8 ? text.slice(0, cells * 8) : text;
  if (near === text && cellWidth(text) <= cells) return text;
  let used = 0;
  let kept = "";
  for (const character of near) {
    used += characterWidth(character);
    if (used > cells - 1) break;
    kept += character;
  }
  return `${kept}…`;
}

/** The text with blanks behind it, up to `cells`; a longer one stays as it is. */
export function padToCells(text: string, cells: number): string {
  return text + " ".repeat(Math.max(0, cells - cellWidth(text)));
}

function characterWidth(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x300) return 1;
  if (code === EMOJI_STYLE) return 1;
  if (eastAsianWidth(code) === 2) return 2;
  return NO_WIDTH.test(character) ? 0 : 1;
}

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

/** How a piece of text looks. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan";

/** Gives a text a look; the text has no control characters of its own (see `printable`). */
export type Paint = (style: Style, text: string) => string;

const CODES: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

/** Colours by ANSI codes, or none at all. */
export function paintFor(color: boolean): Paint {
  if (!color) return (_style, text) => text;
  return (style, text) => text === "" ? "" : `\x1b[${CODES[style][0]}m${text}\x1b[${CODES[style][1]}m`;
}
