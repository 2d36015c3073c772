// What a conversation tells, in the order of its file: of steps that run side by side, each waits until those before it are done.

import type { RunEventBody } from "../core/event.ts";

/** What leaves a step: an event, or a whole message, whose place in the log is known when its turn has come. */
export type Told = RunEventBody | { readonly type: "say"; readonly step: string; readonly text: string };

/** A way out that may have to wait. */
export class Outlet {
  readonly #sink: (told: Told) => void;
  #waiting: Told[] | undefined;

  constructor(sink: (told: Told) => void, { isOpen }: { readonly isOpen: boolean }) {
    this.#sink = sink;
    this.#waiting = isOpen ? undefined : [];
  }

  push(told: Told): void {
    if (this.#waiting === undefined) this.#sink(told);
    else this.#waiting.push(told);
  }

  open(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const told of waiting) this.#sink(told);
  }
}

/** Ways out for works that run side by side: each opens when all before it have ended. */
export function orderedOutlets(
  count: number,
  sink: (told: Told) => void,
): { readonly outlets: readonly Outlet[]; ended(index: number): void } {
  const outlets = Array.from({ length: count }, (_, index) => new Outlet(sink, { isOpen: index === 0 }));
  const hasEnded = outlets.map(() => false);
  let current = 0;
  return {
    outlets,
    ended(index) {
      hasEnded[index] = true;
      while (hasEnded[current] === true) outlets[++current]?.open();
    },
  };
}
