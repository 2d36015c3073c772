/** Text between blocks, for people: any number of blank lines is one, and one that nothing follows is none. */
export class BlankLines {
  #lineHasText = false;
  #isBlankDue = false;
  #hasText = false;

  /** What to show of the text that comes next. */
  fold(text: string): string {
    return text.replaceAll(/\n|[^\n]+/g, (part) => part === "\n" ? this.#lineEnding() : this.#words(part));
  }

  #lineEnding(): string {
    const ending = this.#lineHasText ? "\n" : "";
    this.#isBlankDue ||= !this.#lineHasText;
    this.#lineHasText = false;
    return ending;
  }

  #words(part: string): string {
    const blank = this.#isBlankDue && this.#hasText ? "\n" : "";
    this.#isBlankDue = false;
    this.#lineHasText = this.#hasText = true;
    return blank + part;
  }
}
