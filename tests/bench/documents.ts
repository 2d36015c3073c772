// Executable documents: the parser and the ids, whole runs through the command line's engine, and commands against spawning by hand.
// Whole runs are commands, start-up and journal included; `--ephemeral` where the journal is another row's matter.

import { join } from "node:path";
import { LiveDocument } from "../../lib/document/live_document.ts";
import { parseDocument } from "../../lib/parse/document/document.ts";
import { orreryCommand, testEnvironment } from "../_run.ts";
import { median } from "./_median.ts";
import type { Row } from "./_table.ts";

const SAMPLES = 7;
const RUNS = 5;

/** The rows of the table. */
export async function benchDocuments(): Promise<readonly Row[]> {
  const folder = await Deno.makeTempDir({ prefix: "orrery-bench-" });
  try {
    return [
      ...benchParsing(),
      ...await benchMemory(),
      ...await benchRuns(folder),
      ...await benchShell(folder),
    ];
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const headings = (count: number): string =>
  Array.from({ length: count }, (_, n) => `## Heading number ${n}\n\nSome text below it.\n\n`).join("");

function timed(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function collectGarbage(): void {
  const gc: unknown = Reflect.get(globalThis, "gc");
  if (typeof gc === "function") gc();
}

/** Opens a document, finds each of its blocks and prints it. What is given is kept, so that many small ones leave as much to be collected. */
function open(text: string, count: number): LiveDocument {
  const live = new LiveDocument(parseDocument(text));
  for (let n = 0; n < count; n++) live.find(`heading-number-${n}`);
  if (live.print() !== text) throw new Error("the document was not printed as it was");
  return live;
}

function benchParsing(): readonly Row[] {
  const [small, middle, large] = [headings(1000), headings(20_000), headings(100_000)];
  const [parses, smalls, larges]: [number[], number[], number[]] = [[], [], []];
  for (let i = 0; i < SAMPLES + 1; i++) {
    collectGarbage();
    const parse = timed(() => parseDocument(middle));
    collectGarbage();
    // A hundred short ones, the same text in all: one alone would leave out its share of collecting garbage.
    const many = timed(() => Array.from({ length: 100 }, () => open(small, 1000)));
    collectGarbage();
    const one = timed(() => open(large, 100_000));
    if (i >= 1) [parses, smalls, larges].forEach((list, k) => list.push([parse, many, one][k] ?? 0));
  }
  return [
    { what: "20,000 headings, parsed", value: median(parses), unit: "ms", limit: 250 },
    {
      what: "1,000 headings: parsed, each found, printed",
      value: median(smalls) / 100,
      unit: "ms",
    },
    {
      what: "100,000 headings: the same",
      value: median(larges),
      unit: "ms",
      ratio: median(larges) / (median(smalls) / 100),
      of: "1,000",
      limit: 200,
    },
  ];
}

async function benchMemory(): Promise<readonly Row[]> {
  const peaks: Record<string, number[]> = { "0": [], "20000": [], "100000": [] };
  for (let i = 0; i < 3; i++) {
    for (const [count, list] of Object.entries(peaks)) list.push(await peakMb(count));
  }
  const [empty = NaN, small = NaN, large = NaN] = Object.values(peaks).map(median);
  return [
    { what: "resident memory, 20,000 headings, over an empty process", value: small - empty, unit: "MB" },
    {
      what: "resident memory, 100,000 headings",
      value: large - empty,
      unit: "MB",
      ratio: (large - empty) / (small - empty),
      of: "20,000",
      limit: 7,
    },
  ];
}

/** The most memory a process of its own ever held, in MB. */
async function peakMb(count: string): Promise<number> {
  const script = new URL("./_document_memory.ts", import.meta.url);
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", script.pathname, count],
    stderr: "inherit",
  }).output();
  const mb = Number(new TextDecoder().decode(stdout));
  if (!success || !Number.isFinite(mb)) throw new Error("the memory measurement failed");
  return mb;
}

/** So many headings, and among them so many imports of a block, each to the block that a reference names. */
export function manyReferences(
  { headings: count, operations }: { headings: number; operations: number },
): string {
  const each = Math.max(1, Math.floor(count / operations));
  let text = "";
  for (let n = 0; n < count; n++) {
    text += `## Heading number ${n}\n\nSome text below it.\n\n`;
    if (n % each !== 0 || n / each >= operations) continue;
    text += `@import\nfile: part.md\nblock: part/deep\nto: heading-number-${(n * 7919) % count}\n\n`;
  }
  return text;
}

async function benchRuns(folder: string): Promise<readonly Row[]> {
  await Deno.writeTextFile(join(folder, "part.md"), "# Part\n\nA part.\n\n## Deep\n\nDeeper.\n");
  const files = {
    "empty.md": "# A\n",
    "small.md": manyReferences({ headings: 1000, operations: 200 }),
    "many.md": manyReferences({ headings: 5000, operations: 1000 }),
    "larger.md": manyReferences({ headings: 20_000, operations: 4000 }),
  };
  for (const [file, text] of Object.entries(files)) await Deno.writeTextFile(join(folder, file), text);
  const [empty, small, many, kept, larger]: number[][] = [[], [], [], [], []];
  for (let i = 0; i < RUNS + 1; i++) {
    const times = [
      await commandMs(folder, ["run", "empty.md", "--ephemeral", "-q"]),
      await commandMs(folder, ["run", "small.md", "--ephemeral", "-q"]),
      await commandMs(folder, ["run", "many.md", "--ephemeral", "-q"]),
      await commandMs(folder, ["run", "many.md", "-q"]),
      await commandMs(folder, ["run", "larger.md", "--ephemeral", "-q"]),
    ];
    if (i >= 1) [empty, small, many, kept, larger].forEach((list, k) => list?.push(times[k] ?? 0));
  }
  const [start, ms200, ms1000, msKept, ms4000] = [empty, small, many, kept, larger].map((list) =>
    median(list ?? [])
  );
  const growth = ((ms4000 ?? 0) - (start ?? 0)) / ((ms1000 ?? 0) - (start ?? 0));
  return [
    { what: "orrery run of a document without operations, the command", value: start ?? NaN, unit: "ms" },
    { what: "1,000 headings, 200 references, 200 imports", value: ms200 ?? NaN, unit: "ms" },
    {
      what: "5,000 headings, 1,000 references, 1,000 imports",
      value: ms1000 ?? NaN,
      unit: "ms",
      limit: 2000,
    },
    { what: "the same with the journal: 1,000 steps more", value: msKept ?? NaN, unit: "ms", limit: 2000 },
    {
      what: "20,000 headings, 4,000 references, 4,000 imports",
      value: ms4000 ?? NaN,
      unit: "ms",
      ratio: growth,
      of: "5,000, less the start",
      limit: 6,
    },
  ];
}

async function commandMs(folder: string, args: readonly string[]): Promise<number> {
  const [program, ...first] = orreryCommand();
  const start = performance.now();
  const { code, stderr } = await new Deno.Command(program, {
    args: [...first, ...args],
    cwd: folder,
    clearEnv: true,
    env: testEnvironment(),
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (code !== 0) throw new Error(`${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  return performance.now() - start;
}

const COMMANDS = 1000;
/** Rounds in which both take turns, so that what else the machine does falls on both. */
const ROUNDS = 5;

async function benchShell(folder: string): Promise<readonly Row[]> {
  const commands = `@shell\nprompt: "true"\n\n`.repeat(COMMANDS);
  await Deno.writeTextFile(join(folder, "shell.md"), `# A\n\n${commands}`);
  const handMs = async (count: number): Promise<number> => {
    const begun = performance.now();
    for (let n = 0; n < count; n++) await new Deno.Command("sh", { args: ["-c", "true"] }).output();
    return performance.now() - begun;
  };
  const rounds: { readonly byHand: number; readonly run: number }[] = [];
  for (let i = 0; i < ROUNDS; i++) {
    const start = await commandMs(folder, ["run", "empty.md", "-q", "--allow-run"]);
    const before = await handMs(COMMANDS / 2);
    const whole = await commandMs(folder, ["run", "shell.md", "-q", "--allow-run"]);
    rounds.push({ byHand: before + await handMs(COMMANDS / 2), run: whole - start });
  }
  return [
    {
      what: "1,000 x sh -c true by hand (the floor)",
      value: median(rounds.map(({ byHand }) => byHand)),
      unit: "ms",
    },
    {
      what: "1,000 @shell true in a run that is kept, less the start",
      value: median(rounds.map(({ run }) => run)),
      unit: "ms",
      ratio: median(rounds.map(({ run, byHand }) => run / byHand)),
      of: "the floor",
      limit: 4,
    },
  ];
}
