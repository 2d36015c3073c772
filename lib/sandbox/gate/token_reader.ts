// Reads the few tokens that imports and exports are made of. It accepts less than the language does: what it cannot read is refused
// or made harmless, so it never has to guess.

const BLANKS = /\s+/y;
const WORD = /[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/uy;
const STRING = /"[^"\\\n\r]*(?:\\[^][^"\\\n\r]*)*"|'[^'\\\n\r]*(?:\\[^][^'\\\n\r]*)*'/y;
const TEMPLATE = /`[^`\\$]*`/y;
const LINE_END = /[\n\r\u2028\u2029]|$/g;

/** How many characters of comments may still be read over: several readers of one text share it, so that all of them take linear time. */
export interface CommentBudget {
  left: number;
}

/** Goes through a text token by token; what does not fit leaves it where it is. */
export class TokenReader {
  readonly text: string;
  readonly #budget: CommentBudget;
  #at: number;

  constructor(text: string, at: number, budget: CommentBudget = { left: text.length }) {
    this.text = text;
    this.#at = at;
    this.#budget = budget;
  }

  /** Behind what was read: an offset of the text. */
  get at(): number {
    return this.#at;
  }

  /** An identifier or keyword written without escapes. */
  word(): string | undefined {
    return this.#take(WORD);
  }

  /** Whether the next word is this one; then it is read. */
  keyword(name: string): boolean {
    const start = this.#at;
    if (this.word() === name) return true;
    this.#at = start;
    return false;
  }

  /** Whether the next character is this one; then it is read. */
  mark(char: string): boolean {
    if (this.peek() !== char) return false;
    this.#at++;
    return true;
  }

  /** A string literal with its quotes. */
  string(): string | undefined {
    return this.#take(STRING);
  }

  /** A template without substitutions and escapes, with its quotes. */
  template(): string | undefined {
    return this.#take(TEMPLATE);
  }

  /** The next character that is neither blank nor in a comment; empty at the end. */
  peek(): string {
    while (this.#match(BLANKS) !== undefined || this.#comment()) continue;
    return this.text[this.#at] ?? "";
  }

  #take(pattern: RegExp): string | undefined {
    this.peek();
    return this.#match(pattern);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }

  /** A comment without an end is none. */
  #comment(): boolean {
    if (this.text[this.#at] !== "/" || this.#budget.left <= 0) return false;
    const next = this.text[this.#at + 1];
    const end = next === "*" ? this.#blockEnd() : next === "/" ? this.#lineEnd() : undefined;
    if (end === undefined) return false;
    this.#budget.left -= end - this.#at;
    this.#at = end;
    return true;
  }

  #blockEnd(): number | undefined {
    const end = this.text.indexOf("*/", this.#at + 2);
    if (end === -1) this.#budget.left -= this.text.length - this.#at;
    return end === -1 ? undefined : end + 2;
  }

  #lineEnd(): number {
    LINE_END.lastIndex = this.#at;
    return LINE_END.exec(this.text)?.index ?? this.text.length;
  }
}
