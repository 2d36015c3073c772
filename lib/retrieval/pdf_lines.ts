/** A piece of text as it stands on a page of a PDF. */
export interface PdfItem {
  readonly text: string;
  readonly endsLine: boolean;
  /** Of its letters. */
  readonly height: number;
  /** From below. */
  readonly y: number;
}

/** A line of a page. */
export interface PdfLine {
  readonly text: string;
  /** Of its largest letters. */
  readonly height: number;
  /** More room is above it than between two lines of a paragraph. */
  readonly gap: boolean;
}

/** Room that parts paragraphs, by the height of letters. */
const GAP = 1.75;

/** The lines of a page. A word that was cut at the end of a line is put together again. */
export function pdfLines(items: readonly PdfItem[]): readonly PdfLine[] {
  const lines: { text: string; height: number; y: number; gap: boolean }[] = [];
  let isNew = true;
  for (const { text, height, y, endsLine } of items) {
    const line = lines.at(-1);
    if (text !== "" && (isNew || line === undefined)) {
      lines.push({ text, height, y, gap: line !== undefined && isGap(line, { height, y }) });
    } else if (text !== "" && line !== undefined) {
      [line.text, line.height] = [line.text + text, Math.max(line.height, height)];
    }
    isNew = endsLine || isNew && text === "";
  }
  return withWholeWords(lines.filter(({ text }) => text.trim() !== ""));
}

interface Place {
  readonly height: number;
  readonly y: number;
}

/** Text that goes on further up is in another column. */
function isGap(above: Place, below: Place): boolean {
  const room = above.y - below.y;
  return room < 0 || room > GAP * Math.max(above.height, below.height, 1);
}

function withWholeWords(lines: readonly PdfLine[]): readonly PdfLine[] {
  const whole: PdfLine[] = [];
  for (const line of lines) {
    const before = whole.at(-1);
    const isCut = before !== undefined && !line.gap && /\p{Ll}-\s*$/u.test(before.text.slice(-4)) &&
      /^\p{Ll}/u.test(line.text);
    if (!isCut) whole.push(line);
    else {
      const [word = "", rest = ""] = firstWord(line.text);
      whole[whole.length - 1] = { ...before, text: before.text.trimEnd().slice(0, -1) + word };
      if (rest !== "") whole.push({ ...line, text: rest });
    }
  }
  return whole;
}

function firstWord(text: string): readonly [string, string] {
  const end = text.search(/\s/);
  return end < 0 ? [text, ""] : [text.slice(0, end), text.slice(end).trimStart()];
}
