// The page of one node, while another one has the run.

import assert from "node:assert/strict";
import { cluster, holderOf } from "../durable/_nodes.ts";
import { whyNot } from "../durable/_restate.ts";
import { pageTest } from "./_browser.ts";
import { stands } from "./_runs.ts";

pageTest("page: a node shows the run of another one while it goes on", {}, async ({ open }) => {
  const why = await whyNot();
  if (why !== undefined) return console.log(`not run here: ${why}`);
  await using made = await cluster({
    "orrery.yaml": "models: { default: script/slow.yml }\n",
    "slow.yml": '- chunks: ["one ", "two ", "three ", "four"]\n  delayMs: 700\n  repeat: true\n',
    "count.md": "# Count\n\n@llm\nprompt: Count\n",
  });
  const { body: { id } } = await made.nodes[0]?.post("/v1/runs", { file: "count.md" }) ?? assert.fail();
  const holder = await holderOf(id, made.restate);
  const other = made.nodes.find(({ address }) => address !== holder);
  await using tab = await open(`${other?.origin}/runs/${id}`);
  await tab.until("document.body.textContent.includes('one two')");
  assert.ok(!(await tab.page.textContent("body") ?? "").includes("four"), "it is not over yet");
  await tab.picture("another_node");
  await stands(tab, "done");
  await tab.until("document.body.textContent.includes('one two three four')");
});
