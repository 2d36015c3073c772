// A journal that takes nothing on trust, for the tests alone. What goes in comes out as JSON text would have it; and whoever is the first
// to enter a step is lost in it, in half of the steps before the effect has happened, in the others behind it, before its outcome is kept.
// So each step that a run begins is entered once more, by another process: it is performed again where that is safe, else the process finds
// the claim of the one before, and asks.

import assert from "node:assert/strict";
import type { Journal, Json, RunJournal } from "../mod.ts";
import { pause } from "./_waiting.ts";

/** Where the first process of a step is lost. */
export type Loss = "before its effect" | "behind its effect";

/** A journal whose runs are lost again and again. */
export interface StrictJournal extends Journal {
  /** The process that has opened a run last is lost: the run has to be opened again. */
  readonly isLost: boolean;
  /** The steps whose first process was lost, by their keys. */
  readonly losses: ReadonlyMap<string, Loss>;
  /** The keys of steps that were found claimed, with the attempt whose claim it is. */
  readonly claims: ReadonlyMap<string, number>;
}

/** @param inner has to give a run away that nobody has released: `isAlive: () => false` */
export function strictJournal(inner: Journal, { seed = 1 }: { readonly seed?: number } = {}): StrictJournal {
  let process = { isLost: false };
  const losses = new Map<string, Loss>();
  const claims = new Map<string, number>();
  const held = (run: RunJournal): RunJournal => {
    const own: { isLost: boolean } = process = { isLost: false };
    const first = new Set<string>();
    const lose = (): never => {
      if (!own.isLost) run.commit(); // what has begun is kept
      own.isLost = true;
      throw new Error("the process is lost");
    };
    const there = <Result>(work: () => Result): Result => own.isLost ? lose() : work();
    const end = (key: string): void => {
      if (!first.delete(key)) return;
      losses.set(key, "behind its effect");
      lose();
    };
    return around(run, {
      begin: (step, options) =>
        there(() => {
          const turn = throughJson(run.begin(throughJson(step), options));
          const { key } = step;
          if (turn.do === "unverified") claims.set(key, turn.attempt);
          if (turn.do !== "perform" || turn.attempt > 1) return turn;
          if (lossOf(key, seed) === "behind its effect") return first.add(key), turn;
          losses.set(key, "before its effect");
          return lose();
        }),
      end: (key, outcome) => there(() => (end(key), run.end(key, throughJson(outcome)))),
      finish: (key, outcome) => there(() => (end(key), run.finish(key, throughJson(outcome)))),
      commit: () => there(() => run.commit()),
      prefix: (key, piece) => there(() => run.prefix(key, throughJson(piece))),
      file: (stored) => there(() => run.file(throughJson(stored))),
      tell: (event) => own.isLost ? undefined : run.tell(throughJson(event)),
      save: (saved) => own.isLost ? undefined : run.save(throughJson(saved)),
      release: (status, usage) => there(() => run.release(status, usage)),
    });
  };
  return around<StrictJournal>(inner as StrictJournal, {
    losses,
    claims,
    get isLost() {
      return process.isLost;
    },
    create: (run) => held(inner.create(throughJson(run))),
    open: (id) => held(inner.open(id)),
  });
}

/** A test of runs that go on after a kill: in a journal as it is, and in a strict one. */
export function inBothJournals(
  name: string,
  work: (goesOn: { readonly isStrict: boolean }) => void | Promise<void>,
): void {
  Deno.test(name, () => work({ isStrict: false }));
  Deno.test(`${name}, each step entered twice`, () => work({ isStrict: true }));
}

/** How a run goes on. */
export interface GoneOn<Told> {
  /** Says what is to become of steps whose end nobody knows. */
  settle?(run: RunJournal): void;
  start(run: RunJournal): Promise<Told>;
}

/** Goes on with a run to its end, in a strict journal through as many processes as it takes; gives what the last one told. */
export async function goneOn<Told>(
  journal: Journal | StrictJournal,
  id: string,
  { settle, start }: GoneOn<Told>,
): Promise<Told> {
  for (let lives = 1; lives < 200; lives++) {
    const run = journal.open(id);
    settle?.(run);
    const told = await start(run);
    if (!("isLost" in journal) || !journal.isLost) return told;
    await pause(3); // what still ran has ended by now
  }
  return assert.fail(`run ${id} does not end`);
}

/** Always the same of one key. */
function lossOf(key: string, seed: number): Loss {
  let hash = seed;
  for (const letter of key) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  return (hash >>> 8) % 2 === 0 ? "before its effect" : "behind its effect";
}

function throughJson<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value satisfies unknown as Json));
}

/** Does some things in its own way, and everything else as what is inside. */
function around<Whole extends object>(inner: Whole, own: Partial<Whole>): Whole {
  return new Proxy(inner, {
    has: (_target, name) => Object.hasOwn(own, name) || Reflect.has(inner, name),
    get(_target, name) {
      if (Object.hasOwn(own, name)) return Reflect.get(own, name);
      const value: unknown = Reflect.get(inner, name);
      return typeof value === "function" ? value.bind(inner) : value;
    },
  });
}
