// A TagParser on long answers: what is left open must not cost more than what is closed.

import { tags } from "../../lib/prompt/tags.ts";
import { median } from "./_median.ts";
import type { Row } from "./_table.ts";

const SAMPLES = 9;
const MB = 1e6;

interface Shape {
  readonly what: string;
  /** One part of the text, by its number. */
  readonly part: (index: number) => string;
  /** How many parts 5 MB have. */
  readonly parts: number;
}

const filler = (length: number): string => "x".repeat(length);

const SHAPES: readonly Shape[] = [
  { what: "10,000 unclosed tags", part: () => `<answer>${filler(492)}`, parts: 10_000 },
  {
    what: "10,000 unclosed tags of as many names",
    part: (index) => `<t${index}>`.padEnd(500, "x"),
    parts: 10_000,
  },
  { what: "10,000 unclosed code blocks", part: () => `\`\`\`py\n${filler(494)}`, parts: 10_000 },
  {
    what: "blocks that are too long to be closed",
    part: () => `\`\`\`\`py ${filler(238)}\`\`\` ${filler(250)}`,
    parts: 10_000,
  },
  {
    what: "10,000 elements and blocks, all closed",
    part: () => `<answer>${filler(230)}</answer>\`\`\`py\n${filler(235)}\n\`\`\`\n`,
    parts: 10_000,
  },
];

/** The rows of the table: 5 MB of each shape within 100 ms. */
export function benchTags(): Promise<readonly Row[]> {
  return Promise.resolve(SHAPES.map(measure));
}

function measure({ what, part, parts }: Shape): Row {
  const names = Array.from({ length: parts }, (_, index) => `t${index}`);
  const parser = tags({ xmlTags: ["answer", ...(what.endsWith("names") ? names : [])], mdTags: ["py"] });
  const text = Array.from({ length: parts }, (_, index) => part(index)).join("");
  const times: number[] = [];
  for (let sample = 0; sample < SAMPLES + 2; sample++) {
    const ms = timed(() => parser.parse(text));
    if (sample >= 2) times.push(ms);
  }
  return {
    what: `tags: ${what}, ${(text.length / MB).toFixed(1)} MB`,
    value: median(times),
    unit: "ms",
    limit: 100,
  };
}

function timed(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

if (import.meta.main) {
  const { formatTable } = await import("./_table.ts");
  console.log(formatTable(await benchTags()));
}
