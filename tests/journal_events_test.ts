// A run's events from a place on: the same as of its whole trace, and found without reading the rest.

import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type Journal,
  type JournalOptions,
  memoryJournal,
  type RunEvent,
  type RunEventBody,
  type RunJournal,
} from "../mod.ts";
import { journalAt, oneSecret, withDatabaseFile } from "./_journal_file.ts";

type EventRange = NonNullable<Parameters<Journal["events"]>[1]>;
type Options = Pick<JournalOptions, "secrets">;

/** Opens one place, again and again: each time as somebody else does, where it is a file. */
type Opener = (options?: Options) => Journal;

const PLACES: Readonly<Record<string, (work: (open: Opener) => void) => Promise<void>>> = {
  memory(work) {
    let journal: Journal | undefined;
    work((options) => journal ??= memoryJournal(options));
    return Promise.resolve();
  },
  SQLite: (work) =>
    withDatabaseFile((path) => {
      const opened: Journal[] = [];
      try {
        work((options) => {
          const journal = journalAt(path, options);
          opened.push(journal);
          return journal;
        });
      } finally {
        for (const journal of opened) journal[Symbol.dispose]();
      }
    }),
};

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
  Deno.test(`${kind}: events from a place on are those of the trace, as far as the bounds go`, async () => {
    await fc.assert(
      fc.asyncProperty(commits, ranges, fc.nat({ max: 5 }), (commits, ranges, forkedAt) =>
        inPlace((open) => {
          const run = open().create(START);
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
          const journal = open();
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
    inPlace((open) => {
      const run = open({ secrets: oneSecret("TOKEN", "very-secret-word") }).create(START);
      teller(run)({ type: "warning", text: "it is very-secret-word" });
      run.commit();
      const other = open();
      const [event] = other.events(run.id.slice(0, 8));
      assert.ok(event?.type === "warning");
      assert.doesNotMatch(event.text, /very-secret-word/);
      assert.equal(other.read(run.id).summary.owned, true);
      assert.throws(() => other.open(run.id), { name: "RunOwnedError" });
      run.release("done");
      assert.deepEqual(seqsOf(other.events(run.id)), [1]);
      other.remove(run.id);
      assert.throws(() => other.events(run.id), { name: "RunNotFoundError" });
    }));
}
