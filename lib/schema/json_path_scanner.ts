// The characters of a JSONPath, one after another. What is wrong is thrown as a `PathProblem` with its offset.

import { placeInWords, spanAt } from "../core/span_at.ts";

/** Why a text is no JSONPath. */
export class PathProblem extends Error {
  override readonly name = "PathProblem";
  /** Where, from 0. */
  readonly offset: number;

  /** @param message a sentence that says what was found and what was expected */
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** Filters and calls in one another; deeper ones are an attack on the stack. */
const MAX_DEPTH = 100;

/** A place in the text of a path. */
export class PathScanner {
  readonly text: string;
  at = 0;
  #depth = 0;

  constructor(text: string) {
    this.text = text;
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** The next character as a message names it. */
  get found(): string {
    return this.isAtEnd
      ? "the end"
      : JSON.stringify(String.fromCodePoint(this.text.codePointAt(this.at) ?? 0));
  }

  startsWith(token: string): boolean {
    return this.text.startsWith(token, this.at);
  }

  /** Goes behind the token where it is next. */
  take(token: string): boolean {
    const isNext = this.startsWith(token);
    if (isNext) this.at += token.length;
    return isNext;
  }

  /** Goes behind what a sticky expression matches; undefined where it does not. */
  maybeMatch(sticky: RegExp): string | undefined {
    sticky.lastIndex = this.at;
    const found = sticky.exec(this.text)?.[0];
    this.at += found?.length ?? 0;
    return found;
  }

  /** The four characters that are blank in a path. */
  skipBlanks(): void {
    this.maybeMatch(/[ \t\n\r]*/y);
  }

  /** @throws {PathProblem} */
  expect(token: string): void {
    if (!this.take(token)) this.fail(`"${token}"`);
  }

  /** What does not go on as expected. @throws {PathProblem} */
  fail(expected: string): never {
    return this.refuse(this.found, this.at, `, expected ${expected}.`);
  }

  /** @throws {PathProblem} `found FOUND at column N` and the rest */
  refuse(found: string, offset: number, rest = "."): never {
    throw new PathProblem(
      `found ${found} at ${placeInWords(this.text, spanAt(this.text, offset))}${rest}`,
      offset,
    );
  }

  /** Reads what may hold more of its kind. @throws {PathProblem} when that nests too deep */
  nested<Value>(read: () => Value): Value {
    if (++this.#depth > MAX_DEPTH) this.refuse(`more than ${MAX_DEPTH} levels`, this.at);
    const value = read();
    this.#depth--;
    return value;
  }
}
