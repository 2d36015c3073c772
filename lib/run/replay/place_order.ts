// In which order a program gets what comes of its steps and turns. A program whose only chance is that order does the same again when it
// gets the same in the same order: so outcomes are given one in a turn of the event loop, and after a resume in the recorded order, each
// when all that was begun and given before it has been begun and given again.

import { eventLoopTurn } from "../../core/core.ts";

/** A step or a turn's answer was begun or ended before the run was resumed. */
export interface RecordedMark {
  readonly key: string;
  readonly isEnd: boolean;
  /** ms of the run's own time. */
  readonly at: number;
}

interface Entry {
  readonly key: string;
  readonly index: number;
  readonly isEnd: boolean;
  readonly at: number;
  /** The key was begun in this process. */
  isBegun: boolean;
  /** What came of it is known, and the program does not have it yet. */
  isKnown: boolean;
  isDone: boolean;
  /** Who waits for it. */
  give?: () => void;
}

/** A program that does not come again to what it had begun is given this much longer than it took then. */
const PATIENCE_MS = 2_000;
const LONGEST_PATIENCE_MS = 60_000;

/** The order of one program: of a tactic, or of what one call or step does inside. */
export class PlaceOrder {
  readonly #entries: Entry[] = [];
  readonly #begins = new Map<string, Entry>();
  readonly #ends = new Map<string, Entry>();
  readonly #recorded: readonly RecordedMark[];
  readonly #startedAt = performance.now();
  /** So many wait for an end that has a place in the order. */
  #waiting = 0;
  /** Their turn has come, or they have none. */
  readonly #due: (() => void)[] = [];
  #head = 0;
  #stepHead = 0;
  #isGiving = false;
  #isLost = false;
  #isOver = false;
  #patience: ReturnType<typeof setTimeout> | undefined;

  constructor(recorded: readonly RecordedMark[] = []) {
    this.#recorded = recorded;
    for (const { key, isEnd, at } of recorded) {
      if (!isEnd && this.#begins.has(key)) continue; // an attempt that was not the first
      const before = isEnd ? this.#ends.get(key) : undefined;
      if (before !== undefined) before.isDone = true; // the last attempt's is what was given
      this.#add(key, { isEnd, at });
    }
  }

  /** The order could not be kept: the program has not come again to what it had begun. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** The program begins a step, or a turn asks its model. */
  begun(key: string): void {
    const entry = this.#begins.get(key) ?? this.#add(key, { isEnd: false, at: 0 });
    entry.isBegun = true;
    entry.isDone = true;
    const end = this.#ends.get(key);
    if (end !== undefined) end.isBegun = true;
    this.#go();
  }

  /** What came of it is known: from now on nothing that is known later is given before it. */
  ended(key: string): void {
    const entry = this.#ends.get(key) ?? this.#add(key, { isEnd: true, at: 0 });
    entry.isBegun = true;
    entry.isKnown = true;
    this.#go();
  }

  /** It was for the turn only, which goes on. */
  passed(key: string): void {
    const entry = this.#ends.get(key);
    if (entry !== undefined) entry.isDone = true;
    this.#go();
  }

  /** Settles when the program may have what came of it, at once when the signal is aborted. Default: it has no turn to wait for. */
  async given(key: string | undefined, signal: AbortSignal): Promise<void> {
    const entry = key === undefined ? undefined : this.#ends.get(key);
    if (signal.aborted) return this.#leave(entry);
    const turn = Promise.withResolvers<void>();
    const onAbort = (): void => {
      this.#leave(entry);
      turn.resolve();
    };
    signal.addEventListener("abort", onAbort, { once: true });
    if (entry === undefined || entry.isDone || entry.index < this.#head) this.#due.push(turn.resolve);
    else {
      entry.give = turn.resolve;
      this.#waiting++;
    }
    this.#go();
    await turn.promise;
    signal.removeEventListener("abort", onAbort);
  }

  /** Whether all steps that had begun before this one have begun again. */
  isInOrder(key: string): boolean {
    const entry = this.#begins.get(key);
    if (entry === undefined) return true;
    while (this.#stepHead < entry.index) {
      const before = this.#entries[this.#stepHead];
      if (before !== undefined && !before.isEnd && !before.isBegun && isStepKey(before.key)) return false;
      this.#stepHead++;
    }
    return true;
  }

  /** Whether something was begun whose key begins so. */
  hasKeyFrom(beginning: string): boolean {
    return this.#recorded.some(({ key }) => key.startsWith(beginning));
  }

  /** The program is over. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#patience);
  }

  #add(key: string, { isEnd, at }: { readonly isEnd: boolean; readonly at: number }): Entry {
    const index = this.#entries.length;
    const entry = { key, index, isEnd, at, isBegun: false, isKnown: false, isDone: false };
    this.#entries.push(entry);
    (isEnd ? this.#ends : this.#begins).set(key, entry);
    return entry;
  }

  #leave(entry: Entry | undefined): void {
    if (entry === undefined) return;
    this.#taken(entry);
    entry.isDone = true;
    this.#go();
  }

  /** Who waits for an end; from now on nobody does. */
  #taken(entry: Entry): (() => void) | undefined {
    const { give } = entry;
    if (give !== undefined) this.#waiting--;
    entry.give = undefined;
    return give;
  }

  #go(): void {
    if (this.#isGiving) return;
    clearTimeout(this.#patience);
    if (this.#next() === undefined) return this.#watch();
    this.#isGiving = true;
    eventLoopTurn().then(() => {
      this.#isGiving = false;
      this.#next()?.();
      this.#go();
    });
  }

  /** What may be given now. */
  #next(): (() => void) | undefined {
    for (let entry = this.#entries[this.#head]; entry !== undefined; entry = this.#entries[this.#head]) {
      const isOver = entry.isDone || (this.#isLost && !entry.isBegun);
      if (!isOver) break;
      const late = this.#taken(entry);
      if (late !== undefined) this.#due.push(late);
      this.#head++;
    }
    if (this.#due.length > 0) return () => this.#due.shift()?.();
    const entry = this.#entries[this.#head];
    if (entry?.give === undefined) return undefined;
    return () => {
      entry.isDone = true;
      this.#taken(entry)?.();
    };
  }

  /** Nothing may be given: what is waited for may never come. */
  #watch(): void {
    const entry = this.#entries[this.#head];
    if (entry === undefined || this.#waiting === 0 || this.#isOver) return;
    if (entry.isBegun && !entry.isKnown) return; // it is being done
    const tookMs = entry.at - (performance.now() - this.#startedAt);
    const ms = entry.isKnown ? 0 : Math.min(Math.max(0, tookMs), LONGEST_PATIENCE_MS);
    this.#patience = setTimeout(() => {
      if (entry.isKnown) entry.isDone = true; // a turn that takes its time with its answer
      else this.#isLost = true;
      this.#go();
    }, ms + PATIENCE_MS);
  }
}

function isStepKey(key: string): boolean {
  return /(?:^|\/)step:[^/]*$/.test(key);
}
