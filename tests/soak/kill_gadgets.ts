// Processes of gadgets killed at random while thousands of calls are made, and Orrery killed at random while its gadgets are at everything
// that they can be at: each call ends once and is made once at most, and nothing is left.

import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { createCatalog, runCalls } from "../../mod.ts";
import { gadgetProcesses } from "../../lib/host/commands/gadget_process.ts";
import { sandboxedGadget } from "../../lib/sandbox/gadget/gadget.ts";
import { leftProcesses, seesProcesses } from "../_marked_processes.ts";
import { testProject } from "../_project.ts";
import { realGadget } from "../_real_gadget.ts";
import { randomFrom } from "./random.ts";

const CALLS = 10_000;
/** On the average: so that there are as many however fast the calls are. */
const KILL_EVERY_CALLS = 400;
const PARENTS = 60;
const LONGEST_LIFE_MS = 1_500;
const MOST_GROWN_BYTES = 60 * 2 ** 20;

/** Kills them; gives what was seen. The number that the random moments come from is in the message of what fails. */
export async function killGadgets(): Promise<string> {
  if (!seesProcesses) return "not run here: only Linux lets us look for processes";
  const seed = crypto.getRandomValues(new Uint32Array(1))[0] ?? 1;
  const random = randomFrom(seed);
  const calls = await killWhileCalling(random, seed);
  const killed = await killParents(random, seed);
  return `${calls}; ${killed} runs killed, no process and no folder of them is left`;
}

const COUNTING = `
export default {
  name: "Counts",
  input: { type: "object", properties: { n: { type: "number" } } },
  async run({ n }: { n: number }) {
    await Deno.readTextFile("call-" + n);
    if (n % 7 === 0) await new Promise((resolve) => setTimeout(resolve, n % 5));
    return n * 2;
  },
};
`;

async function killWhileCalling(random: (bound: number) => number, seed: number): Promise<string> {
  const pids = new Set<number>();
  const made = new Map<string, number>();
  const start = gadgetProcesses();
  await using gadget = await realGadget(COUNTING, {
    start: async (wanted) => {
      const process = await start(wanted);
      pids.add(process.pid);
      return process;
    },
    perform: (op) => {
      const name = "path" in op ? op.path : op.kind;
      made.set(name, (made.get(name) ?? 0) + 1);
      return Promise.resolve({ ok: null, bytes: new Uint8Array() });
    },
  });
  const catalog = createCatalog([sandboxedGadget(await gadget.host.describe(), gadget.host)]);
  let kills = 0;
  const kill = (): void => {
    const pid = [...pids].at(-1);
    if (pid === undefined) return;
    try {
      Deno.kill(pid, random(4) === 0 ? "SIGTERM" : "SIGKILL");
      kills++;
    } catch { /* it is gone */ }
  };
  let nextKill = random(KILL_EVERY_CALLS);
  function* text(): Generator<string> {
    for (let n = 0; n < CALLS; n++) yield `!!!GADGET_START:Counts:c${n}\n!!!ARG:n\n${n}\n!!!GADGET_END\n`;
  }
  const before = Deno.memoryUsage().heapUsed;
  const ended = new Map<string, number>();
  let [failed, grown] = [0, 0];
  for await (const event of runCalls(text(), { catalog, limits: { concurrency: 8 } })) {
    if (event.type !== "call-result" && event.type !== "call-error") continue;
    const { invocationId: id } = event;
    ended.set(id, (ended.get(id) ?? 0) + 1);
    if (event.type === "call-result") assert.equal(event.result, Number(id.slice(1)) * 2, `seed ${seed}`);
    else {
      failed++;
      const isOfKill =
        /^The process of gadget real\.ts (ended by the signal SIG(KILL|TERM)|closed its connection)/;
      assert.ok(isOfKill.test(event.error), `seed ${seed}: ${event.error}`);
    }
    if (ended.size === nextKill) {
      kill();
      nextKill += 1 + random(2 * KILL_EVERY_CALLS);
    }
    if (ended.size % 1_000 === 0) grown = Math.max(grown, Deno.memoryUsage().heapUsed - before);
  }
  assert.equal(ended.size, CALLS, `seed ${seed}`);
  for (const counts of [ended, made]) {
    const twice = [...counts].filter(([, count]) => count > 1);
    assert.deepEqual(twice, [], `seed ${seed}`);
  }
  assert.ok(made.size >= CALLS - failed, `seed ${seed}: ${made.size} calls were made, ${failed} failed`);
  assert.ok(kills > 5 && failed < CALLS / 2, `seed ${seed}: ${kills} kills, ${failed} calls failed`);
  assert.ok(grown < MOST_GROWN_BYTES, `seed ${seed}: ${grown} bytes are held`);
  return `${CALLS} calls while ${kills} processes of their gadget were killed: ${failed} failed with them, ` +
    `the others gave what they should, none was made twice`;
}

const gadget = (name: string, run: string, top = ""): string =>
  `${top}\nexport default { name: "${name}", timeoutMs: 120_000, run: async () => { ${run} } };\n`;

const PROJECT = {
  "gadgets/waits.ts": gadget("Waits", "await new Promise((resolve) => setTimeout(resolve, 90_000));"),
  "gadgets/loops.ts": gadget("Loops", "await null; while (true);"),
  "gadgets/streams.ts": gadget("Streams", `return (async function* () { while (true) yield ""; })();`),
  "gadgets/logs.ts": gadget("Logs", `while (true) { console.log("x".repeat(100)); await null; }`),
  "gadgets/never.ts": gadget("Never", "", "await new Promise(() => {});"),
};

const PARENT_CALLS = ["Waits", "Loops", "Streams", "Logs", "Never"].map((name) =>
  `!!!GADGET_START:${name}\n!!!GADGET_END\n`
).join("");

/** Kills runs at random moments of their lives; gives how many. */
async function killParents(random: (bound: number) => number, seed: number): Promise<number> {
  await using project = await testProject({ ...PROJECT, "a.calls": PARENT_CALLS, "b.calls": "" });
  const home = dirname(project.folder);
  const temporary = join(home, "tmp");
  await Deno.mkdir(temporary);
  const env = { TMPDIR: temporary, ...project.env };
  for (let at = 0; at < PARENTS; at++) {
    // The module that never loads holds a run up, so it is there in half of them.
    const never = join(project.folder, "gadgets/never.ts");
    if (at % 2 === 0) await Deno.remove(never);
    else await project.write("gadgets/never.ts", PROJECT["gadgets/never.ts"]);
    const child = project.start(["run", "a.calls", "-q", "--ephemeral"], { env });
    const outputs = [new Response(child.stdout).text(), new Response(child.stderr).text()];
    await child.stdin.close();
    await new Promise((resolve) => setTimeout(resolve, random(LONGEST_LIFE_MS)));
    child.kill("SIGKILL");
    await child.status;
    assert.deepEqual(await leftProcesses(home, 4_000), [], `seed ${seed}, kill ${at}`);
    await Promise.all(outputs);
  }
  await Deno.remove(join(project.folder, "gadgets/never.ts")).catch(() => undefined);
  await project.write("gadgets/good.ts", gadget("Good", "return 1;"));
  await project.write("b.calls", "!!!GADGET_START:Good\n!!!GADGET_END\n");
  const { code, stderr } = await project.run(["run", "b.calls", "--ephemeral"], {
    env,
    alone: true, // a process sweeps once
  });
  assert.equal(code, 0, stderr);
  assert.deepEqual([...Deno.readDirSync(temporary)].map(({ name }) => name), [], `seed ${seed}`);
  return PARENTS;
}
