const MAX_LINE = 1_000;
const KEPT_LINES = 5;

/** What a server says besides the protocol, as lines; the last ones are kept for the error of a server that ends. */
export class ServerLog {
  readonly #onLine: (line: string) => void;
  readonly #last: string[] = [];
  #rest = "";

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** A piece of its stderr. */
  stderr(text: string): void {
    const lines = (this.#rest + text).split(/\r?\n/);
    this.#rest = (lines.pop() ?? "").slice(0, MAX_LINE); // a line without an end does not grow
    lines.forEach((line) => this.#add(line));
  }

  /** Something on its stdout that is no message. */
  stray(text: string): void {
    this.#add(`stdout: ${text}`);
  }

  /** No more comes. */
  end(): void {
    this.#add(this.#rest);
    this.#rest = "";
  }

  lastLines(): readonly string[] {
    return this.#last;
  }

  #add(line: string): void {
    if (line.trim() === "") return;
    const shown = line.slice(0, MAX_LINE).trimEnd();
    this.#last.push(shown);
    if (this.#last.length > KEPT_LINES) this.#last.shift();
    this.#onLine(shown);
  }
}
