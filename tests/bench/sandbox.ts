// What it costs that a gadget runs apart, in the form that ORRERY_BINARY says: starts, warm calls, memory, and what is left behind.

import { type TestProject, testProject } from "../_project.ts";
import { compiledBinary, runProgram, testEnvironment } from "../_run.ts";
import { callOf } from "../sandbox/_place.ts";
import { descendantsOf, memoryKb, ProcessWatch } from "../sandbox/_processes.ts";
import { echoUs } from "./_echo.ts";
import { engineCallUs, TIMED_GADGET } from "./_engine_call.ts";
import { median } from "./_median.ts";
import { isBinary, type PlainPrograms, plainPrograms } from "./_sandbox_programs.ts";
import { measureStartup } from "./startup.ts";
import type { Row } from "./_table.ts";
import { warmCallUs } from "./_warm_call.ts";

const ROUNDS = 15;
const WARM_CALLS = 2000;
const MANY_CALLS = 10_000;
/** Where memory is looked at: the process still runs. */
const [EARLY, LATE] = [MANY_CALLS / 10, MANY_CALLS - 100];
const HOSTS = 50;

/** A gadget as people write them: typed, of two modules. */
const GADGET = `import { doubled } from "./_part.ts";
interface Input { readonly n: number }
export default {
  name: "Warm",
  description: "Doubles a number.",
  input: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
  run: ({ n }: Input): number => doubled(n),
};
`;
const PART = "export const doubled = (n: number): number => n * 2;\n";

/** A built-in gadget that does as little: what a call costs without a process. */
const OWN = "Calculate";

const form = isBinary ? "binary" : "deno run";

const PARTS: Readonly<Record<string, (programs: PlainPrograms) => Promise<readonly Row[]>>> = {
  binary: benchBinary,
  starts: benchStarts,
  warm: benchWarm,
  growth: benchGrowth,
  hosts: benchHosts,
  left: benchLeft,
};

/** Measures these parts: binary, starts, warm, growth, hosts, left. Default: all of them. */
export async function benchSandbox(wanted: readonly string[] = Object.keys(PARTS)): Promise<readonly Row[]> {
  await using programs = await plainPrograms();
  const rows: Row[] = [];
  for (const name of wanted) {
    const part = PARTS[name];
    if (part === undefined) {
      throw new TypeError(`Unknown part "${name}": expected ${Object.keys(PARTS).join(", ")}`);
    }
    rows.push(...await part(programs));
  }
  return rows;
}

async function gadgetProject(files: Readonly<Record<string, string>> = {}): Promise<TestProject> {
  return await testProject({
    "gadgets/warm.ts": GADGET,
    "gadgets/_part.ts": PART,
    "gadget.calls": callOf("Warm:a", { n: 1 }),
    ...files,
  });
}

async function timeOf(
  work: () => Promise<{ readonly code: number; readonly stderr: string }>,
): Promise<number> {
  const start = performance.now();
  const { code, stderr } = await work();
  const ms = performance.now() - start;
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`);
  return ms;
}

/** The size of the binary, and what it takes to start, against a compiled program that does nothing. */
async function benchBinary({ empty: [emptyBinary] }: PlainPrograms): Promise<readonly Row[]> {
  const binary = compiledBinary();
  if (binary === undefined || emptyBinary === undefined) return [];
  const { size } = await Deno.stat(binary);
  const rows = await measureStartup({ binary, emptyBinary });
  return [
    { what: "binary: its size", value: size / 1e6, unit: "MB", limit: 130 },
    ...rows.map(({ name, medianMs, ratio, limit }) => ({
      what: name,
      value: medianMs,
      unit: "ms",
      ...(limit !== undefined && { ratio, of: "an empty program", limit }),
    })),
  ];
}

/**
 * What the first call adds to a run of a project without modules, less what an empty script takes: its process has to start too. The
 * programs take turns, and what is compared ran in the same round.
 */
async function benchStarts({ empty }: PlainPrograms): Promise<readonly Row[]> {
  await using plain = await testProject({ "own.calls": callOf(`${OWN}:a`, { expression: "1*2" }) });
  await using project = await gadgetProject();
  const run = (of: TestProject, file: string) => timeOf(() => of.run(["run", file, "-q", "--ephemeral"]));
  const rounds: { empty: number; own: number; known: number; unseen: number }[] = [];
  for (let round = -2; round < ROUNDS; round++) {
    await project.write("gadgets/_part.ts", `${PART}// round ${round}\n`);
    const times = {
      empty: await timeOf(() => runProgram(empty)),
      own: await run(plain, "own.calls"),
      unseen: await run(project, "gadget.calls"),
      known: await run(project, "gadget.calls"),
    };
    if (round >= 0) rounds.push(times); // the first ones warm up
  }
  type Kind = keyof typeof rounds[number];
  const middle = (kind: Kind) => median(rounds.map((times) => times[kind]));
  const over = (kind: Kind) => middle(kind) - middle("own") - middle("empty");
  const fastestOver = (kind: Kind) =>
    Math.min(...rounds.map((times) => times[kind] - times.own - times.empty));
  const row = (what: string, value: number, limit?: number): Row => ({
    what: `${form}: ${what}`,
    value,
    unit: "ms",
    ...(limit !== undefined && { limit }),
  });
  return [
    row("an empty script", middle("empty")),
    row("a run of a built-in gadget", middle("own")),
    row("a run of a gadget described before", middle("known")),
    row("its first call over an empty script", over("known"), 100),
    row("the fastest of these", fastestOver("known")),
    row("the same of a module never seen", over("unseen"), 250),
    row("the fastest of these", fastestOver("unseen")),
  ];
}

interface CallEvent {
  readonly type: string;
  readonly at: number;
  readonly invocationId?: string;
}

/** From the start to the end of each call of a run, one after the other, in ms. */
async function callTimes(project: TestProject, file: string): Promise<readonly number[]> {
  const args = ["run", file, "--jsonl", "--ephemeral", "--concurrency", "1"];
  const { code, stdout, stderr } = await project.run(args, { timeoutMs: 120_000 });
  if (code !== 0) throw new Error(`exit code ${code}: ${stderr}`);
  const starts = new Map<string, number>();
  const times: number[] = [];
  for (const line of stdout.trimEnd().split("\n")) {
    const { type, at, invocationId = "" }: CallEvent = JSON.parse(line);
    if (type === "call-run") starts.set(invocationId, at);
    if (type === "call-result") times.push(at - (starts.get(invocationId) ?? NaN));
  }
  return times;
}

const many = (count: number, call: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => call(n)).join("");

/**
 * Through the engine in this process, over the gadget's own time; and as the command line tells it, over a built-in gadget that does about
 * as little, which is all that can be had of the binary. The way to a process that does nothing says what the machine is up to meanwhile.
 */
async function benchWarm(): Promise<readonly Row[]> {
  await using project = await gadgetProject({
    "gadgets/timed.ts": TIMED_GADGET,
    "many.calls": many(WARM_CALLS, (n) => callOf(`Warm:c${n}`, { n })),
    "many_own.calls": many(WARM_CALLS, (n) => callOf(`${OWN}:c${n}`, { expression: "1*2" })),
  });
  const over: number[] = [];
  for (let round = 0; round < 5; round++) {
    const own = median(await callTimes(project, "many_own.calls"));
    over.push(median((await callTimes(project, "many.calls")).slice(100)) - own);
  }
  const rows: Row[] = [{
    what: `${form}: a warm call over a built-in one, p50`,
    value: median(over) * 1000,
    unit: "us",
    limit: 1000,
  }];
  if (isBinary) return rows;
  const found = { echo: [] as number[], engine: [] as number[], direct: [] as number[] };
  for (let round = 0; round < 5; round++) {
    found.echo.push(await echoUs({ times: WARM_CALLS }));
    found.engine.push(await engineCallUs(project.folder, { calls: WARM_CALLS }));
    found.direct.push(
      await warmCallUs(project.folder, "gadgets/warm.ts", { input: (n) => ({ n }), calls: WARM_CALLS }),
    );
  }
  const row = (what: string, value: number, limit?: number): Row => ({
    what,
    value,
    unit: "us",
    ...(limit !== undefined && { limit }),
  });
  return [
    row("to another process and back with nothing, p50", median(found.echo)),
    row("a warm call through the engine over the gadget's own time, p50", median(found.engine), 1000),
    row("the fastest of these rounds", Math.min(...found.engine)),
    row("a warm call without the engine, p50", median(found.direct), 1000),
    ...rows,
  ];
}

/**
 * The gadget's process after a tenth of the calls and after all of them; Orrery at the end against a run of as many built-in calls,
 * since a run keeps what its calls gave.
 */
async function benchGrowth(): Promise<readonly Row[]> {
  await using project = await gadgetProject({
    "many.calls": many(MANY_CALLS, (n) => callOf(`Warm:c${n}`, { n })),
    "many_own.calls": many(MANY_CALLS, (n) => callOf(`${OWN}:c${n}`, { expression: "1*2" })),
  });
  const ratios = { orrery: [] as number[], gadget: [] as number[] };
  for (let round = 0; round < 5; round++) {
    const gadget = await grown(project, "many.calls");
    const builtIn = await grown(project, "many_own.calls");
    ratios.orrery.push(gadget.late.orrery / builtIn.late.orrery);
    ratios.gadget.push(gadget.late.gadget / gadget.early.gadget);
  }
  return [
    growthRow("the gadget's process", median(ratios.gadget), "after 1,000"),
    growthRow("Orrery", median(ratios.orrery), "with a built-in gadget"),
  ];
}

function growthRow(whose: string, ratio: number, of: string): Row {
  const what = `${form}: memory of ${whose} after ${MANY_CALLS} calls`;
  return { what, value: ratio, unit: "x", ratio, of, limit: 1.25 };
}

interface Memory {
  readonly orrery: number;
  readonly gadget: number;
}

/** Runs all the calls; what both processes hold after a tenth of them and near the end. */
async function grown(
  project: TestProject,
  file: string,
): Promise<{ readonly early: Memory; readonly late: Memory }> {
  const child = project.start(["run", file, "--jsonl", "--ephemeral", "--concurrency", "1"]);
  await child.stdin.close();
  const stderr = new Response(child.stderr).text();
  const seen = new Map<number, Memory>();
  let [done, rest] = [0, ""];
  for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!line.includes('"type":"call-result"')) continue;
      done++;
      if (done === EARLY || done === LATE) seen.set(done, memoryOf(child.pid));
    }
  }
  const { code } = await child.status;
  const [early, late] = [seen.get(EARLY), seen.get(LATE)];
  if (code !== 0 || early === undefined || late === undefined) {
    throw new Error(`exit code ${code} after ${done} calls: ${await stderr}`);
  }
  return { early, late };
}

function memoryOf(pid: number): Memory {
  const children = descendantsOf(pid).map((child) => memoryKb(child, "Rss"));
  return { orrery: memoryKb(pid, "Rss"), gadget: Math.max(0, ...children) };
}

/** 50 gadgets that wait at the same time, against 50 programs that do nothing. */
async function benchHosts({ idle }: PlainPrograms): Promise<readonly Row[]> {
  const names = Array.from({ length: HOSTS }, (_, n) => `Idle${n}`);
  const gadget = (name: string) =>
    `export default { name: "${name}", description: "Waits.", timeoutMs: 120_000, async run(_: unknown, { log }: { log(text: string): void }) { log("waits"); await new Promise((resolve) => setTimeout(resolve, 100_000)); } };\n`;
  await using project = await testProject({
    ...Object.fromEntries(names.map((name) => [`gadgets/${name.toLowerCase()}.ts`, gadget(name)])),
    "idle.calls": names.map((name) => callOf(`${name}:${name}`)).join(""),
  });
  const sums = { hosts: [] as number[], idle: [] as number[] };
  for (let round = 0; round < 5; round++) {
    sums.idle.push(await idleKb(idle));
    sums.hosts.push(await hostsKb(project));
  }
  const [hosts, plain] = [median(sums.hosts), median(sums.idle)];
  return [
    { what: `${form}: ${HOSTS} idle processes, PSS`, value: plain / 1024, unit: "MB" },
    {
      what: `${form}: ${HOSTS} hosts at once, PSS`,
      value: hosts / 1024,
      unit: "MB",
      ratio: hosts / plain,
      of: "idle processes",
      limit: 1.5,
    },
  ];
}

async function hostsKb(project: TestProject): Promise<number> {
  const args = ["run", "idle.calls", "--jsonl", "--ephemeral", "--concurrency", String(HOSTS)];
  const child = project.start(args);
  await child.stdin.close();
  const stderr = new Response(child.stderr).text();
  try {
    let text = "";
    for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
      text += piece;
      if (text.split('"type":"call-log"').length > HOSTS) {
        await settled();
        return sumKb(descendantsOf(child.pid));
      }
    }
    throw new Error(`not all gadgets ran: ${await stderr}`);
  } finally {
    child.kill("SIGKILL");
    await child.status;
  }
}

async function idleKb([program = "", ...args]: readonly string[]): Promise<number> {
  const children = Array.from({ length: HOSTS }, () =>
    new Deno.Command(program, {
      args: [...args],
      env: testEnvironment(),
      clearEnv: true,
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn());
  try {
    for (const { stdout } of children) await stdout.getReader().read(); // it says that it is there
    await settled();
    return sumKb(children.map(({ pid }) => pid));
  } finally {
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(children.map(({ status }) => status));
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 500));
const sumKb = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + memoryKb(pid, "Pss"), 0);

/** Processes that live on a second after the run, and after its process was killed while gadgets were waiting and looping. */
async function benchLeft(): Promise<readonly Row[]> {
  await using project = await gadgetProject({
    "gadgets/waits.ts":
      `export default { name: "Waits", description: "Waits.", run: (_: unknown, { log }: { log(text: string): void }) => { log("on"); return new Promise(() => setTimeout(() => {}, 60_000)); } };\n`,
    "gadgets/loops.ts":
      `export default { name: "Loops", description: "Loops.", run: async (_: unknown, { log }: { log(text: string): void }) => { log("on"); await new Promise((resolve) => setTimeout(resolve, 50)); while (true); } };\n`,
    "killed.calls": callOf("Waits:w") + callOf("Loops:l") + callOf("Warm:a", { n: 1 }),
  });
  const left = { ended: [] as number[], killed: [] as number[] };
  for (let round = 0; round < 5; round++) {
    left.ended.push(await leftAfter(project, ["run", "gadget.calls", "--ephemeral"]));
    left.killed.push(await leftAfter(project, ["run", "killed.calls", "--ephemeral", "--jsonl"], 2));
  }
  const row = (what: string, counts: readonly number[]): Row => ({
    what: `${form}: processes left after ${what}`,
    value: Math.max(...counts),
    unit: "of 5 runs",
    limit: 0,
  });
  return [row("a run", left.ended), row("kill -9 of Orrery", left.killed)];
}

/** @param killedAfter so many logs of gadgets; never without */
async function leftAfter(
  project: TestProject,
  args: readonly string[],
  killedAfter?: number,
): Promise<number> {
  const child = project.start(args);
  const watch = new ProcessWatch(child.pid);
  await child.stdin.close();
  const stderr = new Response(child.stderr).text();
  let text = "";
  for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (killedAfter === undefined || text.split('"type":"call-log"').length <= killedAfter) continue;
    await new Promise((resolve) => setTimeout(resolve, 200)); // so that the loop runs
    watch.look();
    child.kill("SIGKILL");
    break;
  }
  const { signal } = await child.status;
  watch.stop();
  if (watch.count === 0 || (signal !== null) !== (killedAfter !== undefined)) {
    throw new Error(`${watch.count} processes were started, ended by ${signal}: ${await stderr}`);
  }
  const left = await watch.left(1000);
  for (const pid of left) Deno.kill(pid, "SIGKILL");
  return left.length;
}

if (import.meta.main) {
  const { formatTable, isWithin } = await import("./_table.ts");
  const rows = await benchSandbox(Deno.args.length === 0 ? undefined : Deno.args);
  console.log(formatTable(rows));
  if (!rows.every(isWithin)) Deno.exit(1);
}
