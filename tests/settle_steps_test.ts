import assert from "node:assert/strict";
import { memoryJournal } from "../mod.ts";
import { settleSteps } from "../lib/service/start/settle.ts";
import { nobody } from "../lib/cli/run/around.ts";

const KEYS = ["step:a", "step:a/step:b", "step:c"];

async function settled(decisions: { rerun?: readonly string[]; skip?: readonly string[] }) {
  const journal = memoryJournal();
  const begun = journal.create({ kind: "prompt", input: null });
  for (const key of KEYS) begun.begin({ key, kind: "step", name: key, input: null, idempotent: false });
  begun.release("stopped");
  const run = journal.open(begun.id);
  const { steps } = journal.read(run.id);
  const left = await settleSteps(run, {
    steps,
    decisions: { rerun: [], skip: [], ...decisions },
    user: nobody,
  });
  const now = journal.read(run.id).steps;
  return {
    left: left.map(({ key }) => key),
    done: now.filter(({ outcome }) => outcome !== undefined).map(({ key }) => key),
  };
}

Deno.test("what is said of a step holds for the steps inside of it", async () => {
  assert.deepEqual(await settled({ skip: ["step:a"] }), {
    left: ["step:c"],
    done: ["step:a", "step:a/step:b"],
  });
  assert.deepEqual(await settled({ rerun: ["step:a"] }), { left: ["step:c"], done: [] });
});

Deno.test("what is said of the step inside counts before what is said of the one around it", async () => {
  assert.deepEqual(await settled({ rerun: ["step:a"], skip: ["step:a/step:b", "step:c"] }), {
    left: [],
    done: ["step:a/step:b", "step:c"],
  });
});

Deno.test("a step is not inside of one whose key only begins its own", async () => {
  assert.deepEqual(await settled({ skip: ["step:c"] }), {
    left: ["step:a", "step:a/step:b"],
    done: ["step:c"],
  });
});
