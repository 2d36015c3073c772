// What is seen of a document's run in a terminal.
import assert from "node:assert/strict";
import { testProject } from "../../_project.ts";
import { atTerminal, noTerminal } from "../../_pty.ts";

const PLAN = `# Plan

@shell
prompt: "echo one; sleep 0.4; echo two"

@llm
prompt: Ask

@shell
prompt: exit 3
on-error: stop
`;

Deno.test("in a terminal: what comes scrolls above the frame, the last state stays; with NO_COLOR there are lines", async () => {
  const why = await noTerminal();
  if (why !== undefined) return console.log(`not run here: ${why}`);
  await using project = await testProject({
    "orrery.yaml": "models: { default: script/a.yaml }\n",
    "a.yaml": "- { chunks: [An, ' answer'], delayMs: 100 }\n",
    "plan.md": PLAN,
  });
  const live = atTerminal(["run", "plan.md", "--allow-run", "--ephemeral"], {
    cwd: project.folder,
    env: { ...project.env, NO_COLOR: "" },
  });
  await live.until("@shell plan.md:3");
  await live.until("│ one");
  await live.until("two");
  const { code, screen } = await live.end();
  assert.equal(code, 1);
  // deno-lint-ignore no-control-regex
  const LOOKS = /\x1b\[[\d;?]*[a-zA-Z]/g;
  const plain = screen.replaceAll(LOOKS, "");
  assert.match(plain, /\+ @llm plan\.md:6\n│ # LLM response block\n│ An answer\n/);
  assert.match(plain, /plan\.md:9:1: error: @shell: command exited with code 3\n/);
  const last = plain.slice(plain.lastIndexOf(" ● @shell plan.md:3"));
  assert.match(
    last,
    /^ ● @shell plan\.md:3 .*\n ● @llm plan\.md:6 .*\n ✗ @shell plan\.md:9 .*\n 3 operations: 2 ok, 1 failed; 1 answer/,
  );
  assert(screen.lastIndexOf("\x1b[?25h") > screen.lastIndexOf("\x1b[?25l"), "the cursor is back");

  const lines = atTerminal(["run", "plan.md", "--allow-run", "--ephemeral"], {
    cwd: project.folder,
    env: project.env,
  });
  const without = await lines.end();
  assert.equal(without.code, 1);
  assert(!without.screen.includes("\x1b"), without.screen);
  assert.match(without.screen, /^ {2}ok {4}@shell plan\.md:3 {2}/m);
});
