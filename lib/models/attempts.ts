import type { ModelPart } from "../core/model.ts";

/** A call that has only begun is none: the attempt behind it begins anew. */
const NOT_SHOWN: ReadonlySet<ModelPart["type"]> = new Set(["retry", "call-start", "call-delta"]);

/** The next attempt: what is told of it, and how it begins. */
export interface NextAttempt {
  readonly part: Extract<ModelPart, { type: "retry" }>;
  open(): Promise<AsyncIterator<ModelPart>>;
}

/**
 * The parts of one attempt after another, until one shows something; from there on it is that attempt alone, whatever comes of
 * it, and it is passed through at no cost.
 */
export class Attempts implements AsyncIterator<ModelPart> {
  readonly #after: (error: unknown) => NextAttempt;
  #current: AsyncIterator<ModelPart> | undefined;
  #open: (() => Promise<AsyncIterator<ModelPart>>) | undefined;
  #isShown = false;

  /** `after` says what follows a failure; it throws when that is the end. */
  constructor(
    first: AsyncIterator<ModelPart>,
    options: { readonly after: (error: unknown) => NextAttempt },
  ) {
    this.#current = first;
    this.#after = options.after;
  }

  next(): Promise<IteratorResult<ModelPart>> {
    return this.#isShown && this.#current !== undefined ? this.#current.next() : this.#first();
  }

  async return(): Promise<IteratorResult<ModelPart>> {
    await this.#current?.return?.();
    this.#open = undefined;
    this.#current = undefined;
    return { done: true, value: undefined };
  }

  async #first(): Promise<IteratorResult<ModelPart>> {
    const open = this.#open;
    this.#open = undefined;
    try {
      if (open !== undefined) this.#current = await open();
      if (this.#current === undefined) return { done: true, value: undefined };
      const result = await this.#current.next();
      this.#isShown = result.done === true || !NOT_SHOWN.has(result.value.type);
      return result;
    } catch (error) {
      const next = this.#after(error);
      this.#open = () => next.open();
      return { done: false, value: next.part };
    }
  }
}
