// Lists of runs read no more of the journal than they show, and are right where a process knows better than the journal.

import assert from "node:assert/strict";
import { type Journal, memoryJournal, type RunQuery } from "../mod.ts";
import { listedRuns } from "../lib/service/open_service.ts";
import type { RunsQuery, RunState } from "../lib/service/service.ts";

/** The journal, and how many runs it has given. */
function counted(journal: Journal): { readonly journal: Journal; given(): number } {
  let count = 0;
  const list = (query?: RunQuery): ReturnType<Journal["list"]> => {
    const found = journal.list(query);
    count += found.length;
    return found;
  };
  return {
    journal: new Proxy(journal, {
      get: (target, name) => name === "list" ? list : Reflect.get(target, name, target),
    }),
    given: () => count,
  };
}

function held(id: string, state: Pick<RunState, "status"> & Partial<RunState>): RunState {
  return {
    id,
    kind: "calls",
    owned: true,
    startedAt: 0,
    ms: 1,
    usage: { input: 0, output: 0 },
    steps: 0,
    asks: [],
    ...state,
  };
}

function journalOf(statuses: readonly ("done" | "stopped" | "held")[]) {
  let time = 1_000;
  const journal = memoryJournal({ now: () => time });
  const ids = statuses.map((status) => {
    time += 10;
    const run = journal.create({ kind: "calls", input: null });
    run.release(status);
    return run.id;
  });
  return { journal, ids };
}

Deno.test("a list by status reads as many runs as it shows, and not all there are", () => {
  const { journal, ids } = journalOf(
    Array.from({ length: 300 }, (_, at) => at % 3 === 0 ? "stopped" : "done"),
  );
  const stopped = ids.filter((_, at) => at % 3 === 0).toReversed();
  const shown = (query: RunsQuery): { readonly ids: readonly string[]; readonly read: number } => {
    const place = counted(journal);
    const runs = listedRuns(query, { journal: place.journal, held: [] });
    return { ids: runs.map(({ id }) => id), read: place.given() };
  };
  assert.deepEqual(shown({ status: "stopped", limit: 7 }), { ids: stopped.slice(0, 7), read: 7 });
  assert.deepEqual(shown({ status: "stopped" }), { ids: stopped.slice(0, 50), read: 50 });
  assert.deepEqual(shown({ status: "running" }), { ids: [], read: 0 });
  assert.deepEqual(shown({ status: "held", kind: "calls", limit: 5 }), { ids: [], read: 0 });
  assert.deepEqual(shown({ limit: 9 }), { ids: ids.toReversed().slice(0, 9), read: 9 });
  const [last = ""] = stopped.slice(6);
  assert.deepEqual(shown({ status: "stopped", limit: 3, before: last }).ids, stopped.slice(7, 10));
});

Deno.test("what this process knows of a run counts, and takes no place of another in the list", () => {
  const { journal, ids } = journalOf(["held", "done", "done", "done"]);
  const [first = "", second = "", third = "", fourth = ""] = ids;
  const own = [
    held(fourth, { status: "running", startedAt: 1_040 }),
    held(first, { status: "completed", startedAt: 1_010 }),
    held("mine", { status: "done", startedAt: 1_025 }),
    held("other", { status: "done", startedAt: 1_026, kind: "document" }),
  ];
  const listed = (query: RunsQuery) => listedRuns(query, { journal, held: own }).map(({ id }) => id);
  assert.deepEqual(listed({ status: "done", kind: "calls", limit: 2 }), [third, "mine"]);
  assert.deepEqual(listed({ status: "done" }), [third, "other", "mine", second]);
  assert.deepEqual(listed({ status: "running" }), [fourth]);
  assert.deepEqual(listed({ status: "completed" }), [first]);
  assert.deepEqual(listed({ status: "held" }), []);
  assert.deepEqual(listed({ limit: 3 }), [fourth, third, "other"]);
});
