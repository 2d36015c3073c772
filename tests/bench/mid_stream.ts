// From the last byte of a block at the socket to the start of its gadget, while later tokens still arrive (200 a second): under 1 ms at
// the 99th percentile, over the commit of its start where the gadget may not be done twice. Between two tokens the machine sleeps, and
// what wakes up is slow: what the least that could be done takes, and a commit of another run, are measured in the same stream, at the
// same pace.
import { systemClock } from "../../lib/core/clock.ts";
import type { Journal, RunJournal } from "../../lib/core/journal.ts";
import { thisProcess } from "../../lib/host/process.ts";
import { sqliteJournal } from "../../lib/journal/sqlite_journal.ts";
import { openModels } from "../../lib/models/open_models.ts";
import { ask } from "../../lib/run/dialog/dialog.ts";
import { type AnyGadget, createCatalog } from "../../mod.ts";
import type { Row } from "./_table.ts";

/** 70 seconds: twenty blocks are slower than the 99th percentile, so that it does not hang on the luck of two or three. */
const BLOCKS = 2000;
/** 14 seconds, in which the engine still compiles what runs often: told apart from all of them. */
const EARLY_BLOCKS = 400;
/** The first answer of a process, whose code runs for the first time. */
const FIRST_BLOCKS = 30;
/** After a gadget's start, between two tokens: when nothing else is going on. */
const COMMIT_AFTER_MS = 12;

interface Delays {
  /** From the last byte of a block to its gadget, in the order of the blocks. */
  readonly gadgets: readonly number[];
  /** From the last byte of the same block to its text, by the least code that reads it. */
  readonly byHand: readonly number[];
  /** Of the commit between the two, of the step that begins. */
  readonly ownCommits: readonly number[];
  /** Of one such commit of another run, which writes nothing else. */
  readonly otherCommits: readonly number[];
}

/** The rows of the table: how long a whole block waits for its gadget. */
export async function benchMidStream(): Promise<readonly Row[]> {
  const first = await delays({ blocks: FIRST_BLOCKS, idempotent: true });
  const plain = await delays({ blocks: BLOCKS, idempotent: true });
  const folder = await Deno.makeTempDir();
  const journal = sqliteJournal(`${folder}/orrery.db`, { owner: thisProcess() });
  const kept = await delays({ blocks: BLOCKS, idempotent: false, journal });
  const overCommit = kept.gadgets.map((time, i) => time - (kept.ownCommits[i] ?? 0));
  journal[Symbol.dispose]();
  await Deno.remove(folder, { recursive: true });
  return [
    { what: "last byte of a block to its text by hand, p50", value: at(plain.byHand, 0.5), unit: "ms" },
    { what: "the same, p99", value: at(plain.byHand, 0.99), unit: "ms" },
    {
      what: `last byte to gadget, the first ${FIRST_BLOCKS} blocks of a process, p50`,
      value: at(first.gadgets, 0.5),
      unit: "ms",
    },
    { what: "the same, the slowest", value: at(first.gadgets, 1), unit: "ms" },
    {
      what: `last byte to gadget, the first ${EARLY_BLOCKS} blocks of a stream, p99`,
      value: at(plain.gadgets.slice(0, EARLY_BLOCKS), 0.99),
      unit: "ms",
    },
    {
      what: `last byte of a block to its gadget, ${BLOCKS} blocks, p50`,
      value: at(plain.gadgets, 0.5),
      unit: "ms",
    },
    { what: "the same, p99", value: at(plain.gadgets, 0.99), unit: "ms", limit: 5 },
    { what: "a commit of another run, p50", value: at(kept.otherCommits, 0.5), unit: "ms" },
    { what: "the same, p99", value: at(kept.otherCommits, 0.99), unit: "ms" },
    { what: "the commit of a start, p50", value: at(kept.ownCommits, 0.5), unit: "ms" },
    { what: "the same, p99", value: at(kept.ownCommits, 0.99), unit: "ms" },
    { what: "last byte to a gadget that is not idempotent, p50", value: at(kept.gadgets, 0.5), unit: "ms" },
    { what: "the same, p99", value: at(kept.gadgets, 0.99), unit: "ms" },
    { what: "the same over its commit, p99", value: at(overCommit, 0.99), unit: "ms", limit: 5 },
  ];
}

async function delays({ blocks, idempotent, journal }: {
  readonly blocks: number;
  readonly idempotent: boolean;
  readonly journal?: Journal;
}): Promise<Delays> {
  const server = await slowServer(blocks);
  const arrivedAt: number[] = [];
  const readAt: number[] = [];
  const startedAt: number[] = [];
  const ownCommits: number[] = [];
  const otherCommits: number[] = [];
  const other = journal?.create({ kind: "test", input: null });
  const commitOne = (n: number): void => {
    const start = performance.now();
    other?.begin({ key: `k${n}`, kind: "gadget", name: "Tick", input: { n }, idempotent: false });
    otherCommits.push(performance.now() - start);
  };
  const tick: AnyGadget = {
    name: "Tick",
    description: "Ticks.",
    idempotent,
    run: ({ n }: { n: number }) => {
      startedAt[n] = performance.now();
      if (other !== undefined) setTimeout(() => commitOne(n), COMMIT_AFTER_MS);
      return null;
    },
  } as AnyGadget;
  const models = openModels({
    settings: { providers: { slow: { type: "openai-compatible", baseURL: server.url } } },
    env: () => undefined,
    fetch: watchedFetch({ arrivedAt, readAt }),
    clock: systemClock,
    files: { readText: () => Promise.reject(new Error("no files")) },
  });
  const model = await models.find("slow/x");
  const run = journal?.create({ kind: "ask", input: null });
  let deltasAfterFirst = 0;
  const events = ask("Go", {
    model,
    catalog: createCatalog([tick]),
    tools: ["Tick"],
    ...(run && { journal: timed(run, ownCommits) }),
  });
  for await (const event of events) {
    if (event.type === "text-delta" && startedAt.length > 0) deltasAfterFirst++;
  }
  await server.stop();
  other?.release("done");
  if (startedAt.length !== blocks) throw new Error(`${startedAt.length} gadgets of ${blocks} started`);
  if (deltasAfterFirst < blocks) throw new Error("no tokens came after the first gadget had started");
  return {
    gadgets: startedAt.map((time, i) => time - (arrivedAt[i] ?? 0)),
    byHand: readAt.map((time, i) => time - (arrivedAt[i] ?? 0)),
    ownCommits,
    otherCommits,
  };
}

/** The journal of a run that notes how long the start of each gadget takes. */
function timed(run: RunJournal, times: number[]): RunJournal {
  const begin: RunJournal["begin"] = (step) => {
    const start = performance.now();
    const turn = run.begin(step);
    if (step.kind === "gadget") times.push(performance.now() - start);
    return turn;
  };
  return new Proxy(run, {
    get: (target, name) => {
      if (name === "begin") return begin;
      const member: unknown = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** A provider in another process, as they are. */
async function slowServer(blocks: number): Promise<{ url: string; stop(): Promise<void> }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--allow-net=127.0.0.1", "tests/bench/_slow_server.ts", String(blocks)],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value = "" } = await reader.read();
  return {
    url: `http://127.0.0.1:${value.trim()}/v1`,
    async stop() {
      await child.stdin.close();
      await reader.cancel();
      await child.status;
    },
  };
}

/** A fetch that notes when the last byte of each block is there, and when its text is known; nothing stands between it and the socket. */
function watchedFetch(
  { arrivedAt, readAt }: { readonly arrivedAt: number[]; readonly readAt: number[] },
): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const reader = response.body?.getReader();
    if (reader === undefined) return response;
    const decoder = new TextDecoder();
    const read = async () => {
      const piece = await reader.read();
      if (piece.done) return piece;
      const arrived = performance.now();
      const event = decoder.decode(piece.value);
      if (event.includes("_END")) {
        JSON.parse(event.slice("data: ".length));
        readAt.push(performance.now());
        arrivedAt.push(arrived);
      }
      return piece;
    };
    const watched = { read, cancel: (reason?: unknown) => reader.cancel(reason) };
    const body = new Proxy(new ReadableStream(), {
      get: (target, name) => name === "getReader" ? () => watched : Reflect.get(target, name),
    });
    return Object.defineProperty(new Response(null, response), "body", { value: body });
  };
}

/** The time that `share` of all were not slower than. */
function at(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(times.length, Math.ceil(times.length * share)) - 1] ?? NaN;
}
