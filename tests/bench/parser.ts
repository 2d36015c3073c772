// CallParser and parseCalls against the floor under any chunked reader: append each chunk to a buffer, find the line ends from
// where the last search stopped, drop what was used. Ratios are of throughput, medians of interleaved samples.
import { CallParser, parseCalls } from "../../lib/parse/calls/calls.ts";
import { median } from "./_median.ts";
import type { Row } from "./_table.ts";

const SAMPLES = 9;
const LOREM =
  "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna aliqua";

/** About `chars` characters of prose, small arguments and large ones; the same on every run. */
export function mixedCalls(chars: number): string {
  const words = LOREM.split(" ");
  let seed = 7;
  const random = (): number => {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff;
    return seed / 0x7fffffff;
  };
  const prose = (length: number): string => {
    let out = "";
    while (out.length < length) {
      out += (words[Math.floor(random() * words.length)] ?? "") + (random() < 0.1 ? ".\n" : " ");
    }
    return out;
  };
  let text = "";
  for (let i = 1; text.length < chars; i++) {
    const dependency = i > 1 && i % 3 === 0 ? `:w${i - 1}` : "";
    text +=
      `${
        prose(200)
      }\n!!!GADGET_START:WriteFile:w${i}${dependency}\n!!!ARG:path\nsrc/f${i}.ts\n!!!ARG:mode\n420\n` +
      `!!!ARG:opts/flags/0\ntrue\n!!!ARG:opts/flags/1\nfalse\n!!!ARG:content\n${prose(600)}\n!!!GADGET_END\n`;
  }
  return text;
}

/** The text in pieces of `size` characters. */
export function pieces(text: string, size: number): string[] {
  const out: string[] = [];
  for (let at = 0; at < text.length; at += size) out.push(text.slice(at, at + size));
  return out;
}

function scanLines(chunks: readonly string[]): number {
  let buffer = "";
  let searched = 0;
  let lines = 0;
  for (const chunk of chunks) {
    buffer += chunk;
    let used = 0;
    for (let at = buffer.indexOf("\n", searched); at >= 0; at = buffer.indexOf("\n", used)) {
      lines++;
      used = at + 1;
    }
    if (used > 0) buffer = buffer.slice(used);
    searched = buffer.length;
  }
  return lines;
}

function parse(chunks: readonly string[]): number {
  const parser = new CallParser();
  let calls = 0;
  for (const chunk of chunks) for (const event of parser.push(chunk)) if (event.type === "call-end") calls++;
  for (const event of parser.end()) if (event.type === "call-end") calls++;
  return calls;
}

async function parseAsync(chunks: readonly string[]): Promise<number> {
  let calls = 0;
  for await (const event of parseCalls(chunks)) if (event.type === "call-end") calls++;
  return calls;
}

async function timed(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** The rows of the table: the parser at three chunk sizes, and one long argument at two lengths. */
export async function benchParser(): Promise<readonly Row[]> {
  const text = mixedCalls(5e6);
  const rows: Row[] = [];
  for (const size of [4, 64, 4096]) {
    const chunks = pieces(text, size);
    const scans: number[] = [];
    const parses: number[] = [];
    const asyncs: number[] = [];
    for (let i = 0; i < SAMPLES + 2; i++) {
      const scan = await timed(() => scanLines(chunks));
      const sync = await timed(() => parse(chunks));
      const async = await timed(() => parseAsync(chunks));
      if (i >= 2) [scans, parses, asyncs].forEach((list, k) => list.push([scan, sync, async][k] ?? 0));
    }
    const mbPerSecond = (times: readonly number[]): number => text.length / 1e3 / median(times);
    rows.push({
      what: `line scan (the floor), ${size} characters a chunk`,
      value: mbPerSecond(scans),
      unit: "MB/s",
    });
    rows.push({
      what: `CallParser, ${size}`,
      value: mbPerSecond(parses),
      unit: "MB/s",
      ratio: mbPerSecond(parses) / mbPerSecond(scans),
      of: "the floor",
      limit: 0.25,
      atLeast: true,
    });
    rows.push({
      what: `parseCalls, ${size}`,
      value: mbPerSecond(asyncs),
      unit: "MB/s",
      ratio: mbPerSecond(asyncs) / mbPerSecond(parses),
      of: "CallParser",
    });
  }
  return [...rows, ...await benchLongArgument()];
}

async function benchLongArgument(): Promise<readonly Row[]> {
  const chunksOf = (chars: number): string[] =>
    pieces(
      `!!!GADGET_START:W:w\n!!!ARG:content\n${"x".repeat(79).concat("\n").repeat(chars / 80)}!!!GADGET_END\n`,
      16,
    );
  const [small, large] = [chunksOf(5e5), chunksOf(2e6)];
  const smallMs: number[] = [];
  const largeMs: number[] = [];
  for (let i = 0; i < SAMPLES + 2; i++) {
    // Four short runs, the same text in all: one alone would leave out its share of collecting garbage.
    const s = await timed(() => [1, 2, 3, 4].forEach(() => parse(small))) / 4;
    const l = await timed(() => parse(large));
    if (i >= 2) [smallMs, largeMs].forEach((list, k) => list.push([s, l][k] ?? 0));
  }
  return [
    { what: "one argument of 0.5 MB, 16 characters a chunk", value: median(smallMs), unit: "ms" },
    {
      what: "one argument of 2 MB, 16 characters a chunk",
      value: median(largeMs),
      unit: "ms",
      ratio: median(largeMs) / median(smallMs),
      of: "0.5 MB",
      limit: 4.6,
    },
  ];
}
