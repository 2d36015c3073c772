// The Markdown of our own pages of help for a terminal: headings, paragraphs, lists, tables and code, in colour and in width.
import { cellWidth, padToCells, type Paint, paintFor } from "./cells.ts";

const WIDEST = 100;
/** In a table that is too wide, a column is as wide as its longest word, up to this; */
const MOST_LEAST = 34;
/** or as this, where it has more to say; and what is left is for the longest one. */
const MOST_NARROW = 22;
const LEAST_LONGEST = 24;
const GAP = "  ";

/** A page as it is read in a terminal. @param options.columns of the window; lines are not wider than 100 cells */
export function markdownText(
  page: string,
  { columns, color }: { readonly columns: number; readonly color: boolean },
): string {
  const look: Look = { width: Math.min(columns - 1, WIDEST), paint: paintFor(color) };
  const lines = page.replaceAll(/<!--[\s\S]*?-->\n?/g, "").split("\n");
  const shown: string[] = [];
  for (let at = 0; at < lines.length;) at = block(lines, at, { look, shown });
  return `${shown.join("\n").replaceAll(/\n{3,}/g, "\n\n").trimEnd()}\n`;
}

interface Look {
  readonly width: number;
  readonly paint: Paint;
}

/** Shows the block that begins at a line; gives the line behind it. */
function block(
  lines: readonly string[],
  at: number,
  { look, shown }: { readonly look: Look; readonly shown: string[] },
): number {
  const line = lines[at] ?? "";
  const fence = /^(`{3,})/.exec(line)?.[1];
  if (fence !== undefined) {
    const end = endOf(lines, at + 1, (each) => each === fence);
    const name = /\sfile=(\S+)/.exec(line)?.[1];
    if (name !== undefined) shown.push(GAP + look.paint("dim", name));
    shown.push(...lines.slice(at + 1, end).map((each) => GAP + look.paint("cyan", each)));
    return end + 1;
  }
  const [, marks, title] = /^(#+) (.*)/.exec(line) ?? [];
  if (title !== undefined) {
    const text = title.replaceAll("`", "");
    shown.push(look.paint("bold", marks === "#" ? text.toUpperCase() : text));
    return at + 1;
  }
  if (line.startsWith("|")) {
    const end = endOf(lines, at, (each) => !each.startsWith("|"));
    shown.push(...tableLines(lines.slice(at, end), look));
    return end;
  }
  const [, indent = "", mark = "", text = line] = /^( *)((?:[-*]|\d+\.) )(.*)/.exec(line) ?? [];
  const first = indent + mark;
  shown.push(
    ...wrapped(text, look.width - first.length).map((each, n) =>
      (n === 0 ? first : " ".repeat(first.length)) + inline(each, look.paint)
    ),
  );
  return at + 1;
}

function endOf(lines: readonly string[], from: number, isEnd: (line: string) => boolean): number {
  const found = lines.findIndex((line, index) => index >= from && isEnd(line));
  return found < 0 ? lines.length : found;
}

/** Cells are wrapped where the table is too wide. */
function tableLines(lines: readonly string[], { width, paint }: Look): readonly string[] {
  const [head = [], , ...rows] = lines.map(cellsOf);
  const widestOf = (measure: (cell: string) => number) =>
    head.map((_, column) => Math.max(1, ...[head, ...rows].map((cells) => measure(cells[column] ?? ""))));
  const widths = widestOf(shownWidth);
  const least = widestOf((cell) => Math.min(MOST_LEAST, Math.max(...wrapped(cell, 1).map(shownWidth))));
  const room = width - GAP.length * (widths.length - 1);
  if (sum(widths) > room) {
    const longest = widths.indexOf(Math.max(...widths));
    const narrow = widths.map((cells, column) => Math.max(least[column] ?? 0, Math.min(cells, MOST_NARROW)));
    narrow[longest] = Math.max(LEAST_LONGEST, room - sum(narrow) + (narrow[longest] ?? 0));
    widths.splice(0, widths.length, ...narrow);
  }
  const rowLines = (cells: readonly string[], show: (text: string) => string): readonly string[] => {
    const texts = widths.map((cell, column) => wrapped(cells[column] ?? "", cell));
    return Array.from(
      { length: Math.max(...texts.map(({ length }) => length)) },
      (_, n) =>
        texts.map((text, column) => {
          const part = text[n] ?? "";
          return show(part) + padToCells("", (widths[column] ?? 0) - shownWidth(part));
        }).join(GAP).trimEnd(),
    );
  };
  return [
    ...rowLines(head, (text) => paint("bold", plain(text))),
    ...rows.flatMap((cells) => rowLines(cells, (text) => inline(text, paint))),
  ];
}

const sum = (widths: readonly number[]): number => widths.reduce((all, each) => all + each, 0);

/** A stroke in a cell is written `\|`. */
function cellsOf(line: string): readonly string[] {
  return line.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

const MARKS = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\([^)]*\)/g;

const plain = (text: string): string => text.replaceAll(MARKS, "$1$2$3$4");
const shownWidth = (text: string): number => cellWidth(plain(text));

function inline(text: string, paint: Paint): string {
  return text.replaceAll(MARKS, (_, code?: string, strong?: string, weak?: string, link?: string) => {
    if (code !== undefined) return paint("cyan", code);
    return strong !== undefined ? paint("bold", strong) : weak ?? link ?? "";
  });
}

/** Breaks between words, and never inside of a mark. */
function wrapped(text: string, width: number): readonly string[] {
  const words = text.match(/(?:`[^`]*`|\*\*[^*]+\*\*|\[[^\]]*\]\([^)]*\)|[^\s`*[]|[`*[])+/g) ?? [""];
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || shownWidth(last) + 1 + shownWidth(word) > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
