// A server under mixed load for ten minutes: what it holds of the machine at the end is what it held near the beginning.

import assert from "node:assert/strict";
import { join } from "node:path";
import { serveProject } from "../_served_project.ts";
import type { ServedProject } from "../_served_project.ts";
import { testProject } from "../_project.ts";
import type { TestProject } from "../_project.ts";
import { LOAD_FILES, LOAD_FLAGS, LOAD_RUNS } from "../_server_load.ts";
import { pause } from "../_waiting.ts";
import { sendRaw } from "../_server.ts";

const MINUTES = Number(Deno.env.get("ORRERY_SOAK_MINUTES") ?? 10);

/** What a process holds. */
interface Held {
  readonly megabytes: number;
  readonly descriptors: number;
  readonly children: number;
  readonly journalBytes: number;
  /** Files beside the journal, and those of what runs were granted. */
  readonly files: number;
}

const GADGET = 'export default { name: "Own", description: "Of the project.", run: () => 42 };';

/** Serves clients of all kinds; gives what was answered, and what it held. */
export async function serverLoad(): Promise<string> {
  await using project = await testProject({
    ...LOAD_FILES,
    "gadgets/own.js": GADGET,
    "own.calls": "!!!GADGET_START:Own:o\n!!!GADGET_END\n",
    "../config/orrery/config.yaml": "grants:\n  ../../project/Own: {}\n",
  });
  await using server = await serveProject(project, LOAD_FLAGS);
  const load = new MixedLoad(server);
  const warmUpMs = Math.min(60_000, MINUTES * 60_000 / 4);
  await load.during(warmUpMs);
  const idle = await quiet(server, project);
  const samples: Held[] = [];
  const until = performance.now() + MINUTES * 60_000;
  load.begin();
  while (performance.now() < until) {
    await load.orFailed(pause(Math.min(10_000, MINUTES * 2_000)));
    samples.push(await heldBy(server.pid, project));
  }
  await load.end();
  const after = await quiet(server, project);
  const third = Math.ceil(samples.length / 3);
  const [early, late] = [samples.slice(0, third), samples.slice(-third)].map((some) =>
    median(some.map(({ megabytes }) => megabytes))
  );
  assert.ok(early !== undefined && late !== undefined);
  const told = `${load.told()}; memory ${early.toFixed(0)} to ${late.toFixed(0)} MB under load, idle ${
    idle.megabytes.toFixed(0)
  } to ${
    after.megabytes.toFixed(0)
  } MB; descriptors ${idle.descriptors} to ${after.descriptors}; children ${idle.children} to ${after.children}; journal ${
    (idle.journalBytes / 1e6).toFixed(1)
  } to ${(after.journalBytes / 1e6).toFixed(1)} MB; files ${idle.files} to ${after.files}`;
  assert.ok(late < early * 1.25 + 20, `the memory grew: ${told}`);
  assert.ok(after.descriptors <= idle.descriptors + 4, `descriptors are left: ${told}`);
  assert.ok(after.children <= idle.children, `processes are left: ${told}`);
  assert.ok(after.journalBytes < idle.journalBytes * 1.5 + 4e6, `the journal grew: ${told}`);
  assert.ok(after.files <= idle.files + 2, `files are left: ${told}`);
  assert.doesNotMatch(server.told(), /warning|HTTP [0-9a-f]{8}/);
  server.signal("SIGTERM");
  assert.equal(await server.exit, 0);
  return told;
}

type Work = (server: ServedProject, n: number) => Promise<void>;

/** Clients of all kinds. */
class MixedLoad {
  readonly #server: ServedProject;
  readonly #counts = new Map<string, number>();
  #isOver = true;
  #clients: Promise<unknown> = Promise.resolve();

  constructor(server: ServedProject) {
    this.#server = server;
  }

  async during(ms: number): Promise<void> {
    this.begin();
    await this.orFailed(pause(ms));
    await this.end();
  }

  begin(): void {
    this.#isOver = false;
    this.#clients = Promise.all(
      Object.entries(WORK).flatMap(([name, { clients, work }]) =>
        Array.from({ length: clients }, (_, index) => this.#client(name, work, index))
      ),
    );
    this.#clients.catch(() => undefined);
  }

  /** Waits, and fails as soon as a client does. */
  async orFailed(work: Promise<void>): Promise<void> {
    await Promise.race([work, this.#clients]);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#clients;
  }

  told(): string {
    return [...this.#counts].map(([name, count]) => `${count} ${name}`).join(", ");
  }

  async #client(name: string, work: Work, index: number): Promise<void> {
    for (let n = index; !this.#isOver; n++) {
      await work(this.#server, n);
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    }
  }
}

/** What clients do again and again, and how many there are of each. */
const WORK: Readonly<Record<string, { readonly clients: number; readonly work: Work }>> = {
  "runs": { clients: 4, work: startAndRemove },
  "streams": { clients: 4, work: follow },
  "streams that were left": { clients: 2, work: leave },
  "conversations": { clients: 1, work: talk },
  "gadgets of the project": { clients: 1, work: own },
  "sessions of MCP": { clients: 1, work: mcpSession },
  "chat completions": { clients: 1, work: complete },
  "pages": { clients: 1, work: page },
  "bad requests": { clients: 1, work: bad },
  "cancelled runs": { clients: 1, work: cancel },
};

async function startAndRemove(server: ServedProject, n: number): Promise<void> {
  const { path, body } = LOAD_RUNS[n % LOAD_RUNS.length] ?? LOAD_RUNS[0] ?? { path: "", body: {} };
  await removed(server, await start(server, body, path));
}

/** Gives its id; 429 is waited out. */
async function start(server: ServedProject, body: unknown, path = "/v1/runs"): Promise<string> {
  for (;;) {
    const answer = await server.json(path, { body });
    if (answer.status === 202) return String(answer.body.id);
    if (answer.status === 200) return String(answer.body.run);
    assert.equal(answer.status, 429, JSON.stringify(answer.body));
    await pause(20);
  }
}

/** Waits for its end and removes it: what is kept is not what grows. */
async function removed(server: ServedProject, id: string, status = "done"): Promise<void> {
  const { body } = await server.json(`/v1/runs/${id}?wait=20`);
  assert.equal(body.status, status, JSON.stringify(body));
  assert.equal((await server.json(`/v1/runs/${id}`, { method: "DELETE" })).status, 204);
}

async function follow(server: ServedProject): Promise<void> {
  const id = await start(server, { file: "long.calls" });
  const text = await (await server.ask(`/v1/runs/${id}/events`)).text();
  const seqs = [...text.matchAll(/^id: (\d+)$/gm)].map(([, seq]) => Number(seq));
  assert.deepEqual(seqs, seqs.toSorted((a, b) => a - b));
  assert.match(text, /event: run-end/);
  await removed(server, id);
}

/** A reader that reads nothing and goes. */
async function leave(server: ServedProject, n: number): Promise<void> {
  const id = await start(server, { path: "slow" });
  const stop = new AbortController();
  const answer = await server.ask(`/v1/runs/${id}/events`, { signal: stop.signal });
  assert.equal(answer.status, 200);
  await pause(n % 40);
  stop.abort();
  await removed(server, id);
}

async function talk(server: ServedProject): Promise<void> {
  const begun = await retried(() => server.json("/v1/conversations", { body: { agent: "guide.agent.yml" } }));
  assert.equal(begun.status, 201, JSON.stringify(begun.body));
  const path = `/v1/conversations/${begun.body.id}`;
  for (const [text, status] of [["Ann", "held"], ["no", "completed"]] as const) {
    const said = await retried(() => server.json(`${path}/messages`, { body: { text } }));
    assert.equal(said.body.status, status, JSON.stringify(said.body));
  }
  assert.equal((await server.json(`/v1/runs/${begun.body.id}`, { method: "DELETE" })).status, 204);
}

async function retried<Answer extends { readonly status: number }>(
  ask: () => Promise<Answer>,
): Promise<Answer> {
  for (;;) {
    const answer = await ask();
    if (answer.status !== 429) return answer;
    await pause(20);
  }
}

async function own(server: ServedProject): Promise<void> {
  await removed(server, await start(server, { file: "own.calls" }));
  await pause(50);
}

async function cancel(server: ServedProject): Promise<void> {
  const id = await start(server, { file: "long.calls" });
  await pause(30);
  const told = await server.json(`/v1/runs/${id}/cancel`, { body: {} });
  if (told.status === 202) return await removed(server, id, "stopped");
  assert.equal(told.status, 409, JSON.stringify(told.body));
  await removed(server, id);
}

const MCP = { accept: "application/json, text/event-stream" };

async function mcpSession(server: ServedProject): Promise<void> {
  const message = (method: string, params: unknown, id?: number) => ({ jsonrpc: "2.0", method, params, id });
  const begun = await server.ask("/mcp", {
    headers: MCP,
    body: message("initialize", {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "load", version: "1" },
    }, 1),
  });
  assert.equal(begun.status, 200);
  await begun.text();
  const session = begun.headers.get("mcp-session-id");
  assert.ok(session !== null);
  const headers = { ...MCP, "mcp-session-id": session, "mcp-protocol-version": "2025-06-18" };
  const ready = await server.ask("/mcp", { headers, body: message("notifications/initialized", {}) });
  await ready.body?.cancel();
  const called = await server.ask("/mcp", {
    headers,
    body: message("tools/call", { name: "Calculate", arguments: { expression: "6 * 7" } }, 2),
  });
  assert.match(await called.text(), /42/);
  await removeAll(server, "Calculate"); // MCP tells no id of a run
  const ended = await server.ask("/mcp", { method: "DELETE", headers });
  assert.equal(ended.status, 200);
  await ended.body?.cancel();
  await pause(50);
}

/** The runs of a gadget that nobody else starts. */
async function removeAll(server: ServedProject, gadget: string): Promise<void> {
  const { runs } = (await server.json(`/v1/runs?file=${gadget}`)).body;
  assert.ok(Array.isArray(runs) && runs.length > 0);
  for (const { id } of runs) await removed(server, id);
}

async function complete(server: ServedProject, n: number): Promise<void> {
  const stream = n % 2 === 0;
  const body = { model: "orrery/prompt/slow", messages: [{ role: "user", content: "{}" }], stream };
  const answer = await server.ask("/v1/chat/completions", { body });
  const text = await answer.text();
  if (answer.status === 429) return await pause(20);
  assert.equal(answer.status, 200, text);
  assert.match(text, /one|data:/);
  const run = answer.headers.get("orrery-run");
  if (run !== null) await removed(server, run);
  await pause(50);
}

const PAGES = [
  "/",
  "/runs",
  "/gadgets",
  "/documents/plan.md",
  "/prompts/slow",
  "/openapi.json",
  "/v1/catalog",
  "/docs",
];

async function page(server: ServedProject, n: number): Promise<void> {
  const path = PAGES[n % PAGES.length] ?? "/";
  const answer = await server.ask(path);
  const text = await answer.text();
  assert.equal(answer.status, 200, `${path}: ${text.slice(0, 300)}`);
  await pause(50);
}

async function bad(server: ServedProject, n: number): Promise<void> {
  const requests = [
    "GET /v1/runs HTTP/1.1\r\nHost: evil.example\r\n\r\n",
    `POST /v1/runs HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Length: 999999999\r\n\r\n{`,
    `GET /v1/runs/..%2f.. HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`,
    "x\r\n\r\n",
    `POST /v1/runs HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n`, // and goes
  ];
  const { status } = await sendRaw(server.port, requests[n % requests.length] ?? "", { waitMs: 100 });
  assert.ok(status === 0 || (status >= 400 && status < 500), String(status));
  await pause(20);
}

/** What it holds when nobody asks for anything, as far as it gets to in half a minute. */
async function quiet(server: ServedProject, project: TestProject): Promise<Held> {
  let least = await heldBy(server.pid, project);
  for (let tries = 0; tries < 6; tries++) {
    await pause(5_000);
    const now = await heldBy(server.pid, project);
    least = now.descriptors <= least.descriptors ? now : least;
  }
  return least;
}

async function heldBy(pid: number, { folder, env }: TestProject): Promise<Held> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  const [journal, state] = await Promise.all([
    filesIn(join(folder, ".orrery")),
    filesIn(env.XDG_STATE_HOME ?? ""),
  ]);
  return {
    megabytes: Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1_024,
    descriptors: [...Deno.readDirSync(`/proc/${pid}/fd`)].length,
    children:
      (await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`)).split(" ").filter((one) => one !== "")
        .length,
    journalBytes: journal.reduce((sum, { size }) => sum + size, 0),
    files: journal.length + state.length,
  };
}

async function filesIn(folder: string): Promise<readonly { readonly size: number }[]> {
  const found: { readonly size: number }[] = [];
  try {
    for await (const entry of Deno.readDir(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory) found.push(...await filesIn(path));
      else found.push(await Deno.stat(path));
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error; // it was removed meanwhile
  }
  return found;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
