import { ServiceError } from "./service.ts";

/** What counts against the room there is. */
export interface RunRoomOptions {
  /** Runs under way. */
  readonly underWay: () => number;
  /** How many there may be, as the settings say now. */
  readonly limit: () => number;
  /** The process is about to end. */
  readonly isStopping: () => boolean;
}

/** How many runs there are, and whether there may be one more. */
export class RunRoom {
  readonly #options: RunRoomOptions;
  /** Accepted, and not among the runs yet. */
  #opening = 0;
  #onOpened: (() => void)[] = [];

  constructor(options: RunRoomOptions) {
    this.#options = options;
  }

  get active(): number {
    return this.#options.underWay() + this.#opening;
  }

  get limit(): number {
    return this.#options.limit();
  }

  /** @throws {ServiceError} `stopping` */
  assertGoing(): void {
    if (!this.#options.isStopping()) return;
    throw new ServiceError("Orrery is about to end: nothing new begins", { code: "stopping" });
  }

  /** @throws {ServiceError} `stopping`, `limit` */
  assertRoom(): void {
    this.assertGoing();
    const { limit } = this;
    if (this.active < limit) return;
    throw new ServiceError(
      `${limit} runs are under way, as many as there may be (limits.runs): try again when one has ended`,
      { code: "limit", details: { limit } },
    );
  }

  /** Takes a place for a run, until that is among those under way or does not begin; what it gives leaves it, once. @throws as `assertRoom` */
  enter(): () => void {
    this.assertRoom();
    this.#opening++;
    let isIn = true;
    return () => {
      if (isIn) this.#left();
      isIn = false;
    };
  }

  /** Settles when everything that was accepted is under way, or does not begin. */
  async opened(): Promise<void> {
    if (this.#opening === 0) return;
    await new Promise<void>((resolve) => this.#onOpened.push(resolve));
  }

  #left(): void {
    if (--this.#opening > 0) return;
    for (const wake of this.#onOpened) wake();
    this.#onOpened = [];
  }
}
