import { BYTE_ORDER_MARK } from "../core/file_text.ts";

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
