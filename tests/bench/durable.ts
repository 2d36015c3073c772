// Runs of ten steps on Restate beside a bare handler that keeps as many entries and events; and the same runs as whoever asks a node has them.

import * as restate from "@restatedev/restate-sdk/fetch";
import { durableNode, RUN_SERVICE } from "../../lib/durable/run_service.ts";
import { performEffect } from "../../lib/run/effect.ts";
import { lived } from "../_step_contract.ts";
import { cluster, type Node } from "../durable/_nodes.ts";
import { type RestateServer, restateServer, whyNot } from "../durable/_restate.ts";
import { median } from "./_median.ts";
import type { Row } from "./_table.ts";

const STEPS = 10;
const ROUNDS = 5;
const RUNS = 300;
const AT_ONCE = 32;
const OUTCOME = "x".repeat(100);

/** Runs a second, and what a step of one run alone takes. */
export async function benchDurable(): Promise<readonly Row[]> {
  const why = await whyNot();
  if (why !== undefined) {
    console.log(`not run here: ${why}`);
    return [];
  }
  return [...await besideBare(), ...await onNode()];
}

/** Both sides take turns, in this process. */
async function besideBare(): Promise<readonly Row[]> {
  using server = await restateServer();
  const node = durableNode({
    async work({ run }) {
      const { error } = await lived(async (run) => {
        for (let n = 0; n < STEPS; n++) {
          const step = { key: `s${n}`, kind: "http" as const, name: "x", input: { n }, isIdempotent: true };
          await performEffect(run, { ...step, perform: () => Promise.resolve(OUTCOME) });
        }
        return "done";
      }, { journal: node.journal.create({ id: run, kind: "calls", input: null }) });
      if (error !== undefined) throw error;
    },
  });
  await using own = await served(server, node.handler);
  await using bare = await served(server, bareHandler());
  const sides = [
    () => own.call(`${RUN_SERVICE}/${crypto.randomUUID()}/begin`),
    () => bare.call(`Bare/${crypto.randomUUID()}/go`),
  ] as const;
  for (const side of sides) await rateOf(side, { runs: 100, many: 16 });
  const rates: [number[], number[]] = [[], []];
  const steps: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    for (const at of [0, 1] as const) {
      rates[at].push(await rateOf(sides[at], { runs: RUNS, many: AT_ONCE }));
      steps[at].push(1000 / STEPS / await rateOf(sides[at], { runs: 50, many: 1 }));
    }
  }
  const bareRate = median(rates[1]);
  const rate = median(rates[0]);
  return [
    { what: `bare handler of ${STEPS} entries, ${AT_ONCE} at once`, value: bareRate, unit: "runs/s" },
    {
      what: `runs of ${STEPS} steps, ${AT_ONCE} at once`,
      value: rate,
      unit: "runs/s",
      ratio: rate / bareRate,
      of: "a bare handler",
      limit: 0.6,
      atLeast: true,
    },
    { what: "an entry of a bare handler, alone", value: median(steps[1]), unit: "ms" },
    { what: "a step, alone", value: median(steps[0]), unit: "ms" },
  ];
}

/** What a node does besides counts here: it reads the project, checks what is wished, and answers over HTTP. */
async function onNode(): Promise<readonly Row[]> {
  const calls = Array.from(
    { length: STEPS },
    (_, step) =>
      `!!!GADGET_START:Template:s${step}${step === 0 ? "" : `:s${step - 1}`}\n!!!ARG:template\n${OUTCOME}\n` +
      "!!!GADGET_END\n",
  ).join("");
  await using made = await cluster({ "ten.calls": calls }, { size: 1 });
  const [node] = made.nodes;
  if (node === undefined) throw new Error("no node");
  const rates: number[] = [];
  for (let round = -1; round < ROUNDS; round++) {
    const rate = await rateOf(() => wholeRun(node), { runs: 150, many: AT_ONCE });
    if (round >= 0) rates.push(rate);
  }
  return [{
    what: `the same in calls, by POST /v1/runs, ${AT_ONCE} at once`,
    value: median(rates),
    unit: "runs/s",
  }];
}

async function wholeRun(node: Node): Promise<void> {
  const { body: { id } } = await node.post("/v1/runs", { file: "ten.calls" });
  const { body } = await node.get(`/v1/runs/${id}?wait=30`);
  if (body.status !== "done") throw new Error(JSON.stringify(body));
}

/** An entry for the outcome of each step and the two events that tell of it, and one for the end. */
function bareHandler(): (request: Request) => Promise<Response> {
  const bare = restate.object({
    name: "Bare",
    handlers: {
      async go(ctx: restate.ObjectContext) {
        for (let n = 0; n < STEPS; n++) {
          const key = `s${n}`;
          const { outcome } = await ctx.run(key, () => Promise.resolve({ key, outcome: OUTCOME }));
          const told = { run: ctx.key, key, at: 1.5 };
          ctx.set(`step ${n}`, [
            { ...told, type: "step-start", seq: 2 * n, kind: "http", name: "x", attempt: 1 },
            { ...told, type: "step-end", seq: 2 * n + 1, ms: 1, outcome },
          ]);
        }
        await ctx.run("end", () => Promise.resolve({ status: "done" }));
        ctx.set("status", "done");
      },
    },
  });
  const handler = restate.createEndpointHandler({ services: [bare], bidirectional: true, logger: () => {} });
  return (request) => handler(request);
}

async function served({ admin, ingress }: RestateServer, handler: (request: Request) => Promise<Response>) {
  const http = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, handler);
  const post = async (url: string, body: unknown): Promise<void> => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  };
  await post(`${admin}/deployments`, { uri: `http://127.0.0.1:${http.addr.port}` });
  return {
    call: (path: string) => post(`${ingress}/${path}`, null),
    [Symbol.asyncDispose]: () => http.shutdown(),
  };
}

/** How often it is done in a second. */
async function rateOf(
  work: () => Promise<void>,
  { runs, many }: { readonly runs: number; readonly many: number },
): Promise<number> {
  const start = performance.now();
  let begun = 0;
  await Promise.all(Array.from({ length: many }, async () => {
    while (begun++ < runs) await work();
  }));
  return runs / (performance.now() - start) * 1000;
}
