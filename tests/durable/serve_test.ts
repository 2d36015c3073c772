// Two nodes on one Restate server, as whoever asks them sees it: each run of any kind at either node, over a kill -9 of the one that has it.
import assert from "node:assert/strict";
import type { RunEvent } from "../../mod.ts";
import { testProject } from "../_project.ts";
import { orrery } from "../_run.ts";
import { serveProject } from "../_served_project.ts";
import { until } from "../_waiting.ts";
import { type Cluster, cluster, holderOf, type Node, over, SECRET } from "./_nodes.ts";
import { queryRestate, whyNot } from "./_restate.ts";

const FILES = {
  "orrery.yaml": "models: { default: script/slow.yml }\nprompts: { folders: [prompts/] }\n",
  "slow.yml": '- chunks: ["one ", "two ", "three"]\n  delayMs: 150\n  repeat: true\n',
  "a.md": "# A\n\n@llm\nprompt: Count\n\n## B\n\n@llm\nprompt: Again\n",
  "a.calls": "!!!GADGET_START:Template:t\n!!!ARG:template\nhello\n!!!GADGET_END\n",
  "wrong.md": "# A\n\n@llm\nmodel: nobody/knows\nprompt: Count\n",
  "wrong.agent.yml": 'version: "0.1"\nstructure: { id: x }\n',
  "prompts/say.prompt": "---\nmodel: script/slow.yml\n---\nSay something.\n",
  "talk.agent.yml": [
    'version: "0.1"',
    "structure:",
    "  id: talk",
    "  action:",
    "    id: loop",
    "    chain:",
    "      - id: first",
    "        message: { message: Hello., hold: true }",
    "      - id: visits",
    "        counter: { slot: { name: visits, destination: global } }",
    "      - id: second",
    "        message: { message: Again., hold: true }",
    "      - id: third",
    "        message: { message: Bye., hold: true }",
    "",
  ].join("\n"),
};

const why = await whyNot();

function onNodes(name: string, check: (cluster: Cluster, ...nodes: readonly Node[]) => Promise<void>): void {
  Deno.test(`nodes on Restate: ${name}`, async () => {
    if (why !== undefined) return console.log(`not run here: ${why}`);
    await using made = await cluster(FILES);
    await check(made, ...made.nodes);
  });
}

/** All events of a run, as a follower hears them; one that is cut off goes on where it was. */
async function followed(node: Node | undefined, id: string, after = 0): Promise<readonly RunEvent[]> {
  assert.ok(node);
  const response = await fetch(`${node.origin}/v1/runs/${id}/events?after=${after}`, {
    signal: AbortSignal.timeout(30_000),
  });
  const text = await response.text();
  return text.split("\n").flatMap((line) => line.startsWith("data: {") ? [JSON.parse(line.slice(6))] : []);
}

const isKept = ({ type }: RunEvent): boolean => type !== "text-delta" && type !== "reasoning-delta";

onNodes("a run of every kind, begun at one and looked at from the other", async (_cluster, one, other) => {
  const wishes: readonly (readonly [body: object, value: unknown])[] = [
    [{ file: "a.md" }, "one two three"],
    [{ file: "a.calls" }, undefined],
    [{ path: "say" }, "one two three"],
  ];
  for (const [wish, value] of wishes) {
    const { status, body } = await one?.post("/v1/runs", wish) ?? assert.fail();
    assert.ok(status === 201 || status === 202, JSON.stringify(body));
    const [here, there] = [await over(one, body.id), await over(other, body.id)];
    assert.deepEqual([here.status, there.status], ["done", "done"], JSON.stringify(there));
    if (value !== undefined) assert.deepEqual([here.value, there.value], [value, value]);
    const traces = await Promise.all([one, other].map((node) => node?.get(`/v1/runs/${body.id}/trace`)));
    assert.deepEqual(traces[0]?.body.steps, traces[1]?.body.steps);
  }
  const lists = await Promise.all([one, other].map((node) => node?.get("/v1/runs")));
  assert.equal(lists[0]?.body.runs.length, wishes.length);
  assert.deepEqual(
    lists[0]?.body.runs.map(({ id }: { id: string }) => id),
    lists[1]?.body.runs.map(({ id }: { id: string }) => id),
  );
});

onNodes(
  "what is wrong with a wish is told at once, as one machine tells it, and nothing of it is kept",
  async (_cluster, one) => {
    assert.ok(one);
    await using project = await testProject(FILES);
    await using alone = await serveProject(project, ["--trust-project"]);
    const wishes = [
      ["/v1/runs", { file: "gone.md" }],
      ["/v1/runs", { file: "wrong.md" }],
      ["/v1/runs", { file: "a.md", blocks: ["no reference"] }],
      ["/v1/runs", { path: "gone" }],
      ["/v1/runs", { path: "say", model: "nobody/knows" }],
      ["/v1/conversations", { agent: "gone.agent.yml" }],
      ["/v1/conversations", { agent: "wrong.agent.yml" }],
      ["/v1/conversations", { agent: "talk.agent.yml", slots: { "not a name": 1 } }],
    ] as const;
    for (const [path, wish] of wishes) {
      const { status, body } = await one.post(path, wish);
      const other = await alone.json(path, { body: wish });
      assert.deepEqual({ status, ...body }, { status: other.status, ...other.body });
      assert.ok(status >= 400 && status < 500, JSON.stringify(body));
    }
    assert.deepEqual((await one.get("/v1/runs")).body.runs, []);
    const ids = await Promise.all([
      one.post("/v1/runs", { file: "a.calls" }),
      alone.json("/v1/runs", { body: { file: "a.calls" } }),
    ]);
    const resumed = await Promise.all(ids.map(async ({ body }, at) => {
      const run = `/v1/runs/${body.id}`;
      const get = async (path: string) => at === 0 ? await one.get(path) : await alone.json(path);
      await until(async () => (await get(run)).body.status === "done");
      const post = async (wish: object) =>
        at === 0 ? await one.post(`${run}/resume`, wish) : await alone.json(`${run}/resume`, { body: wish });
      return await Promise.all([{}, { budget: { tokens: -1 } }, { rerun: ["nothing"] }].map(async (wish) => {
        const { status, body: { code } } = await post(wish);
        return { status, code };
      }));
    }));
    assert.deepEqual(resumed[0], resumed[1]);
  },
);

onNodes(
  "a follower at another node hears everything once, over a kill of the one that runs",
  async (made, one, other) => {
    for (const victim of made.nodes) {
      const { body } = await one?.post("/v1/runs", { file: "a.md" }) ?? assert.fail();
      const follower = made.nodes.find((node) => node !== victim);
      const { body: begun } = await one?.get(`/v1/runs/${body.id}/trace`) ?? assert.fail();
      const after = begun.events.at(-1).seq;
      const rest = followed(follower, body.id, after); // nobody has followed it there before
      const events = followed(follower, body.id);
      await new Promise((resolve) => setTimeout(resolve, 400));
      await victim.killAndRestart();
      const told = await events;
      const end = told.at(-1);
      assert.ok(end?.type === "run-end" && end.status === "done", JSON.stringify(end));
      assert.equal(end.value, "one two three");
      const seqs = told.map(({ seq }) => seq);
      assert.deepEqual(seqs, [...new Set(seqs)].sort((a, b) => a - b));
      const kept = (await other?.get(`/v1/runs/${body.id}/trace`))?.body.events;
      assert.deepEqual(told.filter(isKept), kept);
      const behind = kept.filter(({ seq }: RunEvent) => seq > after);
      assert.deepEqual((await rest).filter(isKept), behind);
    }
  },
);

onNodes(
  "a conversation: messages stay in order, whichever node they come to, and slots are everybody's",
  async (_cluster, one, other) => {
    const begun = await one?.post("/v1/conversations", { agent: "talk.agent.yml", user: "ana" });
    assert.equal(begun?.status, 201, JSON.stringify(begun));
    const { id } = begun.body;
    const said = await Promise.all(
      [one, other].map((node) => node?.post(`/v1/conversations/${id}/messages`, { text: "Hi" })),
    );
    assert.ok(said.some((answer) => answer !== undefined && answer.status < 300), JSON.stringify(said));
    await over(one, id);
    const [here, there] = await Promise.all([one, other].map((node) => node?.get(`/v1/conversations/${id}`)));
    assert.deepEqual(here?.body.messages, there?.body.messages);
    const texts: readonly string[] = here?.body.messages.map(({ text }: { text: string }) => text);
    assert.deepEqual(texts.slice(0, 3), ["Hello.", "Hi", "Again."]);
    assert.equal(here?.body.slots["global.visits"], 1);
    const back = await other?.post(`/v1/conversations/${id}/back`, { turns: 1 });
    assert.equal(back?.status, 200, JSON.stringify(back));
    const copy = back?.body.id;
    for (const node of [one, other]) {
      const { body } = await node?.get(`/v1/conversations/${copy}`) ?? assert.fail();
      assert.deepEqual([body.status, body.turns], ["held", here?.body.turns - 1]);
    }
    const otherwise = await one?.post(`/v1/conversations/${copy}/messages`, { text: "Differently" });
    assert.equal(otherwise?.status, 200, JSON.stringify(otherwise));
    assert.equal((await other?.get(`/v1/conversations/${copy}`))?.body.turns, here?.body.turns);
    const next = await other?.post("/v1/conversations", { agent: "talk.agent.yml", user: "ana" });
    await other?.post(`/v1/conversations/${next?.body.id}/messages`, { text: "Me again" });
    await over(other, next?.body.id);
    assert.equal((await one?.get(`/v1/conversations/${next?.body.id}`))?.body.slots["global.visits"], 2);
  },
);

onNodes("a run is cancelled from the other node", async (_cluster, one, other) => {
  const { body } = await one?.post("/v1/runs", { file: "a.md" }) ?? assert.fail();
  const cancelled = await Promise.all([other?.post(`/v1/runs/${body.id}/cancel`)]);
  assert.ok((cancelled[0]?.status ?? 500) < 300, JSON.stringify(cancelled));
  assert.equal((await over(one, body.id)).status, "stopped");
  const again = await other?.post(`/v1/runs/${body.id}/resume`);
  assert.ok((again?.status ?? 500) < 300, JSON.stringify(again));
  assert.equal((await over(one, body.id)).value, "one two three");
  assert.equal((await fetch(`${one?.origin}/v1/runs/${body.id}`, { method: "DELETE" })).status, 204);
  assert.equal((await other?.get(`/v1/runs/${body.id}`))?.status, 404);
  assert.deepEqual((await other?.get("/v1/runs"))?.body.runs, []);
});

onNodes("a node that is told to end leaves its runs to another", async (made) => {
  for (const [at, node] of made.nodes.entries()) {
    const { body } = await node.post("/v1/runs", { file: "a.md" });
    node.process.kill("SIGINT");
    await node.process.status;
    const other = made.nodes[1 - at];
    assert.equal((await over(other, body.id)).value, "one two three");
    await node.killAndRestart();
  }
});

onNodes(
  "what another version has kept or handed over is told with words, and all else goes on",
  async ({ restate }, one, other) => {
    const ran = await one?.post("/v1/runs", { file: "a.calls" }) ?? assert.fail();
    await over(one, ran.body.id);
    const rows = await queryRestate(
      restate.admin,
      `SELECT key, value_utf8 FROM state WHERE service_key = '${ran.body.id}'`,
    );
    const state = Object.fromEntries(rows.map(({ key, value_utf8 }) => [String(key), String(value_utf8)]));
    const count = Object.keys(state).filter((key) => key.startsWith("commit ")).length;
    const newer = { ...state, [`commit ${count}`]: '[["addDance",{}]]' };
    const bytes = Object.entries(newer).map(([key, text]) => [key, [...new TextEncoder().encode(text)]]);
    await ok(`${restate.admin}/services/OrreryRun_v1/state`, {
      object_key: ran.body.id,
      new_state: Object.fromEntries(bytes),
    });
    const tellsIt =
      /Another version of Orrery has gone on with this run, .* \(addDance\): ask a node of that version/;
    await until(async () => (await other?.get(`/v1/runs/${ran.body.id}`))?.status === 503);
    for (const node of [one, other]) {
      for (const path of ["", "/trace"]) {
        const { status, body } = await node?.get(`/v1/runs/${ran.body.id}${path}`) ?? assert.fail();
        assert.deepEqual([status, body.code], [503, "journal"]);
        assert.match(body.detail, tellsIt);
      }
      assert.match((await node?.post(`/v1/runs/${ran.body.id}/resume`))?.body.detail, tellsIt);
      assert.equal((await node?.get("/v1/runs"))?.body.runs.length, 1);
    }
    await ok(`${restate.ingress}/OrreryRun_v1/dances/go/send`, { do: "dance" });
    await until(async () => {
      const failures = await queryRestate(restate.admin, "SELECT last_failure FROM sys_invocation");
      return failures.some(({ last_failure }) =>
        String(last_failure).includes('Another version of Orrery has handed this over: {"do":"dance"}')
      );
    });
    const next = await other?.post("/v1/runs", { file: "a.md" });
    assert.equal((await over(one, next?.body.id)).value, "one two three");
  },
);

async function ok(url: string, body: object): Promise<void> {
  const headers = { "content-type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await response.text();
  assert.ok(response.ok, text);
}

onNodes(
  "the command line does its work at any node, and sees the runs of all",
  async ({ folder: cwd }, one, other) => {
    const at = async (node: Node | undefined, ...args: string[]) => {
      const { code, stdout, stderr } = await orrery([...args, "--server", node?.origin ?? ""], { cwd });
      assert.equal(code, 0, stderr);
      return stdout;
    };
    assert.equal(await at(one, "run", "a.calls", "-q"), "hello");
    assert.equal(await at(other, "run", "a.md", "-q"), "one two three\n");
    for (const node of [one, other]) {
      const runs: readonly { readonly id: string; readonly status: string }[] = JSON.parse(
        await at(node, "runs", "--json"),
      );
      assert.deepEqual(runs.map(({ status }) => status), ["done", "done"]);
      for (const { id } of runs) assert.match(await at(node, "trace", id), new RegExp(`^${id} .* done`));
    }
  },
);

Deno.test("nodes on Restate: a run that keeps more than one message of Restate holds goes on at another node; one step of it may not", async () => {
  if (why !== undefined) return console.log(`not run here: ${why}`);
  const call = (id: string, gadget: string, arg: string, value: string) =>
    `!!!GADGET_START:${gadget}:${id}\n!!!ARG:${arg}\n${value}\n!!!GADGET_END\n`;
  const texts = Array.from({ length: 5 }, (_, n) => `text${n}`);
  await using made = await cluster({
    "orrery.yaml": "limits: { result-bytes: 8000000 }\n",
    "large.txt": "0123456789abcdef".repeat(250_000),
    "larger.txt": "0123456789abcdef".repeat(450_000),
    "large.calls": texts.map((id) => call(id, "ReadFile", "path", "large.txt")).join("") +
      call(`wait:${texts}`, "Wait", "seconds", "2") + call("end:wait", "Template", "template", "whole"),
    "larger.calls": call("text", "ReadFile", "path", "larger.txt"),
  });
  const [one, other] = made.nodes;
  assert.ok(one && other);
  const { body: { id } } = await one.post("/v1/runs", { file: "large.calls" });
  await until(async () => (await other.get(`/v1/runs/${id}`)).body.steps === texts.length + 1);
  const holder = await holderOf(id, made.restate);
  await made.nodes.find(({ address }) => address === holder)?.killAndRestart();
  for (const node of made.nodes) {
    await over(node, id);
    const { body: { status, value, calls } } = await node.get(`/v1/runs/${id}`);
    assert.deepEqual([status, value], ["done", "whole"]);
    const lengths = calls.slice(0, texts.length).map(({ result }: { result: string }) => result.length);
    assert.deepEqual(lengths, texts.map(() => 4_000_000));
  }
  const tooMuch = await one.post("/v1/runs", { file: "larger.calls" });
  const ended = await over(one, tooMuch.body.id);
  assert.match(ended.status, /^(stopped|failed)$/);
});

onNodes("what is secret is never given to Restate", async ({ restate }, one) => {
  const begun = await one?.post("/v1/conversations", {
    agent: "talk.agent.yml",
    message: `it is ${SECRET}!`,
  });
  const ran = await one?.post("/v1/runs", { file: "a.md", prompt: `say ${SECRET}` });
  await over(one, begun?.body.id);
  await over(one, ran?.body.id);
  for (const table of ["state", "sys_journal"]) {
    const rows = await queryRestate(restate.admin, `SELECT * FROM ${table}`);
    const texts: readonly string[] = rows.flatMap((row: object) => Object.values(row).map(textOf));
    assert.ok(texts.some((text) => text.includes("[secret OPENAI_API_KEY]")), table);
    assert.ok(!texts.some((text) => text.includes(SECRET)), table);
  }
});

/** Bytes come as hexadecimal digits. */
function textOf(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value) ?? "";
  return /^([0-9a-f]{2})+$/.test(text) ? text + new TextDecoder().decode(Uint8Array.fromHex(text)) : text;
}
