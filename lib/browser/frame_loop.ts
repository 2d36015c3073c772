/// <reference lib="dom" />

/** Shows what is new once for each picture of the browser, however much has come; and now and then while `isTicking`, for times that run. */
export class FrameLoop {
  readonly #show: () => void;
  readonly #isTicking: () => boolean;
  #isDue = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(show: () => void, { isTicking }: { readonly isTicking: () => boolean }) {
    this.#show = show;
    this.#isTicking = isTicking;
  }

  /** Something is new. */
  due(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    requestAnimationFrame(() => this.#frame());
  }

  #frame(): void {
    this.#isDue = false;
    this.#show();
    clearTimeout(this.#timer);
    if (this.#isTicking()) this.#timer = setTimeout(() => this.due(), TICK_MS);
  }
}

const TICK_MS = 250;
