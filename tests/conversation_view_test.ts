// What a terminal shows of a conversation.

import assert from "node:assert/strict";
import type { RunEvent, RunEventBody } from "../mod.ts";
import { testProject } from "./_project.ts";
import { AskingSteps } from "../lib/render/turn_texts.ts";
import { cellWidth } from "../lib/render/cells.ts";
import { slotLines } from "../lib/render/trace/turn.ts";

const WHOLE = "… is cut";

Deno.test("slots in a window: a long value is cut to two lines, and it is said where all of it is", () => {
  const lines = slotLines({ "conversation.short": 1, "conversation.long": "x".repeat(10_000) }, {
    columns: 80,
    whole: WHOLE,
  })
    .trimEnd().split("\n");
  assert.deepEqual([lines.length, lines[0], lines[2]], [3, "conversation.short  1", WHOLE]);
  assert.ok(cellWidth(lines[1] ?? "") <= 160);
  assert.match(lines[1] ?? "", /^conversation\.long {3}"x+…$/);
  assert.equal(
    slotLines({ "conversation.a": ["ä", null] }, { columns: 80, whole: WHOLE }),
    'conversation.a  ["ä",null]\n',
  );
  assert.equal(slotLines({}, { columns: 80, whole: WHOLE }), "No slot is filled\n");
  assert.ok(slotLines({ a: "x".repeat(500) }, { columns: 1, whole: WHOLE }).includes(`"${"x".repeat(15)}`));
  assert.doesNotMatch(
    slotLines({ a: "\u001b[2J" }, { columns: 80, whole: WHOLE }),
    new RegExp(String.fromCharCode(27)),
  );
});

Deno.test("a model's line names the step that asks, in branches, on a second visit, and inside of a sub-run", () => {
  const steps = new AskingSteps();
  const shown = (body: RunEventBody): string => {
    const event: RunEvent = { ...body, seq: 1, at: 0, run: "r" };
    const named = steps.named(event);
    return named.type === "step-start" ? named.name : named.type === "usage" ? named.model : named.type;
  };
  const start = (key: string, kind: "step" | "model", name: string) =>
    shown({ type: "step-start", key, kind, name, attempt: 1 });
  const used = (step: string) => shown({ type: "usage", step, model: "m/x", input: 1, output: 1 });
  shown({ type: "run-start", kind: "conversation" });
  start("main/both/left", "step", "left");
  start("main/both/right", "step", "right");
  assert.equal(start("main/both/right/model", "model", "m/x"), "right  m/x");
  assert.equal(start("main/both/left/model", "model", "m/x"), "left  m/x");
  assert.deepEqual([used("main/both/left/model"), used("main/both/right/model")], [
    "left  m/x",
    "right  m/x",
  ]);
  start("main/ask", "step", "ask");
  start("main/ask#2", "step", "ask again");
  assert.equal(start("main/ask#2/model", "model", "m/x"), "ask again  m/x");
  start("main/plan", "step", "plan");
  start("main/plan/op[3]", "step", "@llm plan.md:3");
  assert.equal(start("main/plan/op[3]/turn[1]/model", "model", "m/x"), "plan  m/x");
  assert.equal(start("dialog[1]/turn[1]/model", "model", "m/x"), "m/x");
});

Deno.test("a turn that a budget ends says which one, and exits with 6", async () => {
  const text = `version: "0.1"
structure:
  id: two
  action:
    id: main
    chain:
      - { id: a, llm: { prompts: [ { system: "A" } ] } }
      - { id: b, llm: { prompts: [ { system: "B" } ] } }
`;
  await using project = await testProject({
    "two.agent.yml": text,
    "s.yml": "- { text: said, repeat: true }\n",
  });
  const args = ["run", "two.agent.yml", "-m", "script/s.yml", "--budget", "turns=1"];
  const { code, stdout, stderr } = await project.run(args);
  assert.equal(code, 6);
  assert.equal(stdout, "said\n");
  assert.match(stderr, /error: The run has made 1 model call, its budget is 1; --budget gives more/);
});
