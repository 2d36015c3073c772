// One call while it is open.

import { apply, getterOf, OwnPromise } from "./primordials.ts";

const OwnController = AbortController;
const OwnException = DOMException;
const { abort } = AbortController.prototype;
const signalOf = getterOf(AbortController.prototype, "signal");

/** How many pieces of a streamed result may be on the way. */
export const PIECE_WINDOW = 16;

/** A call of `run`, or of `format`. */
export class OpenCall {
  readonly id: number;
  readonly told = new ToldBudget();
  readonly #controller = new OwnController();
  readonly #signal: unknown = apply(signalOf, this.#controller, []);
  #state: "open" | "ended" | "cancelled" = "open";
  #room = PIECE_WINDOW;
  #onRoom: (() => void) | undefined;

  constructor(id: number) {
    this.id = id;
  }

  static isOne(value: unknown): value is OpenCall {
    return typeof value === "object" && value !== null && #state in value;
  }

  get state(): "open" | "ended" | "cancelled" {
    return this.#state;
  }

  /** Aborted when the call is cancelled. */
  get signal(): unknown {
    return this.#signal;
  }

  /** Nothing is told of it any more. */
  end(): void {
    this.#state = "ended";
  }

  /** @param reason why, in words, for the error that the gadget's signal has */
  cancel(reason: string): void {
    this.#state = "cancelled";
    this.#wake();
    apply(abort, this.#controller, [new OwnException(reason, "AbortError")]);
  }

  /** Orrery has taken so many pieces. */
  addRoom(count: number): void {
    this.#room += count;
    this.#wake();
  }

  /** Waits until a piece may be sent, or the call is over. */
  async takeRoom(): Promise<void> {
    while (this.#room <= 0 && this.#state === "open") {
      await new OwnPromise<void>((resolve) => this.#onRoom = resolve);
    }
    this.#room--;
  }

  #wake(): void {
    const onRoom = this.#onRoom;
    this.#onRoom = undefined;
    if (onRoom !== undefined) onRoom();
  }
}

/** A little less than lib/sandbox/log_budget.ts lets through: what was left out has to be said too. */
const MOST_MESSAGES = 9_990;
const MOST_CHARACTERS = 1024 * 1024 - 4096;
const MOST_PROGRESS = 9_990;

/** How far a call is. */
export interface ToldProgress {
  readonly done: number;
  readonly total: number | undefined;
}

/**
 * What one call may tell by the way. A loop that logs could tell more than anybody reads, and faster than it can be sent: what is too much is
 * counted, and said once.
 */
export class ToldBudget {
  #messages = 0;
  #characters = 0;
  #missingMessages = 0;
  #missingCharacters = 0;
  #reports = 0;
  #missingReports = 0;
  #lastReport: ToldProgress | undefined;

  /** How many characters of a message may be told. @param isFull what was told before is not sent yet */
  roomFor(length: number, isFull: boolean): number {
    const left = isFull || this.#messages >= MOST_MESSAGES ? 0 : MOST_CHARACTERS - this.#characters;
    const room = length < left ? length : left;
    if (room < length) this.#missingMessages++;
    this.#missingCharacters += length - room;
    if (room > 0) this.#messages++;
    this.#characters += room;
    return room;
  }

  /** Whether this progress is told now; else it may be the last one. */
  takes(progress: ToldProgress, isFull: boolean): boolean {
    const isTold = !isFull && this.#reports < MOST_PROGRESS;
    this.#lastReport = isTold ? undefined : progress;
    if (isTold) this.#reports++;
    else this.#missingReports++;
    return isTold;
  }

  /** The last progress, when it was not told. */
  get lastReport(): ToldProgress | undefined {
    return this.#lastReport;
  }

  /** Lines that say what was left out; empty when nothing was. */
  get lastWords(): string {
    const log = this.#missingMessages === 0
      ? ""
      : `\n[cut: ${this.#missingCharacters} characters in ${this.#missingMessages} messages of this log are missing; ` +
        `a call may log ${MOST_MESSAGES} times and ${MOST_CHARACTERS} characters, and no faster than they can be sent]\n`;
    const reports = this.#missingReports - (this.#lastReport === undefined ? 0 : 1);
    if (reports === 0) return log;
    return `${log}\n[cut: ${reports} reports of progress are left out; a call may tell ${MOST_PROGRESS}, and no faster than they can be sent]\n`;
  }
}
