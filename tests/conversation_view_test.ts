// What a terminal shows of a conversation.

import assert from "node:assert/strict";
import { testProject } from "./_project.ts";

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
