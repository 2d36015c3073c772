// Runs that are accepted in one turn of the event loop are one commit, and none is answered before that.

import assert from "node:assert/strict";
import type { RunStart } from "../lib/core/journal.ts";
import { journalOver } from "../lib/journal/journal_over.ts";
import { memoryStore } from "../lib/journal/late_store.ts";
import { KeptBatch } from "../lib/service/kept_batch.ts";
import { ServiceError } from "../lib/service/service.ts";

const start = (id: string): RunStart => ({ kind: "calls", input: null, id });

/** A batch over a store that counts its commits. */
function counted({ isStopping = () => false }: { readonly isStopping?: () => boolean } = {}) {
  const store = memoryStore();
  const counts = { commits: 0 };
  const journal = journalOver({
    ...store,
    commit(work) {
      counts.commits++;
      return store.commit(work);
    },
  });
  const assertGoing = () => {
    if (isStopping()) throw new ServiceError("it is about to end", { code: "stopping" });
  };
  return { journal, counts, batch: new KeptBatch({ journal, assertGoing }) };
}

const ids = (count: number, from = 0) => Array.from({ length: count }, (_, index) => `run:${index + from}`);

Deno.test("runs of one turn of the event loop are one commit, those of the next another one", async () => {
  const { batch, counts, journal } = counted();
  const first = ids(20).map((id) => batch.create(start(id)).then((run) => [run.id, counts.commits]));
  assert.equal(counts.commits, 0);
  assert.deepEqual(await Promise.all(first), ids(20).map((id) => [id, 1]));
  const second = await Promise.all(ids(3, 20).map((id) => batch.create(start(id))));
  assert.deepEqual([second.length, counts.commits], [3, 2]);
  assert.equal((await batch.create(start("alone"))).id, "alone");
  assert.equal(counts.commits, 3);
  assert.deepEqual(new Set(journal.list().map(({ id }) => id)), new Set([...ids(23), "alone"]));
});

Deno.test("one that cannot be kept keeps none of the others away", async () => {
  const { batch, journal } = counted();
  journal.create(start("taken"));
  const settled = await Promise.allSettled(["a", "taken", "b"].map((id) => batch.create(start(id))));
  assert.deepEqual(settled.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
  assert.deepEqual(new Set(journal.list().map(({ id }) => id)), new Set(["a", "taken", "b"]));
});

Deno.test("what waits when the process is about to end is not kept", async () => {
  let isStopping = false;
  const { batch, counts } = counted({ isStopping: () => isStopping });
  const created = Promise.allSettled(ids(3).map((id) => batch.create(start(id))));
  isStopping = true;
  for (const one of await created) {
    assert.ok(one.status === "rejected" && one.reason instanceof ServiceError);
    assert.equal(one.reason.code, "stopping");
  }
  assert.equal(counts.commits, 0);
});
