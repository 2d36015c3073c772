// Steps on a real Restate server. Their contract: each life of a run is an invocation, and what one has kept the next one has from Restate. And
// kill -9 of the node that runs, of Restate, and of both: each run ends, what has finished is done once, and what is not idempotent is never
// done twice.
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { durableNode, RUN_SERVICE } from "../../lib/durable/run_service.ts";
import { type Engine, type InPlace, type Life, lived, type Place, stepContract } from "../_step_contract.ts";
import { pause, until } from "../_waiting.ts";
import { freePort, type RestateServer, restateServer, whyNot } from "./_restate.ts";

const why = await whyNot();
if (why !== undefined) Deno.test("steps on Restate", () => console.log(`not run here: ${why}`));
else {
  const server = await restateServer();
  globalThis.addEventListener("unload", () => server[Symbol.dispose]());
  stepContract({ Restate: onRestate(server) });
}

function onRestate(server: RestateServer): InPlace {
  return async (check, given = {}) => {
    let engine: Engine = () => Promise.resolve(null);
    let asked: Parameters<Place["life"]>[1];
    let life: Life | undefined;
    const node = durableNode({
      ...given,
      async work({ id, journal }) {
        const run = journal.open(id);
        for (const step of journal.read(id).steps) {
          if (step.status === "finished" || step.idempotent) continue;
          const said = asked?.(step);
          if (said !== undefined) run.settle(step.key, said === "rerun" ? said : { outcome: said });
        }
        life = await lived(engine, { journal: run, secrets: given.secrets });
      },
    });
    const http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, node.handler);
    try {
      await server.register(`http://127.0.0.1:${http.addr.port}`);
      const run = node.journal.create({ kind: "test", input: null });
      run.release("stopped");
      let first: unknown = node.begun(run.id);
      await check({
        most: 1,
        async life(work, look) {
          [engine, asked, life] = [work, look, undefined];
          const answer = await server.call(`${RUN_SERVICE}/${run.id}/go`, first);
          first = null;
          if (life === undefined) throw new Error(`no life: ${answer}`);
          return life;
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
    await server.register(`http://127.0.0.1:${port}`);
    const door = durableNode({ work: () => Promise.reject(new Error("this node takes no runs")) });
    const runs: string[] = [];
    for (let n = 0; n < RUNS; n++) {
      const run = door.journal.create({ kind: "test", input: null });
      run.release("stopped");
      await server.call(`${RUN_SERVICE}/${run.id}/go/send`, door.begun(run.id));
      runs.push(run.id);
    }
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
