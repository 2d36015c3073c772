// How many cells of a terminal a text takes. Terminals differ for joined emoji; here every part counts, so a text is never wider
// on the screen than it says.

/** East Asian wide and fullwidth characters and emoji, as pairs of first and last (Unicode 16, EastAsianWidth W and F). */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x231a, 0x231b],
  [0x2329, 0x232a],
  [0x23e9, 0x23ec],
  [0x23f0, 0x23f0],
  [0x23f3, 0x23f3],
  [0x25fd, 0x25fe],
  [0x2614, 0x2615],
  [0x2630, 0x2637],
  [0x2648, 0x2653],
  [0x267f, 0x267f],
  [0x268a, 0x268f],
  [0x2693, 0x2693],
  [0x26a1, 0x26a1],
  [0x26aa, 0x26ab],
  [0x26bd, 0x26be],
  [0x26c4, 0x26c5],
  [0x26ce, 0x26ce],
  [0x26d4, 0x26d4],
  [0x26ea, 0x26ea],
  [0x26f2, 0x26f3],
  [0x26f5, 0x26f5],
  [0x26fa, 0x26fa],
  [0x26fd, 0x26fd],
  [0x2705, 0x2705],
  [0x270a, 0x270b],
  [0x2728, 0x2728],
  [0x274c, 0x274c],
  [0x274e, 0x274e],
  [0x2753, 0x2755],
  [0x2757, 0x2757],
  [0x2795, 0x2797],
  [0x27b0, 0x27b0],
  [0x27bf, 0x27bf],
  [0x2b1b, 0x2b1c],
  [0x2b50, 0x2b50],
  [0x2b55, 0x2b55],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4dc0, 0x4dff],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97c],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18dff],
  [0x1aff0, 0x1b2ff],
  [0x1d300, 0x1d376],
  [0x1f004, 0x1f004],
  [0x1f0cf, 0x1f0cf],
  [0x1f18e, 0x1f18e],
  [0x1f191, 0x1f19a],
  [0x1f1e6, 0x1f265],
  [0x1f300, 0x1f64f],
  [0x1f680, 0x1f6ff],
  [0x1f7e0, 0x1f7f0],
  [0x1f90c, 0x1f9ff],
  [0x1fa70, 0x1faff],
  [0x20000, 0x3fffd],
];

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
  if (isWide(code)) return 2;
  return NO_WIDTH.test(character) ? 0 : 1;
}

function isWide(code: number): boolean {
  let low = 0;
  let high = WIDE.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const [first, last] = WIDE[middle] ?? [0, 0];
    if (code < first) high = middle - 1;
    else if (code > last) low = middle + 1;
    else return true;
  }
  return false;
}
