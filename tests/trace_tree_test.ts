// `orrery trace`: the keys of steps as a tree. What stands in brackets, or is the id of a call, may hold a slash.

import assert from "node:assert/strict";
import type { StepRecord } from "../mod.ts";
import { tracePage } from "../lib/render/trace/page.ts";
import { traceTree } from "../lib/render/trace/tree.ts";
import { testProject } from "./_project.ts";

function treeOf(...keys: readonly string[]): string {
  const steps = keys.map((key): StepRecord => ({
    key,
    kind: "read",
    name: "x",
    input: null,
    idempotent: true,
    status: "finished",
    attempt: 1,
    startedAt: 0,
    endedAt: 0,
    outcome: { ok: "" },
  }));
  const summary = {
    id: "r",
    kind: "document",
    status: "done",
    owned: false,
    startedAt: 0,
    updatedAt: 0,
    steps: steps.length,
    usage: { input: 0, output: 0 },
  } as const;
  return traceTree({ summary, steps, events: [] }).split("\n").slice(1, -1)
    .map((line) => line.replace(/^( *)ok +/, "$1ok ").replace(/ {2}x {2}0 ms$/, "")).join("\n");
}

Deno.test("trace: what has not ended says why, and what a model had said by then, as a tree and as a page", () => {
  const key = "turn[1]/model";
  const step: StepRecord = {
    key,
    kind: "model",
    name: "m/x",
    input: { messages: [] },
    idempotent: true,
    status: "started",
    startedAt: 0,
    attempt: 1,
  };
  const place = { seq: 1, at: 0, run: "r" };
  const error = { message: "m/x: the answer broke off", code: "network" };
  const trace = {
    summary: {
      id: "r",
      kind: "ask",
      status: "stopped",
      owned: false,
      startedAt: 0,
      updatedAt: 0,
      steps: 1,
      usage: { input: 0, output: 0 },
    },
    run: { kind: "ask", input: null },
    steps: [step],
    events: [
      { type: "step-start", key, kind: "model", name: "m/x", attempt: 1, ...place },
      { type: "step-end", key, ms: 5, error, partial: "Half an ans", ...place },
    ],
    messages: [],
    checkpoints: [],
  } as const;
  assert.deepEqual(traceTree(trace).split("\n").slice(2, -1), [
    "    failed  model  m/x",
    "            m/x: the answer broke off",
    "            said before it broke off: Half an ans",
  ]);
  const row = tracePage(trace).rows.at(-1);
  assert.equal(row?.state, "failed");
  assert.deepEqual(row?.values.map(({ title, text }) => [title, text]), [
    ["error", "m/x: the answer broke off"],
    ["said before it broke off", "Half an ans"],
  ]);
});

Deno.test("trace: a slash in brackets is part of a name", () => {
  assert.equal(
    treeOf(
      "op[parts/part.md:5]/shell",
      "op[parts/part.md:5]/media[1]",
      "op[docs/[id]/page.md:5]#2/turn[1]/model",
      "dialog[research/agent:1f]/turn[1]/model",
      "op[a/b.md:1]/op[c/d.md:2]/read",
    ),
    [
      "  op[parts/part.md:5]",
      "    done    shell",
      "    done    media[1]",
      "  op[docs/[id]/page.md:5]#2",
      "    turn[1]",
      "      done    model",
      "  dialog[research/agent:1f]",
      "    turn[1]",
      "      done    model",
      "  op[a/b.md:1]",
      "    op[c/d.md:2]",
      "      done    read",
    ].join("\n"),
  );
});

Deno.test("trace: the id of a call may hold anything; what runs inside of it lies below it", () => {
  assert.equal(
    treeOf(
      "turn[1]/call:a/b",
      "op[call:x/y.md:3]/shell",
      "call:a/b/op[x/y.md:1]/shell",
      "call:a/b/op[x/y.md:1]/call:c/dialog[1]/turn[1]/model",
      "call:d/dialog[2]/turn[1]/model",
      "call:[e/f",
    ),
    [
      "  turn[1]",
      "    done    call:a/b",
      "  op[call:x/y.md:3]",
      "    done    shell",
      "  call:a/b",
      "    op[x/y.md:1]",
      "      done    shell",
      "      call:c",
      "        dialog[1]",
      "          turn[1]",
      "            done    model",
      "  call:d",
      "    dialog[2]",
      "      turn[1]",
      "        done    model",
      "  done    call:[e/f",
    ].join("\n"),
  );
});

Deno.test("orrery trace: an operation of an imported document in a folder is one branch", async () => {
  await using project = await testProject({
    "orrery.yaml": "models: { default: script/echo }\n",
    "main.md": "# A\n\n@import\nfile: parts/part.md\n",
    "parts/part.md": "# Part\n\nOf it.\n\n@llm\nprompt: Go\n",
  });
  const run = await project.run(["run", "main.md"]);
  assert.equal(run.code, 0, run.stderr);
  const { stdout } = await project.run(["trace", await project.newest()]);
  assert.match(stdout, /\n {2}op\[parts\/part\.md:5\]\n {4}.*turn\[1\]\n {6}done {4}model/);
});
