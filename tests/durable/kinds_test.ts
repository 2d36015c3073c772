// kill -9 in a run of each kind on Restate: it ends at another node, what was done stays done and is not done twice, and what may have been
// done is asked about. What gadgets, commands and code did stands in files that they write.
import assert from "node:assert/strict";
import type { RunEvent } from "../../mod.ts";
import { join } from "node:path";
import { until } from "../_waiting.ts";
import { type Cluster, cluster, type Node } from "./_nodes.ts";
import { whyNot } from "./_restate.ts";

/** Does something that must not be done twice, with a word of what it was. */
const noting = (file: string, word: string) => `echo ${word} >> out/${file}; echo did-${word}`;
const call = (file: string, word: string, more = "") =>
  `!!!GADGET_START:RunCommand:${word}${more}\n!!!ARG:command\nsh\n!!!ARG:args\n${
    JSON.stringify(["-c", noting(file, word)])
  }\n!!!GADGET_END\n`;
/** The same, as a model calls it. */
const toolCall = (file: string, word: string, when: string, delayMs = 0) => ({
  when,
  chunks: [" ", " "],
  delayMs,
  calls: [{ name: "RunCommand", input: { command: "sh", args: ["-c", noting(file, word)] } }],
});

const FILES = {
  "orrery.yaml":
    'grants: { RunCommand: { run: [sh] }, "@shell": trusted }\nmodels: { default: script/slow.yml }\n',
  "slow.yml": '- chunks: ["one ", "two"]\n  delayMs: 900\n  repeat: true\n',
  "work.yml": JSON.stringify([
    toolCall("prompt", "first", "Do it"),
    toolCall("prompt", "last", "did-first", 900),
    { when: "did-last", text: "the end" },
  ]),
  "a.calls": call("calls", "first") +
    "!!!GADGET_START:Wait:w:first\n!!!ARG:seconds\n1.8\n!!!GADGET_END\n" + call("calls", "last", ":w"),
  "a.md":
    `# A\n\n@shell\nprompt: ${noting("document", "first")}\n\n## B\n\n@llm\nprompt: Count\n\n### C\n\n` +
    `@shell\nprompt: ${noting("document", "last")}\n`,
  "prompts/work.prompt.md": "---\ntools: [RunCommand]\n---\nDo it.\n",
  "prompts/count.prompt.md": "Count.\n",
  "talk.agent.yml": [
    'version: "0.1"',
    "structure:",
    "  id: talk",
    "  action:",
    "    id: loop",
    "    chain:",
    "      - id: hello",
    "        message: { message: Hello., hold: true }",
    "      - id: first",
    `        gadget: { name: RunCommand, input: { command: sh, args: ["-c", ${
      JSON.stringify(noting("conversation", "first"))
    }] } }`,
    "      - id: slow",
    "        gadget: { name: Wait, input: { seconds: 1.8 } }",
    "      - id: last",
    `        gadget: { name: RunCommand, input: { command: sh, args: ["-c", ${
      JSON.stringify(noting("conversation", "last"))
    }] } }`,
    "      - id: bye",
    "        message: { message: Bye. }",
    "",
  ].join("\n"),
  "unsure.calls": `!!!GADGET_START:RunCommand:unsure\n!!!ARG:command\nsh\n!!!ARG:args\n${
    JSON.stringify(["-c", "echo begun >> out/unsure; sleep 1; echo ended >> out/unsure"])
  }\n!!!GADGET_END\n`,
  "question.calls": "!!!GADGET_START:AskUser:q\n!!!ARG:question\nWhich?\n!!!GADGET_END\n",
  "out/.keep": "",
};

const why = await whyNot();

Deno.test("kinds on Restate", async (t) => {
  if (why !== undefined) return console.log(`not run here: ${why}`);
  await using made = await cluster(FILES);
  const kinds: readonly (readonly [name: string, begin: (node: Node) => Promise<string>])[] = [
    ["calls", (node) => begun(node, { file: "a.calls" })],
    ["document", (node) => begun(node, { file: "a.md" })],
    ["prompt", (node) => begun(node, { path: "work", model: "script/work.yml" })],
    ["conversation", async (node) => {
      const { body } = await node.post("/v1/conversations", { agent: "talk.agent.yml" });
      node.post(`/v1/conversations/${body.id}/messages`, { text: "Go" }).catch(() => undefined); // its node may die
      return body.id;
    }],
  ];
  for (const at of ["the node that was asked", "the other node", "Restate", "both"] as const) {
    await t.step(`kill -9 of ${at}`, async () => {
      const [node, other] = made.nodes;
      assert.ok(node && other);
      for (const [name] of kinds) await Deno.remove(join(made.folder, "out", name)).catch(() => undefined);
      const runs = await Promise.all(kinds.map(async ([name, begin]) => {
        const id = await begin(node);
        await until(
          async () => hasEnded("first", (await other.get(`/v1/runs/${id}/trace`)).body.events),
          30_000,
        );
        return { name, id };
      }));
      await killed(made, at);
      for (const { name, id } of runs) {
        const { status, error } = await over(other, id);
        // The run of a conversation is done when it is completed.
        const ends = name === "conversation" ? ["completed", "done"] : ["done"];
        assert.ok(ends.includes(status), JSON.stringify({ name, status, error }));
        assert.ok(ends.includes((await over(node, id)).status), name);
        assert.equal(await textOf(join(made.folder, "out", name)), "first\nlast\n", name);
      }
    });
  }

  await t.step("what may have been done is asked about, at any node", async () => {
    const [node, other] = made.nodes;
    assert.ok(node && other);
    const out = join(made.folder, "out", "unsure");
    for (const answer of ["rerun", "skip"]) {
      await Deno.remove(out).catch(() => undefined);
      const id = await begun(node, { file: "unsure.calls" });
      await until(async () => await textOf(out) === "begun\n", 30_000);
      for (const each of made.nodes) await each.killAndRestart();
      const stopped = await over(other, id);
      assert.equal(stopped.status, "stopped", JSON.stringify(stopped));
      const refused = await node.post(`/v1/runs/${id}/resume`);
      assert.equal(refused.body.code, "unverified", JSON.stringify(refused));
      const [key] = refused.body.steps?.map(({ key }: { key: string }) => key) ?? [];
      const resumed = await other.post(`/v1/runs/${id}/resume`, { [answer]: [key ?? "unsure"] });
      assert.ok(resumed.status < 300, JSON.stringify(resumed));
      assert.equal((await over(node, id)).status, "done");
      assert.equal(await textOf(out), answer === "rerun" ? "begun\nbegun\nended\n" : "begun\n");
    }
  });

  await t.step(
    "a question is seen and answered at every node, and outlives the node that has it",
    async () => {
      for (const at of ["nothing", "the node that was asked", "Restate"] as const) {
        for (const answering of made.nodes) {
          const [node] = made.nodes;
          assert.ok(node);
          const id = await begun(node, { file: "question.calls", ask: true });
          if (at !== "nothing") {
            await asked(answering, id);
            await killed(made, at);
          }
          const { ask } = await asked(answering, id);
          const { status, body } = await answering.post(`/v1/runs/${id}/answers`, { ask, text: "this one" });
          assert.ok(status < 300, JSON.stringify(body));
          for (const each of made.nodes) assert.equal((await over(each, id)).status, "done");
          assert.match(JSON.stringify((await answering.get(`/v1/runs/${id}/trace`)).body), /this one/);
        }
      }
    },
  );

  await t.step(
    "models as OpenAI's API and tools as MCP, at every node; both see the runs of all",
    async () => {
      for (const node of made.nodes) {
        const answer = await node.post("/v1/chat/completions", {
          model: "orrery/prompt/count",
          messages: [{ role: "user", content: "{}" }],
        });
        assert.equal(answer.body.choices?.[0]?.message.content, "one two", JSON.stringify(answer));
      }
      const counts = await Promise.all(
        made.nodes.map(async (node) => (await node.get("/v1/runs?limit=100")).body.runs.length),
      );
      assert.ok(counts[0] > 20 && counts[0] === counts[1], String(counts));
    },
  );
});

/** What has been done is known to be. */
function hasEnded(word: string, events: readonly RunEvent[] = []): boolean {
  return events.some((event) =>
    (event.type === "step-end" || event.type === "call-result") &&
    JSON.stringify(event).includes(`did-${word}`)
  );
}

async function begun(node: Node, wish: object): Promise<string> {
  const { status, body } = await node.post("/v1/runs", wish);
  assert.ok(status === 201 || status === 202, JSON.stringify(body));
  return body.id;
}

async function killed(
  { nodes, restate }: Cluster,
  what: "the node that was asked" | "the other node" | "Restate" | "both",
) {
  const [node, other] = nodes;
  const isRestate = what === "Restate" || what === "both";
  if (isRestate) restate.kill();
  const restarts = [
    ...(what === "the node that was asked" || what === "both" ? [node] : []),
    ...(what === "the other node" || what === "both" ? [other] : []),
  ].map((each) => each?.kill());
  await Promise.all(restarts);
  if (isRestate) await restate.restart();
  for (const each of nodes) await each.restart();
}

async function textOf(path: string): Promise<string> {
  return await Deno.readTextFile(path).catch(() => "");
}

/** The state of a run once nothing is done with it. */
async function over(node: Node, id: string): Promise<Awaited<ReturnType<Node["get"]>>["body"]> {
  let body;
  await until(async () => {
    const answer = await node.get(`/v1/runs/${id}`).catch(() => undefined);
    body = answer?.status === 200 ? answer.body : undefined;
    return body !== undefined && body.status !== "running";
  }, 30_000);
  return body;
}

/** The question of a run, as a node tells it. */
async function asked(node: Node, id: string): Promise<{ readonly ask: string }> {
  const response = await fetch(`${node.origin}/v1/runs/${id}/events`, {
    signal: AbortSignal.timeout(30_000),
  });
  let text = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    const [, data] = /event: ask\ndata: (.*)\n/.exec(text) ?? [];
    if (data !== undefined) return JSON.parse(data);
  }
  throw new Error(`no question: ${text}`);
}
