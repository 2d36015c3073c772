// Steps on a real Restate server. Their contract: each life of a run is an invocation, and what one has kept the next one has from Restate. And
// kill -9 of the node that runs, of Restate, and of both: each run ends, what has finished is done once, and what is not idempotent is never
// done twice.
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { restateClient } from "../../lib/durable/restate_client.ts";
import { durableNode, type KeptCommits, TaskRefused } from "../../lib/durable/run_service.ts";
import { performEffect } from "../../lib/run/effect.ts";
import { type Engine, type InPlace, type Life, lived, type Place, stepContract } from "../_step_contract.ts";
import { pause, until } from "../_waiting.ts";
import { freePort, type RestateServer, restateServer, whyNot } from "./_restate.ts";

const why = await whyNot();
if (why !== undefined) Deno.test("steps on Restate", () => console.log(`not run here: ${why}`));
else {
  const server = await restateServer();
  globalThis.addEventListener("unload", () => server[Symbol.dispose]());
  stepContract({ Restate: onRestate(server) });
  Deno.test("a node knows what another one has kept, and is told why it refuses a task", () =>
    twoNodes(server));
}

async function twoNodes(server: RestateServer): Promise<void> {
  const client = restateClient(server, fetch);
  const node = durableNode({
    address: "http://127.0.0.1:1",
    async work({ run: id, task, isAgain }) {
      if (task === "refuse") throw new TaskRefused({ code: "invalid", message: "no such file" });
      assert.equal(isAgain, false);
      const run = node.journal.create({ id, kind: "test", input: task });
      const perform = async () => {
        await until(async () => (await client.look(id, 0)).node === "http://127.0.0.1:1");
        return "found";
      };
      await lived((run) => performEffect(run, { ...READ, perform }), { journal: run });
    },
  });
  const other = durableNode({ work: () => Promise.reject(new Error("it takes none")) });
  const http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, node.handler);
  try {
    await client.register(`http://127.0.0.1:${http.addr.port}`);
    const run = crypto.randomUUID();
    await client.perform(run, { text: "ä" });
    const kept = await client.look(run, other.known(run));
    assert.equal(kept.node, undefined, "nobody has it any more");
    other.learn(run, kept);
    assert.deepEqual(other.journal.read(run), node.journal.read(run));
    assert.equal(other.journal.read(run).steps[0]?.status, "finished");
    assert.deepEqual(await client.look(run, other.known(run)), {
      from: kept.commits.length,
      count: kept.commits.length,
      commits: [],
    });
    assert.ok((await client.rows()).some(({ row, node }) => row.id === run && node === undefined));
    await assert.rejects(client.perform(crypto.randomUUID(), "refuse"), (error) => {
      assert.ok(error instanceof TaskRefused);
      return assert.deepEqual(error.why, { code: "invalid", message: "no such file" }) ?? true;
    });
    const nowhere = restateClient({ admin: "http://127.0.0.1:1", ingress: "http://127.0.0.1:1" }, fetch);
    await assert.rejects(
      nowhere.look(run, 0),
      /^JournalError: Restate at http:\/\/127\.0\.0\.1:1 does not answer/,
    );
  } finally {
    await http.shutdown();
  }
}

Deno.test("a node lets go of the runs that were looked at long ago, and learns them anew", () => {
  const from = durableNode({ work: () => Promise.reject(new Error("it takes none")), mostKnown: 20_000 });
  const commits = (id: string): KeptCommits => ({
    from: 0,
    count: 1,
    commits: [[
      ["putRun", {
        id,
        kind: "calls",
        status: "done",
        startedAt: 0,
        updatedAt: 0,
        usage: "{}",
        steps: 0,
        ticks: 0,
        elapsedMs: 0,
      }],
      ["putInput", id, JSON.stringify("x".repeat(9_000))],
    ]],
  });
  for (const id of ["a", "b", "c"]) from.learn(id, commits(id));
  assert.deepEqual(["a", "b", "c"].map(from.known), [0, 1, 1]);
  from.learn("b", { from: 1, count: 1, commits: [] }); // looked at once more
  from.learn("a", commits("a"));
  assert.deepEqual(["a", "b", "c"].map(from.known), [1, 1, 0]);
  assert.deepEqual(from.journal.list().map(({ id }) => id).sort(), ["a", "b"]);
  assert.equal(from.journal.read("a").run.input, "x".repeat(9_000));
});

Deno.test("a node with the key of Restate refuses what is not signed with it", async () => {
  if (why !== undefined) return console.log(`not run here: ${why}`);
  const key = await Deno.makeTempFile({ suffix: ".pem" });
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  assert.ok("privateKey" in pair);
  const pem = new Uint8Array(await crypto.subtle.exportKey("pkcs8", pair.privateKey)).toBase64();
  await Deno.writeTextFile(key, `-----BEGIN PRIVATE KEY-----\n${pem}\n-----END PRIVATE KEY-----\n`);
  const identity = `publickeyv1_${
    base58(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)))
  }`;
  using signing = await restateServer({ more: `request-identity-private-key-pem-file = "${key}"\n` });
  using other = await restateServer();
  const node = durableNode({ identity, work: () => Promise.reject(new TaskRefused("it was asked")) });
  const http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, node.handler);
  const url = `http://127.0.0.1:${http.addr.port}`;
  try {
    await restateClient(signing, fetch).register(url);
    await assert.rejects(restateClient(signing, fetch).perform("a", null), /it was asked/);
    await assert.rejects(restateClient(other, fetch).register(url), /401/);
    const response = await fetch(`${url}/invoke/OrreryRun_v1/go`, { method: "POST" });
    await response.body?.cancel();
    assert.equal(response.status, 401);
  } finally {
    await http.shutdown();
    await Deno.remove(key);
  }
});

function base58(bytes: Uint8Array): string {
  let text = "";
  for (let rest = BigInt(`0x${bytes.toHex()}`); rest > 0n; rest /= 58n) {
    text = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"[Number(rest % 58n)] + text;
  }
  return "1".repeat(bytes.findIndex((byte) => byte !== 0)) + text;
}

const READ = { key: "a", kind: "read", name: "a file", input: null, isIdempotent: true } as const;

function onRestate(server: RestateServer): InPlace {
  return async (check, given = {}) => {
    let engine: Engine = () => Promise.resolve(null);
    let asked: Parameters<Place["life"]>[1];
    let life: Life | undefined;
    const node = durableNode({
      ...given,
      async work({ run: id }) {
        const run = node.known(id) === 0
          ? node.journal.create({ id, kind: "test", input: null })
          : node.journal.open(id);
        for (const step of node.journal.read(id).steps) {
          if (step.status === "finished" || step.idempotent) continue;
          const said = asked?.(step);
          if (said !== undefined) run.settle(step.key, said === "rerun" ? said : { outcome: said });
        }
        life = await lived(engine, { journal: run, secrets: given.secrets });
      },
    });
    const http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, node.handler);
    try {
      await restateClient(server, fetch).register(`http://127.0.0.1:${http.addr.port}`);
      const run = crypto.randomUUID();
      await check({
        most: 1,
        async life(work, look) {
          [engine, asked, life] = [work, look, undefined];
          await restateClient(server, fetch).perform(run, null);
          return life ?? assert.fail("no life");
        },
      });
    } finally {
      await http.shutdown();
    }
  };
}

const RUNS = 6;
const WHO = ["node", "restate", "both"] as const;

for (const who of WHO) {
  Deno.test(`runs on Restate go on when ${who === "both" ? "node and restate are" : `${who} is`} killed`, async () => {
    if (why !== undefined) return console.log(`not run here: ${why}`);
    await killed(who);
  });
}

async function killed(who: (typeof WHO)[number]): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "orrery-durable-" });
  using server = await restateServer();
  const port = freePort();
  let node = await startNode(port, folder);
  try {
    await restateClient(server, fetch).register(`http://127.0.0.1:${port}`);
    const runs = Array.from({ length: RUNS }, () => crypto.randomUUID());
    for (const run of runs) restateClient(server, fetch).perform(run, null).catch(() => undefined); // it is lost with Restate, and the run is not
    await pause(50);
    const lines = async (run: string): Promise<readonly string[]> =>
      (await Deno.readTextFile(join(folder, run)).catch(() => "")).split("\n");
    let kills = 0;
    const kill = async (): Promise<void> => {
      kills++;
      if (who !== "restate") node.kill("SIGKILL");
      if (who !== "node") server.kill();
      if (who !== "restate") {
        await node.status;
        node = await startNode(port, folder);
      }
      if (who !== "node") await server.restart();
    };
    for (let n = 0; n < 3; n++) {
      await pause(20 + 40 * n);
      await kill();
    }
    await until(async () => {
      const all = await Promise.all(runs.map(lines));
      return all.every((each) => each.some((line) => line.startsWith("value ")));
    }, 60_000);
    for (const run of runs) {
      const all = await lines(run);
      const keys = Array.from({ length: 12 }, (_, n) => `s${n}`);
      for (const [n, key] of keys.entries()) {
        const times = all.filter((line) => line === key).length;
        assert.ok(
          times >= 1 && times <= (n % 3 === 0 ? 1 : 1 + kills),
          `${run}: ${key} was done ${times} times`,
        );
      }
      const more = all.filter((line) => keys.includes(line)).length - keys.length;
      assert.ok(
        more <= 2 * kills,
        `${run}: ${more} steps were done again, and at most two were under way at each kill`,
      );
      assert.ok(all.includes(`value ${JSON.stringify(keys)}`), `${run}: ${all.at(-2)}`);
    }
  } finally {
    node.kill("SIGKILL");
    await node.status;
    await Deno.remove(folder, { recursive: true });
  }
}

/** Answers when it is ready. */
async function startNode(port: number, folder: string): Promise<Deno.ChildProcess> {
  const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      "--config",
      here("../deno_tests.json"),
      here("_node.ts"),
      String(port),
      folder,
    ],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = child.stdout.getReader();
  await reader.read();
  reader.releaseLock();
  await child.stdout.cancel();
  return child;
}
