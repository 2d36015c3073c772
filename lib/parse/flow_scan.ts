/** Follows a YAML value that begins with a quote or a bracket, line by line, to the place where that is closed. */
export class FlowScan {
  #isOpen = true;
  #depth = 0;
  #quote = "";
  /** Inside of a plain word, where quotes are letters. */
  #isWord = false;
  /** Behind a quoted text or a bracket, where a colon needs no blank after it: `{"a":1}`. */
  #isJson = false;

  constructor(text: string) {
    this.add(text);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  add(line: string): void {
    let at = 0;
    while (this.#isOpen && at < line.length) {
      at = this.#quote === "" ? this.#token(line, at) : this.#quoted(line, at);
    }
  }

  /** Reads one character outside of quotes; gives where to go on. */
  #token(line: string, at: number): number {
    const character = line.charAt(at);
    switch (character) {
      case " ":
      case "\t":
        return at + 1;
      case "[":
      case "{":
        this.#depth++;
        this.#next(false);
        return at + 1;
      case "]":
      case "}":
        this.#depth--;
        this.#closed();
        return at + 1;
      case ",":
        this.#next(false);
        return at + 1;
      case ":":
        this.#next(!this.#isJson && !endsKey(line, at + 1));
        return at + 1;
      case "#":
        if (at > 0 && isBlank(line.charAt(at - 1))) return line.length;
        break;
      case '"':
      case "'":
        if (this.#isWord) break;
        this.#quote = character;
        return at + 1;
      case "&":
      case "!":
        if (!this.#isWord) return endOfProperty(line, at);
    }
    this.#next(true);
    return at + 1;
  }

  /** Reads to the closing quote, or to the end of the line. */
  #quoted(line: string, from: number): number {
    let at = from;
    while (at < line.length) {
      const character = line.charAt(at);
      if (character === "\\" && this.#quote === '"') at += 2;
      else if (character !== this.#quote) at++;
      else if (character === "'" && line.charAt(at + 1) === "'") at += 2;
      else {
        this.#quote = "";
        this.#closed();
        return at + 1;
      }
    }
    return at;
  }

  #closed(): void {
    this.#isOpen = this.#depth > 0;
    this.#isWord = false;
    this.#isJson = true;
  }

  #next(isWord: boolean): void {
    this.#isWord = isWord;
    this.#isJson = false;
  }
}

const isBlank = (character: string): boolean => character === " " || character === "\t";

/** Whether a colon before this place ends a key: a blank, the line end or a mark of a collection follows. */
const endsKey = (line: string, at: number): boolean =>
  at >= line.length || " \t,[]{}".includes(line.charAt(at));

/** An anchor or a tag: what follows it may be quoted. */
function endOfProperty(line: string, from: number): number {
  let at = from;
  while (!endsKey(line, at)) at++;
  return at;
}
