/** What stands between two texts that were said one behind the other. */
export const BETWEEN = "\n\n";

/**
 * Puts together what is told of texts that come piece by piece and then whole. What was told cannot be taken back: where a whole text is not
 * what its pieces were, it is told behind them.
 */
export class ToldText {
  #told = "";
  #open: { readonly step: string; text: string } | undefined;

  /** All that was told. */
  get all(): string {
    return this.#told;
  }

  /** A piece of what a step says; gives what is to be told. */
  piece(step: string, text: string): string {
    if (text === "") return "";
    const before = this.#open?.step === step ? "" : this.#begin(step);
    if (this.#open !== undefined) this.#open.text += text;
    return this.#tell(before + text);
  }

  /** All that a step says; gives what is missing of it. */
  whole(step: string, text: string): string {
    const said = this.#open?.step === step && text.startsWith(this.#open.text) ? this.#open.text : undefined;
    const rest = said === undefined ? text === "" ? "" : this.#begin(step) + text : text.slice(said.length);
    this.#open = undefined;
    return this.#tell(rest);
  }

  /** What was said last is no part of a text that goes on. */
  cut(): void {
    this.#open = undefined;
  }

  #begin(step: string): string {
    this.#open = { step, text: "" };
    return this.#told === "" ? "" : BETWEEN;
  }

  #tell(text: string): string {
    this.#told += text;
    return text;
  }
}
