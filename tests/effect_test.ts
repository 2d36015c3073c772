// One effect of an engine as a step that says itself when it begins.

import assert from "node:assert/strict";
import { memoryJournal } from "../lib/journal/memory_journal.ts";
import { aroundJournal } from "../lib/run/around_journal.ts";
import { performEffect } from "../lib/run/effect.ts";
import { Run } from "../lib/run/run.ts";

const EFFECT = { kind: "shell", name: "@shell", input: null, isIdempotent: false, isDeferred: true } as const;

Deno.test("effect: one that prepares is kept, with all that came before, when it says that it begins", async () => {
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
      perform(_tell, begins) {
        seen.push(kept());
        begins();
        seen.push(kept());
        return Promise.resolve(key);
      },
    });
  }
  assert.deepEqual(seen, [[], ["a started"], ["a started"], ["a finished", "b started"]]);
  run.end({ status: "done" });
  assert.deepEqual(kept(), ["a finished", "b finished"]);
});

Deno.test("effect: what cannot be kept does not begin", async () => {
  const inner = memoryJournal().create({ kind: "document", input: null });
  const full = aroundJournal(inner, {
    commit: () => {
      throw new Error("the disk is full");
    },
  });
  const run = new Run({ journal: full });
  let isDone = false;
  const effect = performEffect(run, {
    ...EFFECT,
    key: "a",
    perform(_tell, begins) {
      begins();
      isDone = true;
      return Promise.resolve(null);
    },
  });
  await assert.rejects(effect, { message: "The journal could not be written: the disk is full" });
  assert.equal(isDone, false);
  assert.equal(run.signal.aborted, true);
});
