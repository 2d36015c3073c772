/** What a heading line says. */
export interface HeadingLine {
  /** How many `#` it has, from 1. */
  readonly level: number;
  /** The line without its `#`s and the blanks around; an explicit id stays in it. */
  readonly title: string;
  /** What `{id=...}` at the very end says. */
  readonly explicitId?: string;
}

const HEADING = /^(#+) [ \t]*[^ \t]/;
const EXPLICIT_ID = /^\{id=(\p{L}[\p{L}\p{Nd}_-]*)\}$/u;

/** Reads one line, without its line end, as a heading; undefined when it is none (documents.md 2.4, 5.1). */
export function headingLine(line: string): HeadingLine | undefined {
  const hashes = HEADING.exec(line)?.[1];
  if (hashes === undefined || line.includes("\n")) return undefined;
  const explicitId = explicitIdOf(line);
  return {
    level: hashes.length,
    title: withoutBlanks(line.slice(hashes.length)),
    explicitId,
  };
}

/** The last brace alone is looked at: a search for the whole form would begin at every brace of the line. */
function explicitIdOf(line: string): string | undefined {
  return line.endsWith("}")
    ? EXPLICIT_ID.exec(line.slice(line.lastIndexOf("{")).normalize("NFC"))?.[1]
    : undefined;
}

/** Blanks alone: `trim` would take a no-break space or a lone CR, which are part of the title. */
function withoutBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text[start])) start++;
  while (end > start && isBlank(text[end - 1])) end--;
  return text.slice(start, end);
}

const isBlank = (character: string | undefined): boolean => character === " " || character === "\t";
