// Steps that only read: many in a row are one commit, and nothing else begins, or is told, before they are kept (turn.md 3).

import assert from "node:assert/strict";
import { memoryJournal, type RunEvent, type RunJournal } from "../mod.ts";
import { performEffect } from "../lib/run/effect.ts";
import type { Run } from "../lib/run/run.ts";
import { endingRun } from "../lib/run/work_run.ts";

/** A journal that says what is asked of it, in its order. */
function noting(journal: RunJournal): { readonly journal: RunJournal; readonly asked: string[] } {
  const asked: string[] = [];
  const noted = new Proxy(journal, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: readonly unknown[]) => {
        if (name === "commit") asked.push("commit");
        return value.apply(target, args);
      };
    },
  });
  return { journal: noted, asked };
}

async function effect(run: Run, key: string, kind: "read" | "write"): Promise<void> {
  await performEffect(run, {
    key,
    kind,
    name: key,
    input: null,
    isIdempotent: true,
    isSilent: kind === "read",
    perform: () => new Promise((resolve) => setTimeout(() => resolve(key), 1)),
  });
}

Deno.test("read steps: many in a row are few commits, and all of them are kept before anything else begins", async () => {
  const all = memoryJournal({ isAlive: () => false });
  const { journal, asked } = noting(all.create({ kind: "test", input: null }));
  const kept: number[] = [];
  const finished = () => all.read(journal.id).steps.filter(({ status }) => status === "finished").length;
  const events: RunEvent[] = [];
  const work = endingRun("document", { journal, file: "x.md" }, async (run) => {
    await effect(run, "write-0", "write"); // behind the opening of the run
    for (let n = 0; n < 100; n++) await effect(run, `read-${n}`, "read");
    const before = asked.length;
    await performEffect(run, {
      key: "write-1",
      kind: "write",
      name: "x",
      input: null,
      isIdempotent: false,
      perform: () => {
        kept.push(finished(), asked.length - before);
        return Promise.resolve(null);
      },
    });
    await effect(run, "read-last", "read");
    return { status: "done" };
  });
  for await (const event of work) events.push(event);
  assert.equal(kept[0], 101, "every read is kept when the command begins");
  assert.ok(asked.length < 40, `${asked.length} commits`);
  assert.equal(finished(), 103);
});

Deno.test("read steps: one behind another step waits for it to be kept", async () => {
  const all = memoryJournal({ isAlive: () => false });
  const { journal } = noting(all.create({ kind: "test", input: null }));
  const seen: string[][] = [];
  const work = endingRun("document", { journal, file: "x.md" }, async (run) => {
    await effect(run, "read-0", "read");
    await effect(run, "write-0", "write");
    await performEffect(run, {
      key: "read-1",
      kind: "read",
      name: "x",
      input: null,
      isIdempotent: true,
      perform: () => {
        seen.push(
          all.read(journal.id).steps.filter(({ status }) => status === "finished").map(({ key }) => key),
        );
        return Promise.resolve(null);
      },
    });
    return { status: "done" };
  });
  for await (const _event of work);
  assert.deepEqual(seen, [["read-0", "write-0"]]);
});
