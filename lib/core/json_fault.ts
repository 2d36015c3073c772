/** Where a text stops being JSON (RFC 8259), and how. */
export interface JsonProblem {
  /** In UTF-16 units, from 0. */
  readonly offset: number;
  /** Where the token begins that is wrong there: a string may be so far behind its quote. */
  readonly start: number;
  readonly found: string;
  readonly expected: string;
}

const BLANKS = /[ \t\r\n]*/y;
const SCALAR = /(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)(?![\w.+-])/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
/** What cannot stand in a string as it is: a quote, a backslash, a control character. */
const NOT_PLAIN = /[^ !#-\[\]-\u{10ffff}]/gu;

type State = "value" | "value-or-end" | "key" | "key-or-end" | "colon" | "comma-or-end" | "end";

/**
 * Finds the first place at which a text is not JSON, or gives undefined when it is. JSON.parse tells that place for some errors
 * only, in words that change with the version of V8; this is for the message after it has failed.
 */
export function jsonProblem(text: string): JsonProblem | undefined {
  const scanner = new Scanner(text);
  let state: State | JsonProblem | undefined = "value";
  while (typeof state === "string") state = scanner.step(state);
  return state;
}

class Scanner {
  readonly #text: string;
  readonly #open: ("{" | "[")[] = [];
  #offset = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads one token; gives the next state, the problem, or undefined at the end of good JSON. */
  step(state: State): State | JsonProblem | undefined {
    this.#skip(BLANKS);
    const character = this.#text[this.#offset];
    switch (state) {
      case "value":
      case "value-or-end":
        return character === "]" && state === "value-or-end" ? this.#close() : this.#value(state, character);
      case "key":
      case "key-or-end":
        if (character === "}" && state === "key-or-end") return this.#close();
        if (character === '"') return this.#string("colon");
        return this.#problem(`a key in double quotes${state === "key" ? "" : ' or "}"'}`);
      case "colon":
        return character === ":" ? this.#go("value") : this.#problem('":"');
      case "comma-or-end":
        return this.#comma(character);
      case "end":
        return character === undefined ? undefined : this.#problem("the end of the text");
    }
  }

  #value(state: State, character: string | undefined): State | JsonProblem {
    if (character === '"') return this.#string(this.#after());
    if (character === "{" || character === "[") {
      this.#open.push(character);
      return this.#go(character === "{" ? "key-or-end" : "value-or-end");
    }
    if (this.#skip(SCALAR)) return this.#after();
    return this.#problem(`a JSON value${state === "value" ? "" : ' or "]"'}`);
  }

  #comma(character: string | undefined): State | JsonProblem {
    const isObject = this.#open.at(-1) === "{";
    const closing = isObject ? "}" : "]";
    if (character === closing) return this.#close();
    return character === "," ? this.#go(isObject ? "key" : "value") : this.#problem(`"," or "${closing}"`);
  }

  #string(next: State): State | JsonProblem {
    const start = this.#offset++;
    while (true) {
      NOT_PLAIN.lastIndex = this.#offset;
      const special = NOT_PLAIN.exec(this.#text);
      this.#offset = special?.index ?? this.#text.length;
      if (special === null) return this.#problem("the closing quote of a string", start);
      if (special[0] === '"') return this.#go(next);
      if (special[0] !== "\\") {
        return this.#problem("it written as an escape such as \\n, since it is inside a string", start);
      }
      if (!this.#skip(ESCAPE)) return this.#problem("an escape such as \\n, \\\\ or \\u00e9", start);
    }
  }

  #close(): State {
    this.#open.pop();
    return this.#go(this.#after());
  }

  #after(): State {
    return this.#open.length === 0 ? "end" : "comma-or-end";
  }

  #go(next: State): State {
    this.#offset++;
    return next;
  }

  #skip(pattern: RegExp): boolean {
    pattern.lastIndex = this.#offset;
    const found = pattern.exec(this.#text);
    this.#offset += found?.[0].length ?? 0;
    return found !== null;
  }

  #problem(expected: string, start = this.#offset): JsonProblem {
    const rest = this.#text.slice(this.#offset, this.#offset + 20);
    const word = /^(?:[\w.+-]+|\\.|.)/su.exec(rest)?.[0];
    return {
      offset: this.#offset,
      start,
      found: word === undefined ? "the end" : JSON.stringify(word),
      expected,
    };
  }
}
