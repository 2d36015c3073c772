// Where journals can be, each shared by processes that are played: one may die, or be on another machine.

import assert from "node:assert/strict";
import { join } from "node:path";
import type { Journal, JournalOptions } from "../mod.ts";
import { journalOver } from "../lib/journal/journal_over.ts";
import { memoryStore } from "../lib/journal/memory_journal.ts";
import { sqliteJournal } from "../lib/journal/sqlite_journal.ts";
import type { RunOwner } from "../lib/core/journal.ts";
import type { Secrets } from "../lib/core/world.ts";

/** One place, and the processes that use it. */
export interface Place {
  /** The journal as a process sees it; `pid` 1 on "here" unless said otherwise. */
  journal(process?: { readonly pid?: number; readonly host?: string; readonly secrets?: Secrets }): Journal;
  /** What `isAlive` says of a process of "here": by default that it is. */
  readonly alive: Map<number, boolean | undefined>;
  /** Lets the time go on; signs of life are given on the way. */
  pass(ms: number): void;
}

/** Makes places of one kind. */
export type PlaceKind = (work: (place: Place) => void) => void;

interface Machine extends Omit<Place, "journal"> {
  options(
    process: { readonly pid?: number; readonly host?: string; readonly secrets?: Secrets },
  ): JournalOptions & {
    readonly owner: RunOwner;
  };
}

function machine(): Machine {
  const alive = new Map<number, boolean | undefined>();
  const timers = new Map<() => void, { readonly ms: number; readonly pid: number; due: number }>();
  let time = Date.UTC(2025, 10, 21, 12);
  return {
    alive,
    pass(ms) {
      const until = time + ms;
      for (; time < until; time += Math.min(1000, until - time)) {
        for (const [work, timer] of timers) {
          if (timer.due > time || alive.get(timer.pid) === false) continue;
          timer.due = time + timer.ms;
          work();
        }
      }
    },
    options: ({ pid = 1, host = "here", secrets }) => ({
      owner: { host, pid, startedAt: `start of ${pid}` },
      isAlive: (owner) => alive.has(owner.pid) ? alive.get(owner.pid) : true,
      every(ms, work) {
        timers.set(work, { ms, pid, due: time + ms });
        return () => void timers.delete(work);
      },
      now: () => time,
      clock: { now: () => time, sleep: () => Promise.reject(new Error("a journal does not wait")) },
      ...(secrets === undefined ? {} : { secrets }),
    }),
  };
}

const inMemory: PlaceKind = (work) => {
  const { options, ...rest } = machine();
  const store = memoryStore();
  work({ ...rest, journal: (process = {}) => journalOver(store, options(process)) });
};

const inSqlite: PlaceKind = (work) => {
  const { options, ...rest } = machine();
  withDatabase((path) => {
    const opened: Journal[] = [];
    const journal: Place["journal"] = (process = {}) => {
      const journal = sqliteJournal(path, options(process));
      opened.push(journal);
      return journal;
    };
    try {
      work({ ...rest, journal });
    } finally {
      for (const journal of opened) close(journal);
    }
  });
};

/** Opens the file for each operation anew, and for each run, until that is released. */
const inReopenedSqlite: PlaceKind = (work) =>
  inSqlite((place) => work({ ...place, journal: (process) => reopened(() => place.journal(process)) }));

function reopened(open: () => Journal): Journal {
  const once = <Result>(work: (journal: Journal) => Result): Result => {
    const journal = open();
    try {
      return work(journal);
    } finally {
      close(journal);
    }
  };
  const kept = <Result>(work: (journal: Journal) => Result): Result => {
    const journal = open();
    try {
      return work(journal);
    } catch (error) {
      close(journal);
      throw error;
    }
  };
  return {
    create: (run) => kept((journal) => journal.create(run)),
    open: (id) => kept((journal) => journal.open(id)),
    list: (options) => once((journal) => journal.list(options)),
    read: (id) => once((journal) => journal.read(id)),
    events: (id, range) => once((journal) => journal.events(id, range)),
    conversation: (id, messages) => once((journal) => journal.conversation(id, messages)),
    outcome: (id, key) => once((journal) => journal.outcome(id, key)),
    fork: (id, options) => once((journal) => journal.fork(id, options)),
    branch: (id, options) => once((journal) => journal.branch(id, options)),
    slots: (scope) => once((journal) => journal.slots(scope)),
    remove: (id) => once((journal) => journal.remove(id)),
    [Symbol.dispose]: () => undefined,
  };
}

function close(journal: Journal): void {
  try {
    journal[Symbol.dispose]();
  } catch { /* closed already, or a run that another process has taken */ }
}

/** A path for a database in a folder that is gone afterwards. */
export function withDatabase(work: (path: string) => void): void {
  const folder = Deno.makeTempDirSync({ prefix: "orrery-journal-" });
  try {
    Deno.mkdirSync(join(folder, ".orrery"));
    work(join(folder, ".orrery", "orrery.db"));
  } finally {
    Deno.removeSync(folder, { recursive: true });
  }
}

/** All kinds of places. */
export const PLACES: Readonly<Record<string, PlaceKind>> = {
  memory: inMemory,
  SQLite: inSqlite,
  "SQLite, opened anew": inReopenedSqlite,
};

/** Asserts that this throws an error of that type with that message. */
export function fails(
  work: () => unknown,
  expected: { readonly type: new (...args: never[]) => Error; readonly message: string | RegExp },
): void {
  assert.throws(work, (error) => {
    assert.ok(error instanceof expected.type, `expected ${expected.type.name}, found ${error}`);
    if (typeof expected.message === "string") assert.equal(error.message, expected.message);
    else assert.match(error.message, expected.message);
    return true;
  });
}
