/** Where a value of a JSON text stands, in UTF-16 units. */
export interface JsonPlace {
  readonly start: number;
  readonly end: number;
}

type Path = readonly (string | number)[];

/** The place of the value at a path of a text that is JSON; undefined when nothing is there. Of two keys of one name the last counts. */
export function jsonPlace(text: string, path: Path): JsonPlace | undefined {
  const scan = new Scan(text);
  scan.value(path);
  return scan.found;
}

/** Goes through a text that `JSON.parse` took, so that only the shape has to be looked at. */
class Scan {
  found: JsonPlace | undefined;
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Passes a value; `path` leads to the wanted one from here, and is undefined where it cannot be inside. */
  value(path: Path | undefined): void {
    this.#blanks();
    const start = this.#at;
    const first = this.#text[start];
    if (first === "{") this.#object(path);
    else if (first === "[") this.#array(path);
    else if (first === '"') this.#string();
    else this.#pass(/[^\s,\]}]*/y);
    if (path?.length === 0) this.found = { start, end: this.#at };
  }

  #object(path: Path | undefined): void {
    this.#at++;
    for (this.#blanks(); this.#isBefore("}"); this.#blanks()) {
      const key: unknown = JSON.parse(this.#string());
      this.#pass(/\s*:/y);
      const isOnPath = path !== undefined && path.length > 0 && path[0] === key;
      if (isOnPath) this.found = undefined;
      this.value(isOnPath ? path.slice(1) : undefined);
      this.#pass(/\s*,?/y);
    }
    this.#at++;
  }

  #array(path: Path | undefined): void {
    this.#at++;
    let index = 0;
    for (this.#blanks(); this.#isBefore("]"); this.#blanks()) {
      this.value(path !== undefined && path.length > 0 && path[0] === index++ ? path.slice(1) : undefined);
      this.#pass(/\s*,?/y);
    }
    this.#at++;
  }

  #string(): string {
    const start = this.#at;
    this.#at++;
    while (this.#isBefore('"')) this.#at += this.#text[this.#at] === "\\" ? 2 : 1;
    this.#at++;
    return this.#text.slice(start, this.#at);
  }

  #isBefore(end: string): boolean {
    return this.#at < this.#text.length && this.#text[this.#at] !== end;
  }

  #blanks(): void {
    this.#pass(/\s*/y);
  }

  #pass(pattern: RegExp): void {
    pattern.lastIndex = this.#at;
    this.#at += pattern.exec(this.#text)?.[0].length ?? 0;
  }
}
