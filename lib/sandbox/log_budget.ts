/** What a call may log, and not more: it is no use to anybody, and a loop that logs would fill the journal. */
export interface LogLimits {
  readonly messages: number;
  readonly characters: number;
}

/** What Orrery takes of a call, whatever its process says. */
const MOST: LogLimits = { messages: 10_000, characters: 1024 * 1024 };

/** Lets the first part of what a call logs through, and counts the rest; the process counts, and Orrery again, since a process may lie. */
export class LogBudget {
  readonly #limits: LogLimits;
  #messages = 0;
  #characters = 0;
  #missingMessages = 0;
  #missingCharacters = 0;

  constructor(limits: LogLimits = MOST) {
    this.#limits = limits;
  }

  /** What of a text is let through; undefined for nothing. @param options.isFull what was let through before is not sent yet */
  take(text: string, { isFull = false }: { readonly isFull?: boolean } = {}): string | undefined {
    const { messages, characters } = this.#limits;
    const left = isFull || this.#messages >= messages ? 0 : characters - this.#characters;
    const told = text.length <= left ? text : text.slice(0, left).replace(/[\uD800-\uDBFF]$/, "");
    if (told.length < text.length) this.#missingMessages++;
    this.#missingCharacters += text.length - told.length;
    if (left <= 0) return undefined;
    this.#messages++;
    this.#characters += told.length;
    return told;
  }

  /** A line that says how much is missing; undefined when nothing is. */
  get lastWord(): string | undefined {
    if (this.#missingMessages === 0) return undefined;
    const { messages, characters } = this.#limits;
    const limit =
      `a call may log ${messages} times and ${characters} characters, and no faster than they can be sent`;
    return `\n[cut: ${this.#missingCharacters} characters in ${this.#missingMessages} messages of this log are missing; ${limit}]\n`;
  }
}
