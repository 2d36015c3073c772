/** What a call may log: more than that is no use to anybody, and a loop that logs would fill the journal. */
const MOST_MESSAGES = 10_000;
const MOST_CHARACTERS = 1024 * 1024;

/** Lets the first part of what a call logs through, and counts the rest. */
export class LogBudget {
  #messages = 0;
  #characters = 0;
  #missing = 0;

  /** What of a text is let through; undefined for nothing. */
  take(text: string): string | undefined {
    const room = MOST_CHARACTERS - this.#characters;
    if (this.#messages >= MOST_MESSAGES || room <= 0) {
      this.#missing += text.length;
      return undefined;
    }
    this.#messages++;
    this.#characters += text.length;
    this.#missing += Math.max(0, text.length - room);
    return text.length <= room ? text : text.slice(0, room);
  }

  /** A line that says how much is missing; undefined when nothing is. */
  get lastWord(): string | undefined {
    if (this.#missing === 0) return undefined;
    const limit = `a call may log ${MOST_MESSAGES} times and ${MOST_CHARACTERS} characters`;
    return `\n[cut: ${this.#missing} characters of this log are missing; ${limit}]\n`;
  }
}
