import { NumberHeap } from "./number_heap.ts";

interface Series {
  /** All numbers below it are taken, or among the freed ones. */
  next: number;
  readonly freed: NumberHeap;
}

const NUMBERED = /^(.+)-([1-9][0-9]{0,8})$/su;

/** Finds the lowest free number of an id that is taken, without asking for those again that were taken before. */
export class IdNumbers {
  readonly #series = new Map<string, Series>();

  /** The lowest number from 2 with which an id, as it is compared, is free. */
  lowest(key: string, isTaken: (key: string) => boolean): number {
    let series = this.#series.get(key);
    if (series === undefined) this.#series.set(key, series = { next: 2, freed: new NumberHeap() });
    for (let freed = series.freed.pop(); freed !== undefined; freed = series.freed.pop()) {
      if (!isTaken(`${key}-${freed}`)) return freed;
    }
    while (isTaken(`${key}-${series.next}`)) series.next++;
    return series.next++;
  }

  /** Notes that an id, as it is compared, is no longer taken. */
  free(key: string): void {
    const [, base, digits] = NUMBERED.exec(key) ?? [];
    if (base === undefined) return;
    const series = this.#series.get(base);
    const number = Number(digits);
    if (series !== undefined && number >= 2 && number < series.next) series.freed.push(number);
  }
}
