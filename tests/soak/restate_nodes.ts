// Three nodes under load, and one of them, or one of three Restate servers, killed again and again: no run is lost, no finished step is done twice.
import assert from "node:assert/strict";
import { join } from "node:path";
import { type Cluster, cluster, type Node } from "../durable/_nodes.ts";
import {
  queryRestate,
  restateCluster,
  type RestateServer,
  restateServer,
  whyNot,
} from "../durable/_restate.ts";
import { RUN_SERVICE, type Standing } from "../../lib/durable/run_service.ts";
import { pause, until } from "../_waiting.ts";
import { median } from "../bench/_median.ts";

const LOAD_MS = 120_000;
const AT_ONCE = 16;
const STEPS = 10;
const STEP_MS = 100;

/** One time that a step was done: what it gave, and when it began. */
interface Done {
  readonly token: string;
  readonly at: number;
}

/** What a step is to ask: it takes its time, and gives something new each time. */
class StepServer implements AsyncDisposable {
  readonly done = new Map<string, Done[]>();
  readonly #server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async ({ url }) => {
    const step = new URL(url).pathname;
    const token = crypto.randomUUID();
    this.done.set(step, [...this.done.get(step) ?? [], { token, at: performance.now() }]);
    await pause(STEP_MS);
    return new Response(token);
  });

  get host(): string {
    return `127.0.0.1:${this.#server.addr.port}`;
  }

  of(run: number): readonly (readonly Done[])[] {
    return Array.from({ length: STEPS }, (_, step) => this.done.get(`/${run}/${step}`) ?? []);
  }

  async [Symbol.asyncDispose]() {
    await this.#server.shutdown();
  }
}

/** A run of ten steps, one behind the other or all at once; some have one more, which must not be done twice. */
function callsOf(run: number, host: string): string {
  const steps = Array.from({ length: STEPS }, (_, step) => {
    const behind = run % 2 === 0 && step > 0 ? `:s${step - 1}` : "";
    return `!!!GADGET_START:FetchUrl:s${step}${behind}\n!!!ARG:url\nhttp://${host}/${run}/${step}\n!!!GADGET_END\n`;
  });
  const once = `!!!GADGET_START:RunCommand:once\n!!!ARG:command\nsh\n!!!ARG:args\n${
    JSON.stringify(["-c", `echo begun >> out/${run}; sleep 0.5; echo ended >> out/${run}`])
  }\n!!!GADGET_END\n`;
  return steps.join("") + (run % 4 === 1 ? once : "");
}

/** What is killed: it begins again a while later. */
interface Victim {
  kill(): void | Promise<void>;
  restart(): Promise<void>;
}

/** How the kills are spread over the load. */
interface Kills {
  readonly count: number;
  /** How long what was killed stays away, ms: what goes on before does so elsewhere. */
  readonly awayMs: number;
}

/** Nodes on one server. */
export async function restateNodes(): Promise<string> {
  return await underLoad({ what: "nodes", count: 24, awayMs: 2_000 }, restateServer, ({ nodes }) => nodes);
}

/** Servers that keep everything twice. */
export async function restateReplicas(): Promise<string> {
  const kills = { what: "Restate servers", count: 6, awayMs: 8_000 };
  return await underLoad(kills, restateCluster, (_made, { servers }) => servers);
}

/** Gives how many runs and kills there were, and how long it took until the runs of a victim went on. */
async function underLoad<Server extends RestateServer>(
  { what, count, awayMs }: Kills & { readonly what: string },
  started: () => Promise<Server>,
  victimsOf: (made: Cluster, server: Server) => readonly (Victim | Node)[],
): Promise<string> {
  const why = await whyNot();
  if (why !== undefined) return `not run here: ${why}`;
  await using steps = new StepServer();
  const restate = await started();
  await using made = await cluster(
    { "orrery.yaml": "grants: { RunCommand: { run: [sh] } }\n", "out/.keep": "" },
    { size: 3, flags: [`--allow-net=${steps.host}`], restate },
  );
  const victims = victimsOf(made, restate);
  const end = performance.now() + LOAD_MS;
  const tallies = { runs: 0, asked: 0 };
  const takeovers: number[] = [];
  let run = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < end) await wholeRun();
  };
  const wholeRun = async (): Promise<void> => {
    let n = -1;
    const { body: { id } } = await asked(made, async (node) => {
      n = run++; // one that a node has taken with its last breath goes on by itself
      await Deno.writeTextFile(join(made.folder, `${n}.calls`), callsOf(n, steps.host));
      return await node.post("/v1/runs", { file: `${n}.calls` });
    }, [202]);
    runs.set(id, n);
    let granted = 0;
    for (;;) {
      const { body: { status, error } } = await asked(made, (node) => node.get(`/v1/runs/${id}?wait=20`), [
        200,
      ]);
      if (status === "running") continue;
      if (status === "done") break;
      assert.equal(status, "stopped", `run ${n}, ${id}, ${status}: ${error}`);
      // What is granted counts also where the answer is lost: the run may have gone on.
      await asked(made, async (node) => {
        granted++;
        const answer = await node.post(`/v1/runs/${id}/resume`, { rerun: ["call:once"] });
        if (answer.status === 409) granted--;
        return answer;
      }, [202, 409]);
    }
    const { body: trace } = await asked(made, (node) => node.get(`/v1/runs/${id}/trace`), [200]);
    for (const [step, times] of steps.of(n).entries()) {
      const kept = JSON.stringify(
        trace.steps.find(({ key }: { key: string }) => key === `call:s${step}`)?.outcome,
      );
      // Whoever does a step again whose outcome is kept gets another one, which comes to nothing.
      const last = times.at(-1)?.token ?? "none";
      assert.ok(
        kept?.includes(last),
        `run ${n}, step ${step}: kept ${kept}, last done ${last}, ${times.length} times`,
      );
    }
    const results = trace.events.filter(({ type }: { type: string }) => type === "call-result");
    assert.equal(
      new Set(results.map(({ invocationId }: { invocationId: string }) => invocationId)).size,
      results.length,
    );
    if (n % 4 === 1) {
      const words = (await Deno.readTextFile(join(made.folder, "out", String(n)))).trim().split("\n");
      assert.ok(
        words.filter((word) => word === "begun").length <= 1 + granted,
        `run ${n}: ${words}, ${granted}`,
      );
    }
    tallies.asked += granted;
    tallies.runs++;
  };
  const runs = new Map<string, number>();
  const kills: { readonly held: readonly string[]; readonly at: number }[] = [];
  const killing = async (): Promise<void> => {
    for (let kill = 0; kill < count; kill++) {
      await pause(Math.max(0, end - LOAD_MS * (count - kill) / (count + 1) - performance.now()));
      const victim = victims[kill % victims.length];
      assert.ok(victim);
      const held = await heldBy("address" in victim ? victim.address : undefined, made);
      await victim.kill();
      const at = performance.now();
      assert.ok(at < end, `kill ${kill} came behind the load`);
      kills.push({ held, at });
      await pause(awayMs);
      await victim.restart();
    }
  };
  await Promise.all([killing(), ...Array.from({ length: AT_ONCE }, client)]);
  for (const { held, at } of kills) {
    for (const id of held) {
      const next = steps.of(runs.get(id) ?? -1).flat().filter((done) => done.at > at).map((done) => done.at);
      if (next.length > 0) takeovers.push(Math.min(...next) - at);
    }
  }
  const listed = async (status: string) =>
    (await asked(made, (node) => node.get(`/v1/runs?limit=100&status=${status}`), [200])).body.runs;
  await until(async () => (await listed("running")).length === 0, 30_000);
  const known = new Set(runs.values());
  for (let n = 0; n < run; n++) {
    const isWhole = steps.of(n).every((times) => times.length > 0);
    if (known.has(n) || n % 4 === 1) continue;
    assert.ok(isWhole || steps.of(n).every((times) => times.length === 0), `run ${n} is lost`);
  }
  const twice = [...steps.done.values()].reduce((sum, times) => sum + times.length - 1, 0);
  return `${count} ${what} killed, ${tallies.runs} runs of ten steps, none lost, no finished step done twice, ` +
    `${twice} unfinished ones done again, ${tallies.asked} asked about; ${takeovers.length} runs taken over, ` +
    `p50 ${median(takeovers).toFixed(0)} ms, at most ${Math.max(...takeovers).toFixed(0)} ms`;
}

/** The runs that a node has, or any node, by what Restate knows. */
async function heldBy(address: string | undefined, { restate }: Cluster): Promise<readonly string[]> {
  const rows = await queryRestate(
    restate.admin,
    `SELECT service_key, value_utf8 FROM state WHERE service_name = '${RUN_SERVICE}' AND key = 'run'`,
  );
  return rows.flatMap(({ service_key, value_utf8 }) => {
    const { node }: Standing = JSON.parse(String(value_utf8));
    return node !== undefined && (address === undefined || node === address) ? [String(service_key)] : [];
  });
}

/** Any node that answers so; one that dies meanwhile is passed over. */
async function asked(
  { nodes }: Cluster,
  ask: (node: Node) => ReturnType<Node["get"]>,
  wanted: readonly number[],
): ReturnType<Node["get"]> {
  for (let tries = 0, said = "";; tries++) {
    const node = nodes[Math.floor(Math.random() * nodes.length)];
    assert.ok(node && tries < 200, said);
    try {
      const answer = await ask(node);
      if (wanted.includes(answer.status)) return answer;
      said = JSON.stringify(answer);
    } catch (error) {
      said = String(error);
    }
    await pause(100);
  }
}
