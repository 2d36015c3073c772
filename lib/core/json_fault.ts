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
  const open: ("{" | "[")[] = [];
  let offset = 0;

  /** Reads one token; gives the next state, the problem, or undefined at the end of good JSON. */
  function step(state: State): State | JsonProblem | undefined {
    skip(BLANKS);
    const character = text[offset];
    switch (state) {
      case "value":
      case "value-or-end":
        return character === "]" && state === "value-or-end" ? close() : value(state, character);
      case "key":
      case "key-or-end":
        if (character === "}" && state === "key-or-end") return close();
        if (character === '"') return string("colon");
        return problem(`a key in double quotes${state === "key" ? "" : ' or "}"'}`);
      case "colon":
        return character === ":" ? go("value") : problem('":"');
      case "comma-or-end":
        return comma(character);
      case "end":
        return character === undefined ? undefined : problem("the end of the text");
    }
  }

  function value(state: State, character: string | undefined): State | JsonProblem {
    if (character === '"') return string(after());
    if (character === "{" || character === "[") {
      open.push(character);
      return go(character === "{" ? "key-or-end" : "value-or-end");
    }
    if (skip(SCALAR)) return after();
    return problem(`a JSON value${state === "value" ? "" : ' or "]"'}`);
  }

  function comma(character: string | undefined): State | JsonProblem {
    const isObject = open.at(-1) === "{";
    const closing = isObject ? "}" : "]";
    if (character === closing) return close();
    return character === "," ? go(isObject ? "key" : "value") : problem(`"," or "${closing}"`);
  }

  function string(next: State): State | JsonProblem {
    const start = offset++;
    while (true) {
      NOT_PLAIN.lastIndex = offset;
      const special = NOT_PLAIN.exec(text);
      offset = special?.index ?? text.length;
      if (special === null) return problem("the closing quote of a string", start);
      if (special[0] === '"') return go(next);
      if (special[0] !== "\\") {
        return problem("it written as an escape such as \\n, since it is inside a string", start);
      }
      if (!skip(ESCAPE)) return problem("an escape such as \\n, \\\\ or \\u00e9", start);
    }
  }

  function close(): State {
    open.pop();
    return go(after());
  }

  function after(): State {
    return open.length === 0 ? "end" : "comma-or-end";
  }

  function go(next: State): State {
    offset++;
    return next;
  }

  function skip(pattern: RegExp): boolean {
    pattern.lastIndex = offset;
    const found = pattern.exec(text);
    offset += found?.[0].length ?? 0;
    return found !== null;
  }

  function problem(expected: string, start = offset): JsonProblem {
    const rest = text.slice(offset, offset + 20);
    const word = /^(?:[\w.+-]+|\\.|.)/su.exec(rest)?.[0];
    return {
      offset,
      start,
      found: word === undefined ? "the end" : JSON.stringify(word),
      expected,
    };
  }

  let state: State | JsonProblem | undefined = "value";
  while (typeof state === "string") state = step(state);
  return state;
}
