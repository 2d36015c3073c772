// No-op nodes: what is left is the scheduler. Memory is that of a process of its own, over one that does nothing.

import { schedule } from "../../lib/schedule/schedule.ts";
import type { ScheduleNode } from "../../lib/schedule/scheduler.ts";
import { median } from "./_median.ts";
import type { Row } from "./_table.ts";

const SAMPLES = 7;

type Shape = (index: number, count: number) => readonly number[];

const shapes: Readonly<Record<string, Shape>> = {
  independent: () => [],
  chain: (i) => i === 0 ? [] : [i - 1],
  "reverse chain": (i, count) => i === count - 1 ? [] : [i + 1],
  layered: (i) => i < 100 ? [] : [0, 33, 66].map((k) => (Math.floor(i / 100) - 1) * 100 + (i + k) % 100),
  fan: (i, count) => i === 0 ? [] : i < count - 1 ? [0] : Array.from({ length: count - 2 }, (_, k) => k + 1),
};

/** A graph of no-op nodes. */
export function graph(shape: string, count: number, isAsync: boolean): ScheduleNode<number>[] {
  const run = isAsync ? () => Promise.resolve(1) : () => 1;
  const edges = shapes[shape] ?? (() => []);
  return Array.from(
    { length: count },
    (_, i) => ({ id: `n${i}`, dependencies: edges(i, count).map((k) => `n${k}`), run }),
  );
}

async function runAll(nodes: readonly ScheduleNode<number>[]): Promise<number> {
  const start = performance.now();
  let results = 0;
  for await (const outcome of schedule(nodes)) if (outcome.status === "result") results++;
  if (results !== nodes.length) throw new Error(`${results} of ${nodes.length} nodes gave a result`);
  return performance.now() - start;
}

/** Every run starts from a collected heap: the graph, made outside the measured time, is not collected within it. */
function collectGarbage(): void {
  const gc: unknown = Reflect.get(globalThis, "gc");
  if (typeof gc === "function") gc();
}

/** Medians of the time of one run, each sample of 100,000 nodes in all: a small run alone would leave out its share of collecting garbage. */
async function medianMs(shape: string, count: number, isAsync: boolean): Promise<number> {
  const times: number[] = [];
  const runs = 100_000 / count;
  for (let i = 0; i < SAMPLES + 1; i++) {
    let ms = 0;
    for (let run = 0; run < runs; run++) {
      const nodes = graph(shape, count, isAsync);
      collectGarbage();
      ms += await runAll(nodes);
    }
    if (i >= 1) times.push(ms / runs);
  }
  return median(times);
}

/** The rows of the table: cost of a node in five shapes, growth, and memory. */
export async function benchScheduler(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const isAsync of [false, true]) {
    const kind = isAsync ? "asynchronous" : "synchronous";
    for (const shape of Object.keys(shapes)) {
      const ms = await medianMs(shape, 10_000, isAsync);
      rows.push({
        what: `10,000 nodes, ${shape}, ${kind}`,
        value: ms / 10,
        unit: "µs a node",
        limit: 8,
      });
      const large = await medianMs(shape, 100_000, isAsync);
      rows.push({
        what: `100,000 nodes, ${shape}, ${kind}`,
        value: large,
        unit: "ms",
        ratio: large / ms,
        of: "10,000",
        limit: 12,
      });
    }
  }
  return [...rows, await benchMemory()];
}

async function benchMemory(): Promise<Row> {
  const empty: number[] = [];
  const full: number[] = [];
  for (let i = 0; i < 5; i++) {
    empty.push(await peakMb("0"));
    full.push(await peakMb("100000"));
  }
  return {
    what: "resident memory, 100,000 nodes in layers, over an empty process",
    value: median(full) - median(empty),
    unit: "MB",
    limit: 150,
  };
}

/** The most memory a process of its own ever held, in MB. */
async function peakMb(count: string): Promise<number> {
  const script = new URL("./_scheduler_memory.ts", import.meta.url);
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", script.pathname, count],
    stderr: "inherit",
  });
  const { success, stdout } = await command.output();
  const mb = Number(new TextDecoder().decode(stdout));
  if (!success || !Number.isFinite(mb)) throw new Error("the memory measurement failed");
  return mb;
}
