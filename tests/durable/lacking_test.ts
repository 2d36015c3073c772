// Nodes of which some have no key: a run comes to one that has it, whichever node is asked for it.
import assert from "node:assert/strict";
import { providerServer } from "../_provider_server.ts";
import { until } from "../_waiting.ts";
import { type Cluster, cluster, type Node, over } from "./_nodes.ts";
import { whyNot } from "./_restate.ts";

const FILES = {
  "a.md": "# A\n\n@llm\nprompt: Count\n",
  "prompts/say.prompt.md": "Say something.\n",
  "talk.agent.yml": [
    'version: "0.1"',
    "structure:",
    "  id: talk",
    "  action:",
    "    id: loop",
    "    chain:",
    "      - id: hello",
    "        message: { message: Hello., hold: true }",
    "      - id: answer",
    "        llm: { prompts: [{ system: Answer. }], memory: [{ selector: all }] }",
    "",
  ].join("\n"),
};

const WISHES = [["/v1/runs", { file: "a.md" }], ["/v1/runs", { path: "say" }]] as const;

const why = await whyNot();

function lacking(
  name: string,
  size: { readonly size: number; readonly keyless: number },
  check: (cluster: Cluster, first: Node) => Promise<void>,
): void {
  Deno.test(`nodes without a key: ${name}`, async () => {
    if (why !== undefined) return console.log(`not run here: ${why}`);
    await using provider = providerServer({ parts: [{ text: ["so ", "it is"] }], delayMs: 100 });
    const settings = {
      models: { default: "openai/test", providers: { openai: provider.settings.providers.openai } },
      prompts: { folders: ["prompts/"] },
    };
    await using made = await cluster({ ...FILES, "orrery.yaml": JSON.stringify(settings) }, {
      ...size,
      flags: [`--allow-net=${provider.host}`],
    });
    const [first] = made.nodes;
    assert.ok(first);
    await check(made, first);
  });
}

lacking("a run comes to one that has it", { size: 3, keyless: 2 }, async ({ nodes }, first) => {
  for (const [path, wish] of WISHES) {
    const begun = await first.post(path, wish);
    assert.equal(begun.status, 202, JSON.stringify(begun));
    const ended = await over(first, begun.body.id);
    assert.deepEqual([ended.status, ended.value], ["done", "so it is"], JSON.stringify(ended));
  }
  const begun = await first.post("/v1/conversations", { agent: "talk.agent.yml" });
  assert.equal(begun.status, 201, JSON.stringify(begun));
  const said = await first.post(`/v1/conversations/${begun.body.id}/messages`, { text: "Hi" });
  assert.equal(said.status, 200, JSON.stringify(said));
  await over(first, begun.body.id);
  const { body: talk } = await first.get(`/v1/conversations/${begun.body.id}`);
  assert.deepEqual(talk.messages.map(({ text }: { text: string }) => text), ["Hello.", "Hi", "so it is"]);

  // The one that has it dies: the others leave the run to it, until it is there again.
  const { body: { id } } = await first.post("/v1/runs", { file: "a.md" });
  const last = nodes.at(-1);
  await last?.kill();
  let waiting = await first.get(`/v1/runs/${id}`);
  await until(async () => {
    assert.equal(waiting.body.status, "running", JSON.stringify(waiting));
    waiting = await first.get(`/v1/runs/${id}`);
    return /needs a key: set the variable OPENAI_API_KEY/.test(waiting.body.reason);
  });
  await last?.restart();
  const ended = await over(first, id);
  assert.deepEqual([ended.status, ended.value], ["done", "so it is"], JSON.stringify(ended));
});

lacking(
  "where none has it, that is told, and nothing is kept",
  { size: 2, keyless: 2 },
  async (_made, first) => {
    for (const [path, wish] of [...WISHES, ["/v1/conversations", { agent: "talk.agent.yml" }] as const]) {
      const refused = await first.post(path, wish);
      assert.equal(refused.status, 422, JSON.stringify(refused));
      assert.match(refused.body.detail, /needs a key: set the variable OPENAI_API_KEY/);
    }
    assert.deepEqual((await first.get("/v1/runs")).body.runs, []);
  },
);
