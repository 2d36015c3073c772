import { FlowScan } from "./flow_scan.ts";

/**
 * The value of the key that was read last: whether lines below an empty one still belong to it (documents.md 2.8).
 * It is made from what stands behind the colon, and `add` is given each line below, which is indented or an item.
 */
export class OpenValue {
  /** Nothing stands on the line of the key: a list or a mapping may follow. */
  readonly isMissing: boolean;
  readonly #isBlock: boolean;
  readonly #flow: FlowScan | undefined;

  constructor(rest: string) {
    const value = rest.replace(/^[ \t]+/, "");
    this.isMissing = value === "" || value.startsWith("#");
    this.#isBlock = value.startsWith("|") || value.startsWith(">");
    if (/^["'[{]/.test(value)) this.#flow = new FlowScan(value);
  }

  add(line: string): void {
    this.#flow?.add(line);
  }

  /** Whether an indented line belongs to it, also below an empty line. */
  get takesIndented(): boolean {
    return this.isMissing || this.#isBlock || this.#flow?.isOpen === true;
  }
}
