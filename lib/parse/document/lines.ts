import { BYTE_ORDER_MARK } from "../../core/core.ts";

const LF = 10;
const CR = 13;
const SPACE = 32;
const TAB = 9;

/** The lines of a text, by their number from 0. They end in LF or CRLF; a lone CR belongs to its line (documents.md 2.1). */
export class DocumentLines {
  readonly text: string;
  readonly count: number;
  /** Where each line begins, and last the length of the text. */
  readonly #starts: Uint32Array;

  constructor(text: string) {
    this.text = text;
    this.count = countLines(text);
    this.#starts = new Uint32Array(this.count + 1);
    let at = 0;
    for (let line = 1; line < this.count; line++) {
      at = text.indexOf("\n", at) + 1;
      this.#starts[line] = at;
    }
    this.#starts[this.count] = text.length;
  }

  /** The line end of the first line; LF where there is none. */
  get newline(): "\n" | "\r\n" {
    const at = this.text.indexOf("\n");
    return at > 0 && this.text.charCodeAt(at - 1) === CR ? "\r\n" : "\n";
  }

  /** What a line says, without its line end and without a byte order mark. */
  content(line: number): string {
    return this.text.slice(this.#contentStart(line), this.#contentEnd(line));
  }

  /** The UTF-16 unit that a line begins with; NaN where it has none. */
  first(line: number): number {
    const start = this.#contentStart(line);
    return start < this.#contentEnd(line) ? this.text.charCodeAt(start) : NaN;
  }

  /** Whether a line has only blanks. */
  isEmpty(line: number): boolean {
    const end = this.#contentEnd(line);
    for (let at = this.#contentStart(line); at < end; at++) {
      const code = this.text.charCodeAt(at);
      if (code !== SPACE && code !== TAB) return false;
    }
    return true;
  }

  /** The first line from here that is not empty, or the number of lines. */
  filled(from: number): number {
    let line = from;
    while (line < this.count && this.isEmpty(line)) line++;
    return line;
  }

  /** The lines up to another one, as written. */
  source(from: number, to: number): string {
    return this.text.slice(this.#start(from), this.#start(to));
  }

  /** The same joined by LF, without the last line end. */
  joined(from: number, to: number): string {
    return from >= to
      ? ""
      : this.text.slice(this.#contentStart(from), this.#contentEnd(to - 1)).replaceAll("\r\n", "\n");
  }

  /** The line at an offset that lies in `from` or below. */
  lineAt(offset: number, from: number): number {
    let line = from;
    while (line + 1 < this.count && this.#start(line + 1) <= offset) line++;
    return line;
  }

  /** The offset that a line begins at. */
  offset(line: number): number {
    return this.#start(line);
  }

  #start(line: number): number {
    return this.#starts[line] ?? this.text.length;
  }

  #contentStart(line: number): number {
    return line === 0 && this.text.startsWith(BYTE_ORDER_MARK) ? 1 : this.#start(line);
  }

  #contentEnd(line: number): number {
    const end = this.#start(line + 1);
    if (this.text.charCodeAt(end - 1) !== LF) return end;
    return this.text.charCodeAt(end - 2) === CR ? end - 2 : end - 1;
  }
}

function countLines(text: string): number {
  let count = 0;
  let at = 0;
  while (at < text.length) {
    const end = text.indexOf("\n", at);
    at = end < 0 ? text.length : end + 1;
    count++;
  }
  return count;
}

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

/** `key:` at the beginning of a line. */
export interface ParameterLine {
  readonly key: string;
  /** All that stands behind the colon, blanks too. */
  readonly rest: string;
}

const PARAMETER = /^([\p{L}_][\p{L}\p{Nd}_-]*)[ \t]*:(?=[ \t]|$)/u;

/** Reads one line, without its line end, as `key:`; undefined when it is something else (documents.md 2.7). */
export function parameterLine(line: string): ParameterLine | undefined {
  const found = PARAMETER.exec(line);
  const key = found?.[1];
  return found === null || key === undefined ? undefined : { key, rest: line.slice(found[0].length) };
}
