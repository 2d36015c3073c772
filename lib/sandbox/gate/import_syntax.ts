/**
 * Reads what stands between `import` and `from` (`a, { b as c }`, `* as d`), and gives it written anew, without comments; undefined for
 * anything else, such as the phases `source` and `defer`.
 */
export function readImportClause(reader: TokenReader): string | undefined {
  const first = reader.peek();
  if (first === "{" || first === "*") return readBindings(reader);
  const name = reader.word();
  if (name === undefined) return undefined;
  if (!reader.mark(",")) return name;
  const bindings = readBindings(reader);
  return bindings === undefined ? undefined : `${name}, ${bindings}`;
}

function readBindings(reader: TokenReader): string | undefined {
  if (!reader.mark("*")) return readNames(reader);
  const name = reader.keyword("as") ? reader.word() : undefined;
  return name === undefined ? undefined : `* as ${name}`;
}

/** Reads `*`, `* as name` or a list of names, as they stand behind `export`. */
export function readExportClause(reader: TokenReader): string | undefined {
  if (!reader.mark("*")) return readNames(reader);
  if (!reader.keyword("as")) return "*";
  const name = readName(reader);
  return name === undefined ? undefined : `* as ${name}`;
}

/** Reads the names of a module's own behind `export`, which is left as it is; so they may be strings with escapes. */
export function skipExportNames(reader: TokenReader): boolean {
  return readNames(reader, (name) => name) !== undefined;
}

/** `{ a, b as c, "d e" as f }`: names that may be strings. */
function readNames(reader: TokenReader, checked: NameCheck = unescaped): string | undefined {
  if (!reader.mark("{")) return undefined;
  const names: string[] = [];
  while (!reader.mark("}")) {
    const name = readName(reader, checked);
    const as = name !== undefined && reader.keyword("as") ? readName(reader, checked) : "";
    if (name === undefined || as === undefined) return undefined;
    names.push(as === "" ? name : `${name} as ${as}`);
    if (!reader.mark(",") && reader.peek() !== "}") return undefined;
  }
  return `{ ${names.join(", ")} }`;
}

type NameCheck = (name: string) => string | undefined;

function readName(reader: TokenReader, checked: NameCheck = unescaped): string | undefined {
  const text = reader.word() ?? reader.string();
  return text === undefined ? undefined : checked(text);
}

/** What could be taken for a keyword stands in quotes then, where it may be written with an escape. */
const unescaped: NameCheck = (name) =>
  name.includes("\\") || name.includes("\n")
    ? undefined
    : /^(?:import|export)$/.test(name)
    ? `"${name}"`
    : name;

/** Reads `{ type: "json" }`, or nothing; gives the value of `type`, and undefined for any other attributes. */
export function readAttributes(reader: TokenReader): { readonly type?: string } | undefined {
  if (!reader.mark("{")) return undefined;
  if (reader.mark("}")) return {};
  const key = reader.word() ?? plainText(reader.string());
  if (key !== "type" || !reader.mark(":")) return undefined;
  const type = plainText(reader.string());
  reader.mark(",");
  return type !== undefined && reader.mark("}") ? { type } : undefined;
}

/** What a string literal or a template says, when it has no escapes. */
export function plainText(literal: string | undefined): string | undefined {
  return literal === undefined || literal.includes("\\") ? undefined : literal.slice(1, -1);
}

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
  /** Behind what was read: an offset of the text. */
  at: number;

  constructor(text: string, at: number, budget: CommentBudget = { left: text.length }) {
    this.text = text;
    this.at = at;
    this.#budget = budget;
  }

  /** An identifier or keyword written without escapes. */
  word(): string | undefined {
    return this.#take(WORD);
  }

  /** Whether the next word is this one; then it is read. */
  keyword(name: string): boolean {
    const start = this.at;
    if (this.word() === name) return true;
    this.at = start;
    return false;
  }

  /** Whether the next character is this one; then it is read. */
  mark(char: string): boolean {
    if (this.peek() !== char) return false;
    this.at++;
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
    return this.text[this.at] ?? "";
  }

  #take(pattern: RegExp): string | undefined {
    this.peek();
    return this.#match(pattern);
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text)?.[0];
    this.at += found?.length ?? 0;
    return found;
  }

  /** A comment without an end is none. */
  #comment(): boolean {
    if (this.text[this.at] !== "/" || this.#budget.left <= 0) return false;
    const next = this.text[this.at + 1];
    const end = next === "*" ? this.#blockEnd() : next === "/" ? this.#lineEnd() : undefined;
    if (end === undefined) return false;
    this.#budget.left -= end - this.at;
    this.at = end;
    return true;
  }

  #blockEnd(): number | undefined {
    const end = this.text.indexOf("*/", this.at + 2);
    if (end === -1) this.#budget.left -= this.text.length - this.at;
    return end === -1 ? undefined : end + 2;
  }

  #lineEnd(): number {
    LINE_END.lastIndex = this.at;
    return LINE_END.exec(this.text)?.index ?? this.text.length;
  }
}
