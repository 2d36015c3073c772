// A run whose process is killed again and again, and gone on with, until it is over: what must hold after each kill is asserted here.
// Its gadgets add a line to a file when they are done, so that effects are counted where no journal can be wrong about them.

import assert from "node:assert/strict";
import { join } from "node:path";
import { leftProcesses, seesProcesses } from "./_marked_processes.ts";
import { testProject } from "./_project.ts";
import type { TestProject } from "./_project.ts";

/** When a process is killed: so many ms after its `events`th line of `--jsonl`. */
export interface Kill {
  readonly events: number;
  readonly afterMs: number;
}

/** A run that is to be killed. */
export interface Killable {
  readonly name: string;
  readonly args: readonly string[];
  /** Files that it leaves, which are to be the same byte for byte. Default: none. */
  readonly files?: readonly string[];
  /** Effects that nothing comes of, so that they can be taken as done. Default: all of them. */
  readonly quiet?: readonly string[];
}

interface Step {
  readonly key: string;
  readonly kind: string;
  readonly status: "started" | "finished";
  readonly idempotent: boolean;
  /** Null: of a read. */
  readonly input: StepInput | null;
}
interface StepInput {
  /** Of a gadget: what it adds to the file of effects. */
  readonly name?: string;
  /** Of a command: the same is its NAME. */
  readonly env?: { readonly NAME?: string };
}
interface Trace {
  readonly summary: { readonly status: string };
  readonly steps: readonly Step[];
  readonly events: readonly Event[];
}
interface Event {
  readonly type: string;
  readonly run: string;
  readonly seq: number;
  readonly step?: string;
  readonly invocationId?: string;
}

const EFFECT = `import { appendFileSync } from "node:fs";
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
export const done = async ({ name, ms = 0 }) => {
  if (ms > 0) await wait(ms);
  appendFileSync("effects.txt", name + "\\n");
};`;

const gadget = (name: string, more: string): string =>
  `${EFFECT}\nexport default { name: ${JSON.stringify(name)}, description: "Test.",
  permissions: { write: ["effects.txt"] }, ${more} };`;

const call = (header: string, args: Readonly<Record<string, string | number>>): string =>
  `!!!GADGET_START:${header}\n${
    Object.entries(args).map(([name, value]) => `!!!ARG:${name}\n${value}\n`).join("")
  }!!!GADGET_END\n`;

const CALLS = call("Once:a", { name: "a" }) + call("Safe:b", { name: "b", ms: 6 }) +
  call("Once:c:a,b", { name: "c", ms: 12 }) + call("Safe:d:b", { name: "d", ms: 8, text: "{{results.b}}" }) +
  call("Fails:f", { name: "f" }) + call("Once:g:f", { name: "g" }) + call("Once:h:c", { name: "h" }) +
  call("Safe:e:d,h", { name: "e", text: "{{results.d}}" });

/** Each block comes in two pieces, and there is text behind it: a kill falls into the middle of an answer. */
const turn = (blocks: readonly string[], delayMs: number): string =>
  JSON.stringify([{
    chunks: [
      "I look. ",
      ...blocks.flatMap((block) => [`\n${block.slice(0, 20)}`, block.slice(20)]),
      " and ",
      "so on.",
    ],
    delayMs,
  }]).slice(1, -1);

const BLOCKS = [
  turn([call("Once:one", { name: "one", ms: 10 }), call("Safe:two", { name: "two", ms: 4 })], 3),
  turn([call("Safe:three", { name: "three", ms: 8 })], 3),
  turn([call("Once:four", { name: "four" }), call("Once:five", { name: "five", ms: 8 })], 3),
  JSON.stringify({ chunks: ["All ", "done", "."], delayMs: 4 }),
];
const NATIVE = [
  {
    chunks: ["I ", "look."],
    calls: [{ name: "Once", input: { name: "one", ms: 10 } }, {
      name: "Safe",
      input: { name: "two", ms: 4 },
    }],
    delayMs: 3,
  },
  { calls: [{ name: "Safe", input: { name: "three", ms: 8 } }], delayMs: 3 },
  { calls: [{ name: "Once", input: { name: "four" } }], delayMs: 3 },
  { chunks: ["All ", "done", "."], delayMs: 4 },
];

/** A project with the three runs. */
export function killableProject(): Promise<TestProject> {
  return testProject({
    "gadgets/once.js": gadget("Once", "run: async (input) => { await done(input); return null; }"),
    "gadgets/safe.js": gadget(
      "Safe",
      "idempotent: true, run: async (input) => { await done(input); return `${input.name}(${input.text ?? ''})`; }",
    ),
    "gadgets/fails.js": gadget(
      "Fails",
      "idempotent: true, run: async (input) => { await done(input); throw new Error('no luck'); }",
    ),
    "work.calls": CALLS,
    "blocks.jsonl": BLOCKS.join("\n"),
    "native.jsonl": NATIVE.map((reply) => JSON.stringify(reply)).join("\n"),
    "effects.txt": "",
  });
}

const TRUST = ["--trust", "Once,Safe,Fails"];
const ASK = ["ask", "Go", "--tools", "Once,Safe", ...TRUST];

/** A call file, and a loop of three turns with gadgets in each of the two modes. */
export const KILLABLES = {
  calls: { name: "a call file", args: ["run", "work.calls", ...TRUST] },
  blocks: { name: "a loop in blocks", args: [...ASK, "-m", "script/blocks.jsonl"] },
  native: {
    name: "a loop in native calls",
    args: [...ASK, "-m", "script/native.jsonl", "--tools-mode", "native"],
  },
} satisfies Record<string, Killable>;

/** What a run gives that nobody kills. */
export interface Uninterrupted {
  readonly code: number;
  readonly stdout: string;
  /** How many lines it tells with `--jsonl`. */
  readonly events: number;
  readonly files: readonly string[];
}

/** Runs it without a kill. */
export async function uninterrupted(
  project: TestProject,
  { args, files = [] }: Killable,
): Promise<Uninterrupted> {
  const plain = await project.run([...args, "-q"]);
  assert.notEqual(plain.stdout, "", plain.stderr);
  const { stdout } = await project.run([...args, "-q", "--jsonl"]);
  return {
    code: plain.code,
    stdout: plain.stdout,
    events: stdout.split("\n").length - 1,
    files: await Promise.all(files.map((file) => project.read(file))),
  };
}

/** What came of the kills. */
export interface Survived {
  /** Kills that met a process which had not ended. */
  readonly kills: number;
  /** Calls whose end nobody knew. */
  readonly unverified: number;
}

/** Starts a run, kills it and each process that goes on with it, then lets it end. @throws {AssertionError} when something is lost or done twice */
export async function survive(
  project: TestProject,
  { work, want, kills }: {
    readonly work: Killable;
    readonly want: Uninterrupted;
    readonly kills: readonly Kill[];
  },
): Promise<Survived> {
  await project.write("effects.txt", "");
  const files = work.files ?? [];
  for (const file of files) await Deno.remove(join(project.folder, file)).catch(() => {});
  let args = work.args;
  let id = "";
  let counted = 0;
  let unverified = 0;
  /** How often the effects of finished calls were done when they were seen to be finished. */
  const finished = new Map<string, number>();
  for (const [index, kill] of kills.entries()) {
    const told = await killed(project, [...args, "-q", "--jsonl"], kill);
    id ||= told.events[0]?.run ?? "";
    if (id === "") return { kills: 0, unverified }; // before anything was told
    const where = `${work.name}, kill ${index + 1} (line ${kill.events}, ${kill.afterMs} ms), run ${id}`;
    const trace = await traceOf(project, id);
    assertDurable(told.events, { trace, where });
    const effects = await effectsOf(project);
    for (const step of trace.steps) {
      const name = effectOf(step);
      if (name === undefined || step.status !== "finished" || finished.has(name)) continue;
      finished.set(name, effects.get(name) ?? 0);
    }
    if (trace.summary.status === "done" || trace.summary.status === "failed") break;
    counted++;
    const open = trace.steps.filter((step) => step.status === "started" && !step.idempotent);
    unverified += open.length;
    if (open.length > 0) await assertNotRunUnasked(project, { id, open, where });
    args = ["resume", id, ...await decisions(project, { open, quiet: work.quiet })];
  }
  const where = `${work.name}, ${
    kills.map(({ events, afterMs }) => `${events}+${afterMs}ms`).join(", ")
  }, run ${id}`;
  const { summary: { status } } = await traceOf(project, id);
  if (status !== "done" && status !== "failed") {
    const end = await project.run([...args, "-q"]);
    assert.deepEqual([end.code, end.stdout], [want.code, want.stdout], `${where}: ${end.stderr}`);
  }
  for (const [index, file] of files.entries()) {
    assert.equal(await project.read(file), want.files[index], `${where}: ${file}`);
  }
  const effects = await effectsOf(project);
  assertWhole(await traceOf(project, id), { effects, most: counted + 1, where });
  for (const [name, times] of finished) {
    assert.equal(effects.get(name), times, `${where}: ${name} was finished and was done again`);
  }
  return { kills: counted, unverified };
}

/** The same, again where a process was over before its kill came, as on a busy machine. Gives how many kills met a run. */
export async function surviveAll(
  project: TestProject,
  { kills, ...how }: Parameters<typeof survive>[1],
): Promise<number> {
  let count = 0;
  for (let tries = 0, met = 0; tries < 4 && met < kills.length; tries++) {
    met = (await survive(project, { ...how, kills })).kills;
    count += met;
  }
  return count;
}

async function killed(
  project: TestProject,
  args: readonly string[],
  { events, afterMs }: Kill,
): Promise<{ readonly events: readonly Event[] }> {
  const child = project.start(args);
  await child.stdin.close();
  const stderr = new Response(child.stderr).text();
  let text = "";
  let isDue = events === 0;
  let timer = isDue ? setTimeout(() => kill(child), afterMs) : undefined;
  for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (isDue || text.split("\n").length - 1 < events) continue;
    isDue = true;
    if (afterMs === 0) kill(child);
    else timer = setTimeout(() => kill(child), afterMs);
  }
  clearTimeout(timer);
  const { signal } = await child.status;
  const said = await stderr;
  if (seesProcesses) await leftProcesses(project.folder, 2_000); // a command that it had started may write for a moment longer
  assert.ok(signal === "SIGKILL" || said === "" || /no luck|Skipped|error: /.test(said), said);
  // The last line may have been cut by the kill.
  return { events: text.split("\n").slice(0, -1).map((line) => JSON.parse(line)) };
}

function kill(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch { /* it has ended by itself */ }
}

async function traceOf(project: TestProject, id: string): Promise<Trace> {
  const { code, stdout, stderr } = await project.run(["trace", id, "--json"]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

const OUTCOMES = ["call-result", "call-error"];

/** Whoever reads the events may act upon them: the outcomes they tell have to be kept already. */
function assertDurable(
  told: readonly Event[],
  { trace, where }: { readonly trace: Trace; readonly where: string },
): void {
  for (const { type, step = "", invocationId } of told.filter(({ type }) => OUTCOMES.includes(type))) {
    const call = `${step.replace(/model$/, "")}call:${invocationId}`;
    // What contains steps is none of its own.
    const steps = trace.steps.filter(({ key }) => key === call || key.startsWith(`${call}/`));
    const isKept = steps.length > 0 && steps.every(({ status }) => status === "finished");
    assert.ok(isKept, `${where}: the ${type} of ${call} was told and is not kept`);
  }
}

async function assertNotRunUnasked(
  project: TestProject,
  { id, open, where }: { readonly id: string; readonly open: readonly Step[]; readonly where: string },
): Promise<void> {
  const before = await project.read("effects.txt");
  const { code, stdout, stderr } = await project.run(["resume", id]);
  assert.deepEqual([code, stdout], [1, ""], `${where}: ${stderr}`);
  for (const { key } of open) {
    const word = key.includes("[") ? `'${key}'` : key; // as a shell takes it
    assert.ok(stderr.includes(`orrery resume ${id} --rerun ${word}`), `${where}: ${stderr}`);
    assert.ok(stderr.includes(`orrery resume ${id} --skip ${word}`), `${where}: ${stderr}`);
  }
  assert.equal(await project.read("effects.txt"), before, `${where}: something ran unasked`);
}

/** The user looks whether it was done, and undoes it where something more comes of it. */
async function decisions(
  project: TestProject,
  { open, quiet }: { readonly open: readonly Step[]; readonly quiet: readonly string[] | undefined },
): Promise<readonly string[]> {
  const flags: string[] = [];
  for (const step of open) {
    const name = effectOf(step) ?? "";
    const isDone = (await effectsOf(project)).has(name);
    const isQuiet = quiet?.includes(name) ?? true;
    if (isDone && !isQuiet) {
      const text = await project.read("effects.txt");
      await project.write("effects.txt", text.replace(`${name}\n`, ""));
    }
    flags.push(isDone && isQuiet ? "--skip" : "--rerun", step.key);
  }
  return flags;
}

/** What a step adds to the file of effects; undefined: it is none that does. */
function effectOf({ kind, input }: Step): string | undefined {
  return kind === "gadget" ? input?.name ?? "" : kind === "shell" ? input?.env?.NAME : undefined;
}

async function effectsOf(project: TestProject): Promise<ReadonlyMap<string, number>> {
  const names = (await project.read("effects.txt")).split("\n").slice(0, -1);
  return new Map(names.map((name) => [name, names.filter((each) => each === name).length]));
}

/** Each call of what was written has one outcome, and its effect was done as often as it may have been. */
function assertWhole(
  trace: Trace,
  { effects, most, where }: {
    readonly effects: ReadonlyMap<string, number>;
    /** How many processes there were: each may have done once what may be done twice. */
    readonly most: number;
    readonly where: string;
  },
): void {
  const placed = (types: readonly string[]): string[] =>
    trace.events.filter(({ type }) => types.includes(type))
      .map(({ step, invocationId }) => `${step} ${invocationId}`).sort();
  const outcomes = placed([...OUTCOMES, "call-skip"]);
  assert.deepEqual(outcomes, [...new Set(outcomes)], `${where}: an outcome was told twice`);
  assert.deepEqual(outcomes, [...new Set(placed(["call-open"]))], `${where}: a call was lost`);
  const seqs = trace.events.map(({ seq }) => seq);
  assert.ok(seqs.every((seq, i) => i === 0 || seq > (seqs[i - 1] ?? 0)), `${where}: seq ${seqs}`);
  const calls = trace.steps.filter((step) => effectOf(step) !== undefined);
  for (const step of calls) {
    const { key, idempotent, status } = step;
    const times = effects.get(effectOf(step) ?? "") ?? 0;
    assert.equal(status, "finished", `${where}: ${key}`);
    const mayBe = idempotent ? times >= 1 && times <= most : times === 1;
    assert.ok(mayBe, `${where}: ${key} was done ${times} times by ${most} processes`);
  }
  const known = new Set(calls.map(effectOf));
  for (const name of effects.keys()) {
    assert.ok(known.has(name), `${where}: ${name} was done and is not known`);
  }
}
