// Lists of runs are right however many there are, and where the process of the server knows better than the journal.

import assert from "node:assert/strict";
import { openJournal } from "../mod.ts";
import { testProject } from "./_project.ts";
import { type Served, served } from "./_served_project.ts";

type Status = "done" | "stopped" | "held";

/** Keeps runs that ended so; gives their ids, oldest first. */
function kept(root: string, statuses: readonly Status[]): readonly string[] {
  using journal = openJournal(root);
  return statuses.map((status) => {
    const run = journal.create({ kind: "calls", input: null });
    run.release(status);
    return run.id;
  });
}

async function listed(
  server: Served,
  query: Readonly<Record<string, string | number>>,
): Promise<readonly string[]> {
  const words = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, `${value}`]));
  const { status, body: { runs } } = await server.json(`/v1/runs?${words}`);
  assert.ok(status === 200 && Array.isArray(runs));
  return runs.map(({ id }) => id);
}

Deno.test("a list by status has as many runs as are wanted, the newest first, however many there are", async () => {
  await using project = await testProject();
  const ids = kept(project.folder, Array.from({ length: 156 }, (_, at) => at % 3 === 0 ? "stopped" : "done"));
  const stopped = ids.filter((_, at) => at % 3 === 0).toReversed();
  await using server = await served(project);
  assert.deepEqual(await listed(server, { status: "stopped", limit: 7 }), stopped.slice(0, 7));
  assert.deepEqual(await listed(server, { status: "stopped" }), stopped.slice(0, 50));
  assert.deepEqual(await listed(server, { status: "running" }), []);
  assert.deepEqual(await listed(server, { status: "held", kind: "calls", limit: 5 }), []);
  assert.deepEqual(await listed(server, { limit: 9 }), ids.toReversed().slice(0, 9));
  const [last = ""] = stopped.slice(6);
  assert.deepEqual(await listed(server, { status: "stopped", limit: 3, before: last }), stopped.slice(7, 10));
});

Deno.test("what this process knows of a run counts, and takes no place of another in the list", async () => {
  await using project = await testProject({
    "wait.calls": "!!!GADGET_START:Wait:w\n!!!ARG:seconds\n600\n!!!GADGET_END\n",
    "sum.calls": "!!!GADGET_START:Calculate:c\n!!!ARG:expression\n6 * 7\n!!!GADGET_END\n",
    "hello.agent.yml":
      'version: "0.1"\nstructure:\n  id: hello\n  action:\n    id: main\n    chain:\n      - { id: q, message: { message: "Who?", hold: true } }\n',
  });
  const [first = "", second = "", third = ""] = kept(project.folder, ["done", "done", "done"]);
  await using server = await served(project);
  const begun = async (body: object): Promise<string> => {
    const answer = await server.json("/v1/runs", { body });
    assert.equal(answer.status, 202);
    return String(answer.body.id);
  };
  const over = async (id: string): Promise<unknown> =>
    (await server.json(`/v1/runs/${id}?wait=10`)).body.status;
  const mine = await begun({ file: "sum.calls", stream: false });
  assert.equal(await over(mine), "done");
  const running = await begun({ file: "wait.calls", stream: false });
  const talk = await server.json("/v1/conversations", { body: { agent: "hello.agent.yml" } });
  const said = String(talk.body.id);
  assert.deepEqual(await listed(server, { status: "running" }), [running]);
  assert.deepEqual(await listed(server, { status: "held" }), [said]);
  assert.deepEqual(await listed(server, { status: "done", kind: "calls", limit: 2 }), [mine, third]);
  assert.deepEqual(await listed(server, { status: "done" }), [mine, third, second, first]);
  assert.deepEqual(await listed(server, { limit: 3 }), [said, running, mine]);
  const answer = await server.json(`/v1/conversations/${said}/messages`, { body: { text: "Me" } });
  assert.equal(answer.body.status, "completed", JSON.stringify(answer.body));
  assert.deepEqual(await listed(server, { status: "completed" }), [said]);
  assert.deepEqual(await listed(server, { status: "held" }), []);
  assert.equal((await server.json(`/v1/runs/${running}/cancel`, { body: {} })).status, 202);
  await over(running);
  assert.deepEqual(await listed(server, { status: "running" }), []);
  assert.deepEqual(await listed(server, { status: "stopped" }), [running]);
});
