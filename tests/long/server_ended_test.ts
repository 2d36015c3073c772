// A server that is ended under load, kindly and not: no run that was accepted is lost, and each can be gone on with to its end.
import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestProject, testProject } from "../_project.ts";
import { serveProject } from "../_served_project.ts";
import { codeOf, TOKEN } from "../_server.ts";
import { allDone, Clients, LOAD_FILES, LOAD_FLAGS } from "../_server_load.ts";
import { pause } from "../_waiting.ts";
import { thoroughTest } from "../_thorough.ts";

const CLIENTS = 8;

/** Where the token of a server is, for its user alone. */
const TOKEN_FILE = ".orrery/orrery.db-token";

async function tokenOf(project: TestProject): Promise<string | undefined> {
  return await Deno.readTextFile(join(project.folder, TOKEN_FILE)).catch(() => undefined);
}

thoroughTest("killed under load: every run that was accepted goes on to its end", async () => {
  await using project = await testProject(LOAD_FILES);
  let [accepted, resumed] = [0, 0];
  for (const afterMs of [700, 1_300, 2_000]) {
    const { seen } = await killed(project, afterMs);
    accepted += seen.accepted.size;
    await using again = await serveProject(project, LOAD_FLAGS);
    resumed += (await allDone(again, seen.accepted)).resumed;
  }
  assert.ok(accepted > 30 && resumed > 3, `${accepted} accepted, ${resumed} gone on with`);
});

/** Serves, and is killed in the middle of what clients ask for. */
async function killed(project: TestProject, afterMs: number): Promise<Clients> {
  await using server = await serveProject(project, LOAD_FLAGS);
  const clients = new Clients(server, CLIENTS);
  await pause(afterMs);
  server.signal("SIGKILL");
  assert.equal(await server.exit, 137);
  await clients.stop();
  return clients;
}

Deno.test("told to end under load: steps end, new work is refused, nothing is lost, and the token is gone", async () => {
  await using project = await testProject({
    ...LOAD_FILES,
    "slow.calls": "!!!GADGET_START:Wait:w\n!!!ARG:seconds\n2\n!!!GADGET_END\n" +
      "!!!GADGET_START:Calculate:then:w\n!!!ARG:expression\n6 * 7\n!!!GADGET_END\n",
  });
  const { seen, slow } = await (async () => {
    await using server = await serveProject(project, LOAD_FLAGS);
    assert.equal(await tokenOf(project), `${TOKEN}\n`);
    const clients = new Clients(server, CLIENTS);
    await pause(800);
    const slow = await started(server.json, "slow.calls");
    clients.seen.accepted.set(slow, { path: "/v1/runs", body: { file: "slow.calls" } });
    const events = await server.ask(`/v1/runs/${slow}/events`);
    const reading = events.text();
    await pause(100);
    const toldAt = performance.now();
    server.signal("SIGTERM");
    await pause(300);
    const refused = await server.json("/v1/runs", { body: { file: "quick.calls" } });
    assert.deepEqual([refused.status, refused.body.code], [503, "stopping"]);
    assert.equal(refused.headers.get("retry-after"), "1");
    assert.equal(refused.headers.get("content-type"), "application/problem+json");
    const talk = await server.json("/v1/conversations", { body: { agent: "guide.agent.yml" } });
    assert.deepEqual([talk.status, talk.body.code], [503, "stopping"]);
    const resumed = await server.json(`/v1/runs/${slow}/resume`, { body: {} });
    assert.equal(resumed.status, 503);
    const looked = await server.json(`/v1/runs/${slow}`);
    assert.deepEqual([looked.status, looked.body.status], [200, "running"]);
    assert.equal((await server.json("/healthz")).status, 200);
    assert.equal(await server.exit, 0);
    const tookMs = performance.now() - toldAt;
    assert.ok(tookMs > 500 && tookMs < 12_000, `${tookMs} ms`);
    await clients.stop();
    assert.match(await reading, /event: run-end\n.*\n.*"status":"stopped"/);
    assert.equal(await tokenOf(project), undefined);
    assert.ok((clients.seen.statuses.get(503) ?? 0) > 0);
    assert.match(server.told(), /Once more ends at once/);
    assert.doesNotMatch(server.told(), /warning|HTTP [0-9a-f]{8}/);
    return { seen: clients.seen, slow };
  })();
  assert.ok(seen.accepted.size > 10);
  const trace = JSON.parse(
    (await project.run(["trace", slow, "--json"])).stdout,
  );
  assert.equal(trace.summary.status, "stopped");
  assert.deepEqual(trace.steps.map(({ key, status }: Record<string, string>) => [key, status]), [
    ["call:w", "finished"],
  ]);
  await using again = await serveProject(project, LOAD_FLAGS);
  const { resumed } = await allDone(again, seen.accepted);
  assert.ok(resumed > 0);
});

Deno.test("told to end while an agent answers: the step under way ends, and the turn goes on from there", async () => {
  const wait = (id: string) => `      - { id: ${id}, gadget: { name: Wait, input: { seconds: 1 } } }\n`;
  await using project = await testProject({
    "slow.agent.yml": `version: "0.1"
structure:
  id: slow
  action:
    id: main
    chain:
      - { id: name?, message: { message: "Your name?", hold: true } }
${wait("first")}      - { id: half, message: { message: "Half." } }
${wait("second")}      - { id: more?, message: { message: "More?", hold: true } }
`,
  });
  const id = await (async () => {
    await using server = await serveProject(project);
    const { body } = await server.json("/v1/conversations", { body: { agent: "slow.agent.yml" } });
    const { id } = body;
    assert.ok(typeof id === "string", JSON.stringify(body));
    assert.equal((await server.json(`/v1/runs/${id}?wait=30`)).body.status, "held");
    const answer = server.json(`/v1/conversations/${id}/messages`, { body: { text: "Ann" } });
    await pause(500);
    const at = performance.now();
    server.signal("SIGTERM");
    assert.equal(await server.exit, 0);
    const tookMs = performance.now() - at;
    assert.ok(tookMs > 200 && tookMs < 6_000, `${tookMs} ms`);
    const { status, body: { error } } = await answer;
    assert.deepEqual([status, error], [200, "The last turn was interrupted: retry finishes it"]);
    return id;
  })();
  const trace = async () => JSON.parse((await project.run(["trace", id, "--json"])).stdout);
  const told = ({ events }: { readonly events: readonly Record<string, string>[] }) =>
    events.flatMap(({ type, text }) => type === "message" ? [text] : []);
  const gadgets = ({ steps }: { readonly steps: readonly Record<string, string>[] }) =>
    steps.flatMap(({ kind, attempt, status }) => kind === "gadget" ? [`${attempt} ${status}`] : []);
  const stopped = await trace();
  assert.equal(stopped.summary.status, "stopped");
  assert.deepEqual([told(stopped), gadgets(stopped)], [["Your name?", "Half."], ["1 finished"]]);
  const resumed = await project.run(["resume", id, "--json"]);
  assert.equal(resumed.code, 0, resumed.stderr);
  const whole = await trace();
  assert.equal(whole.summary.status, "held");
  assert.deepEqual(told(whole), ["Your name?", "Half.", "More?"]);
  assert.deepEqual(gadgets(whole), ["1 finished", "1 finished"]);
});

Deno.test("told twice: it ends at once, and what was under way can go on", async () => {
  await using project = await testProject({
    ...LOAD_FILES,
    "slow.calls": "!!!GADGET_START:Wait:w\n!!!ARG:seconds\n6\n!!!GADGET_END\n",
  });
  const id = await (async () => {
    await using server = await serveProject(project, LOAD_FLAGS);
    const id = await started(server.json, "slow.calls");
    await pause(300);
    server.signal("SIGTERM");
    await pause(300);
    const at = performance.now();
    server.signal("SIGTERM");
    assert.equal(await server.exit, 130);
    assert.ok(performance.now() - at < 2_000);
    assert.equal(await tokenOf(project), undefined);
    return id;
  })();
  await project.write("slow.calls", ""); // it goes on as it was
  await using again = await serveProject(project);
  const found = await again.json(`/v1/runs/${id}`);
  assert.equal(found.body.status, "stopped", JSON.stringify(found.body));
  const resumed = await again.json(`/v1/runs/${id}/resume`, { body: {} });
  assert.equal(resumed.status, 202, JSON.stringify(resumed.body));
  assert.equal((await again.json(`/v1/runs/${id}?wait=30`)).body.status, "done");
});

Deno.test("another server of the project keeps its token, and one that was killed leaves none that counts", async () => {
  await using project = await testProject(LOAD_FILES);
  {
    await using server = await serveProject(project);
    server.signal("SIGKILL");
    await server.exit;
  }
  assert.equal(await tokenOf(project), `${TOKEN}\n`);
  await using server = await serveProject(project, [], { token: "another-token-0123456789" });
  assert.equal(await tokenOf(project), "another-token-0123456789\n");
  const answer = await server.ask("/v1/runs", { headers: { authorization: `Bearer ${TOKEN}` } });
  assert.equal(answer.status, 401);
  assert.equal(codeOf(await answer.text()), "token");
  const { mode } = await Deno.stat(join(project.folder, TOKEN_FILE));
  assert.equal((mode ?? 0) & 0o777, 0o600);
});

Deno.test("what a run may do, a document and a conversation are there after a restart, under what holds then", async () => {
  await using project = await testProject({
    ...LOAD_FILES,
    "said.yml": '- { chunks: ["one ", "two ", "three"], delayMs: 300, repeat: true }\n',
    "late.calls": "!!!GADGET_START:Wait:w\n!!!ARG:seconds\n1\n!!!GADGET_END\n" +
      "!!!GADGET_START:WriteFile:write:w\n!!!ARG:path\nlate.txt\n!!!ARG:content\nhello\n!!!GADGET_END\n",
  });
  const [writer, document, talk] = await (async () => {
    await using server = await serveProject(project, LOAD_FLAGS);
    const begun = await server.json("/v1/conversations", { body: { agent: "guide.agent.yml", user: "ann" } });
    assert.equal(begun.status, 201, JSON.stringify(begun.body));
    const ids = [await started(server.json, "late.calls"), await started(server.json, "plan.md")];
    await pause(400); // the model is in the middle of its answer
    server.signal("SIGKILL");
    await server.exit;
    return [...ids, String(begun.body.id)];
  })();
  await using server = await serveProject(project); // without --allow-write: what it was granted is kept with the run
  for (const id of [writer, document]) {
    assert.equal((await server.json(`/v1/runs/${id}/resume`, { body: {} })).status, 202);
    const { body } = await server.json(`/v1/runs/${id}?wait=30`);
    assert.equal(body.status, "done", JSON.stringify(body));
  }
  assert.equal(await project.read("late.txt"), "hello");
  const refused = await server.json("/v1/runs?file=write.calls");
  assert.equal(refused.status, 200);
  const fresh = await server.json(`/v1/runs/${await started(server.json, "write.calls")}?wait=30`);
  assert.equal(fresh.body.status, "failed"); // a new one is not granted what the old one was
  const said = await server.json(`/v1/conversations/${talk}/messages`, { body: { text: "Ann" } });
  assert.equal(said.status, 200, JSON.stringify(said.body));
  assert.deepEqual([said.body.status, said.body.turns, said.body.user], ["held", 2, "ann"]);
  assert.deepEqual(roles(said.body.messages), ["assistant", "user", "assistant", "assistant"]);
});

Deno.test("a folder of gadgets that changes while the server runs: under way as it was, the next one as it is", async () => {
  const gadget = (value: number) =>
    `export default { name: "Number", description: "A number.", run: async () => { await new Promise((r) => setTimeout(r, 800)); return ${value}; } };`;
  const grants = { "orrery.yaml": `${LOAD_FILES["orrery.yaml"]}\n` };
  await using project = await testProject({
    ...LOAD_FILES,
    ...grants,
    "gadgets/number.js": gadget(1),
    "number.calls": "!!!GADGET_START:Number:n\n!!!GADGET_END\n",
  });
  await project.write(
    "../config/orrery/config.yaml",
    "grants:\n  ../../project/Number: trusted\n",
  );
  await using server = await serveProject(project);
  const run = () => started(server.json, "number.calls");
  const valueOf = async (id: string) => (await server.json(`/v1/runs/${id}?wait=20`)).body.value;
  const before = await run();
  await project.write("gadgets/number.js", gadget(2));
  await pause(1_200);
  const after = await run();
  assert.deepEqual([await valueOf(before), await valueOf(after)], [1, 2]);
  await project.write("gadgets/number.js", "export default {");
  await pause(1_200);
  assert.equal((await server.json("/v1/runs", { body: { file: "quick.calls" } })).status, 202);
  await Deno.remove(join(project.folder, "gadgets"), { recursive: true });
  await pause(1_200);
  const gone = await server.json("/v1/gadgets/Number", { body: { input: {} } });
  assert.deepEqual([gone.status, gone.body.code], [404, "not-found"], JSON.stringify(gone.body));
});

async function started(
  json: (
    path: string,
    options: { readonly body: unknown },
  ) => Promise<{ status: number; body: Readonly<Record<string, unknown>> }>,
  file: string,
): Promise<string> {
  for (;;) {
    const { status, body } = await json("/v1/runs", { body: { file } });
    if (status === 202) return String(body.id);
    assert.equal(status, 429, JSON.stringify(body));
    await pause(20);
  }
}

function roles(messages: unknown): readonly unknown[] {
  assert.ok(Array.isArray(messages));
  return messages.map(({ role }: { readonly role: unknown }) => role);
}
