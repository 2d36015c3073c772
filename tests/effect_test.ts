// One effect of an engine as a step: it is in the journal before anything of it happens.

import assert from "node:assert/strict";
import { memoryJournal } from "../mod.ts";
import { aroundJournal } from "../lib/run/replay/program_order.ts";
import { performEffect } from "../lib/run/effect.ts";
import { Run } from "../lib/run/run.ts";

const EFFECT = { kind: "shell", name: "@shell", input: null, isIdempotent: false } as const;

Deno.test("effect: its start, and all that came before, is kept before it is performed", async () => {
  const journal = memoryJournal();
  const inner = journal.create({ kind: "document", input: null });
  const run = new Run({ journal: inner });
  const kept = (): readonly string[] =>
    journal.read(inner.id).steps.map(({ key, status }) => `${key} ${status}`);
  const seen: unknown[] = [];
  for (const key of ["a", "b"]) {
    await performEffect(run, {
      ...EFFECT,
      key,
      perform() {
        seen.push(kept());
        return Promise.resolve(key);
      },
    });
  }
  assert.deepEqual(seen, [["a started"], ["a finished", "b started"]]);
  run.end({ status: "done" });
  assert.deepEqual(kept(), ["a finished", "b finished"]);
});

for (const method of ["begin", "commit"] as const) {
  Deno.test(`effect: what cannot be kept does not begin (${method})`, async () => {
    const inner = memoryJournal().create({ kind: "document", input: null });
    let isFull = false;
    const fail = (): never => {
      throw new Error("the disk is full");
    };
    const full = aroundJournal(inner, {
      begin: (step) => isFull && method === "begin" ? fail() : inner.begin(step),
      commit: () => isFull && method === "commit" ? fail() : inner.commit(),
    });
    const run = new Run({ journal: full });
    await performEffect(run, { ...EFFECT, key: "a", perform: () => Promise.resolve(null) });
    isFull = true;
    let isDone = false;
    const effect = performEffect(run, {
      ...EFFECT,
      key: "b",
      perform() {
        isDone = true;
        return Promise.resolve(null);
      },
    });
    await assert.rejects(effect, /the disk is full/);
    assert.equal(isDone, false);
  });
}
