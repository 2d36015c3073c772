// What comes of a step that is begun inside of another one. The outer step's outcome stands for it after a resume, and then nobody begins it
// in there: whoever waits for it from outside would do it a second time.

import type { PromptError } from "../core/prompt_error.ts";

/** A promise that refuses to be waited for from outside of the place it was begun in. */
export class StepPromise<Outcome> extends Promise<Outcome> {
  #refusal: () => PromptError | undefined = () => undefined;

  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  /** @param refusal why whoever waits here and now may not; undefined: they may */
  static of<Outcome>(
    outcome: Promise<Outcome>,
    refusal: () => PromptError | undefined,
  ): StepPromise<Outcome> {
    const promise = new StepPromise<Outcome>((resolve, reject) => outcome.then(resolve, reject));
    promise.#refusal = refusal;
    return promise;
  }

  override then<Then = Outcome, Else = never>(
    onDone?: ((outcome: Outcome) => Then | PromiseLike<Then>) | null,
    onFailed?: ((error: unknown) => Else | PromiseLike<Else>) | null,
  ): Promise<Then | Else> {
    const refusal = this.#refusal();
    if (refusal === undefined) return super.then(onDone, onFailed);
    super.then(undefined, () => undefined);
    return Promise.reject(refusal).then(onDone, onFailed);
  }
}
