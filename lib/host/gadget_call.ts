// One call while it is open.

import { apply, getterOf, OwnPromise } from "./gadget_primordials.ts";
import { ToldBudget } from "./gadget_told.ts";

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
