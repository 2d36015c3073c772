const EMPTY_LINE = /[ \t]*\r?\n/y;

/** The text without empty lines at its start. A line of blanks counts as empty. */
export function withoutEmptyLines(text: string): string {
  let start = 0;
  for (;;) {
    EMPTY_LINE.lastIndex = start;
    if (!EMPTY_LINE.test(text)) return text.slice(start);
    start = EMPTY_LINE.lastIndex;
  }
}

/** The text without white space at its end. */
export function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(0, end);
}

/** Without empty lines at its start and without white space at its end (documents.md 6.1). */
export function trimLines(text: string): string {
  return withoutEmptyLines(trimEnd(text));
}

/** The text without the empty lines at its end and without the line end before them. */
export function withoutEmptyEnd(text: string): string {
  let end = text.length;
  for (;;) {
    let start = end;
    while (start > 0 && isBlank(text.charCodeAt(start - 1))) start--;
    if (start > 0 && text.charCodeAt(start - 1) !== LF) return text.slice(0, end);
    if (start === 0) return "";
    end = text.charCodeAt(start - 2) === CR ? start - 2 : start - 1;
  }
}

/** Whether its last line is complete. */
export function endsLine(text: string): boolean {
  return text.charCodeAt(text.length - 1) === LF;
}

/** Whether its last line is complete and has only blanks. */
export function endsInEmptyLine(text: string): boolean {
  if (!endsLine(text)) return false;
  let at = text.length - 1;
  if (text.charCodeAt(at - 1) === CR) at--;
  while (at > 0 && isBlank(text.charCodeAt(at - 1))) at--;
  return at === 0 || text.charCodeAt(at - 1) === LF;
}

/** The text with every line end, but a lone CR, as given. */
export function withNewline(text: string, newline: "\n" | "\r\n"): string {
  return newline === "\n" ? text.replaceAll("\r\n", "\n") : text.replaceAll(/\r?\n/g, "\r\n");
}

const LF = 10;
const CR = 13;

const isBlank = (code: number): boolean => code === 32 || code === 9;
const isSpace = (code: number): boolean => isBlank(code) || code === LF || code === CR;
