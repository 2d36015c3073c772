// A run's events from a place on: the same as of its whole trace, and found without reading the rest.

import assert from "node:assert/strict";
import fc from "fast-check";
import type { Journal, RunEvent, RunEventBody, RunJournal } from "../mod.ts";
import { RunNotFoundError } from "../lib/core/journal.ts";
import type { EventRange } from "../lib/core/journal.ts";
import { journalOver } from "../lib/journal/journal_over.ts";
import { memoryStore } from "../lib/journal/memory_journal.ts";
import { createSecrets } from "../lib/journal/secrets.ts";
import type { JournalStore } from "../lib/journal/store.ts";
import { PLACES } from "./_journal_places.ts";

const START = { kind: "calls", input: null };

/** Tells events with the numbers that a run gives them. */
function teller(run: RunJournal): (body: RunEventBody) => RunEvent {
  let seq = run.lastSeq;
  return (body) => {
    const event = { ...body, seq: ++seq, at: seq, run: run.id };
    run.tell(event);
    return event;
  };
}

const seqsOf = (events: readonly RunEvent[]) => events.map(({ seq }) => seq);

/** All of it, a part at a time. */
function inParts(journal: Journal, id: string, { after = 0, ...bounds }: EventRange): readonly RunEvent[] {
  const all: RunEvent[] = [];
  for (let place = after;;) {
    const part = journal.events(id, { ...bounds, after: place });
    const last = part.at(-1);
    if (last === undefined) return all;
    assert.ok(last.seq > place);
    all.push(...part);
    place = last.seq;
  }
}

/** What is told between two commits: a text of this length, or a delta, which is not kept. */
const told = fc.oneof(fc.nat({ max: 40 }), fc.constantFrom(30_000, 70_000), fc.constant("delta" as const));
const commits = fc.array(fc.array(told, { maxLength: 130 }), { maxLength: 6 });
const bound = fc.option(fc.integer({ min: 1, max: 300 }), { nil: undefined });
const ranges = fc.array(
  fc.record({ after: fc.integer({ min: -1, max: 500 }), limit: bound, maxBytes: bound }),
  { minLength: 1, maxLength: 4 },
);

for (const [kind, inPlace] of Object.entries(PLACES)) {
  Deno.test(`${kind}: events from a place on are those of the trace, as far as the bounds go`, () => {
    fc.assert(
      fc.property(commits, ranges, fc.nat({ max: 5 }), (commits, ranges, forkedAt) =>
        inPlace((place) => {
          const run = place.journal({ pid: 1 }).create(START);
          const tell = teller(run);
          commits.forEach((texts, index) => {
            run.begin({ key: `s${index}`, kind: "read", name: "X", input: null, idempotent: true });
            for (const text of texts) {
              tell(
                text === "delta"
                  ? { type: "text-delta", step: "s", text: "d" }
                  : { type: "warning", text: "w".repeat(text) },
              );
            }
            run.finish(`s${index}`, { ok: 1 });
          });
          const journal = place.journal({ pid: 2 }); // it is another one's
          const from = `s${Math.min(forkedAt, commits.length - 1)}`;
          const ids = commits.length === 0 ? [run.id] : [run.id, journal.fork(run.id, { from })];
          for (const id of ids) {
            const { events: all, summary } = journal.read(id);
            assert.deepEqual(journal.events(id), all);
            for (const { after, limit, maxBytes } of ranges) {
              const bounds = {
                ...(limit === undefined ? {} : { limit }),
                ...(maxBytes === undefined ? {} : { maxBytes }),
              };
              const behind = all.filter(({ seq }) => seq > after);
              const part = journal.events(id, { after, ...bounds });
              assert.deepEqual(part, behind.slice(0, part.length));
              assert.equal(part.length > 0, behind.length > 0);
              assert.ok(part.length <= (limit ?? Infinity));
              if (limit !== undefined && maxBytes === undefined) {
                assert.equal(part.length, Math.min(limit, behind.length));
              }
              assert.deepEqual(inParts(journal, id, { after, ...bounds }), behind);
            }
            assert.deepEqual(journal.read(id).summary, summary);
          }
        })),
      { numRuns: kind === "memory" ? 100 : 15 },
    );
  });

  Deno.test(`${kind}: events from a place on are masked, nobody else's, and of a run that there is`, () =>
    inPlace((place) => {
      const secrets = createSecrets();
      secrets.add("TOKEN", "very-secret-word");
      const run = place.journal({ pid: 1, secrets }).create(START);
      teller(run)({ type: "warning", text: "it is very-secret-word" });
      run.commit();
      const other = place.journal({ pid: 2 });
      const [event] = other.events(run.id.slice(0, 8));
      assert.ok(event?.type === "warning");
      assert.doesNotMatch(event.text, /very-secret-word/);
      assert.equal(other.read(run.id).summary.owned, true);
      assert.throws(() => other.open(run.id), { name: "RunOwnedError" });
      run.release("done");
      assert.deepEqual(seqsOf(other.events(run.id)), [1]);
      other.remove(run.id);
      assert.throws(() => other.events(run.id), RunNotFoundError);
    }));
}

/** A store that counts how many lists of events, and how much of them, were read. */
function counted(
  store: JournalStore,
): { readonly store: JournalStore; read: { lists: number; chars: number } } {
  const read = { lists: 0, chars: 0 };
  const note = (texts: readonly string[]): void => {
    read.lists += texts.length;
    for (const text of texts) read.chars += text.length;
  };
  return {
    read,
    store: {
      ...store,
      events(id, after) {
        const lists = store.events(id, after);
        note(lists);
        return lists;
      },
      eventList(id, n) {
        const list = store.eventList(id, n);
        note(list === undefined ? [] : [list]);
        return list;
      },
    },
  };
}

/** How many events are told between two commits. */
for (const atOnce of [1, 30, 12_000]) {
  Deno.test(`of 12,000 events in commits of ${atOnce}, few are read to find a place`, () => {
    const { store, read } = counted(memoryStore());
    const journal = journalOver(store);
    const run = journal.create(START);
    const tell = teller(run);
    for (let n = 1; n <= 12_000; n++) {
      tell({ type: "warning", text: "w".repeat(100) });
      if (n % atOnce === 0) run.commit();
    }
    run.release("stopped");
    const forked = journalOver(store).fork(run.id, { from: last(journal, run.id) });
    for (const id of [run.id, forked]) {
      read.lists = read.chars = 0;
      const part = journal.events(id, { after: 11_000, limit: 50 });
      assert.deepEqual([part.length, part[0]?.seq], [50, 11_001]);
      assert.ok(read.lists <= 70 && read.chars < 400_000, `${read.lists} lists, ${read.chars} characters`);
    }
  });
}

/** The key of a step behind everything that was told. */
function last(journal: Journal, id: string): string {
  const run = journal.open(id);
  run.begin({ key: "last", kind: "read", name: "X", input: null, idempotent: true });
  run.finish("last", { ok: 1 });
  run.release("stopped");
  return "last";
}
