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
