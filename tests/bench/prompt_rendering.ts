// Rendering: small templates, and how the time for one grows with its fields.

import { parseTemplate } from "../../lib/parse/template.ts";
import { templateRenderer } from "../../lib/prompt/prompt_text.ts";
import { median } from "./_median.ts";
import type { Row } from "./_table.ts";

const SAMPLES = 9;
const RENDERINGS = 200_000;

const SMALL: readonly (readonly [string, Readonly<Record<string, unknown>>])[] = [
  ["Hello {name}, welcome to {place}!", { name: "Alice", place: "Wonderland" }],
  ["{error_message}: {{retry}} {retry_count} of {max_retries}", {
    error_message: "no <answer>",
    retry_count: 1,
    max_retries: 3,
  }],
  ["{name:<8}{price:>8.2f}{count:,}", { name: "pen", price: 2.5, count: 1200 }],
  ["{user.name} has {items[0]}", { user: { name: "Bob" }, items: ["a pen"] }],
];

/** Milliseconds for so many renderings, with different arguments each time. */
function timed(
  render: (args: Readonly<Record<string, unknown>>) => string,
  { args, times }: { readonly args: Readonly<Record<string, unknown>>; readonly times: number },
): number {
  const copies = Array.from({ length: 16 }, (_, index) => ({ ...args, index }));
  let last = 0;
  const start = performance.now();
  for (let i = 0; i < times; i++) {
    const text = render(copies[i % copies.length] ?? args);
    last += text.charCodeAt(text.length - 1); // makes one text of the pieces
  }
  const ms = performance.now() - start;
  if (last === 0) throw new Error("a template rendered to nothing");
  return ms;
}

/** The rows of the table: renderings of small templates in a second, and 10 times the fields in 10 times the time. */
export function benchRendering(): Promise<readonly Row[]> {
  const small = SMALL.map(([template, args]): Row => {
    const render = templateRenderer(parseTemplate(template));
    const times = Array.from(
      { length: SAMPLES + 2 },
      () => timed(render, { args, times: RENDERINGS }),
    ).slice(2);
    return {
      what: `render "${template}"`,
      value: RENDERINGS / 1e3 / median(times),
      unit: "million/s",
      limit: 1,
      atLeast: true,
    };
  });
  return Promise.resolve([...small, ...benchWide()]);
}

function benchWide(): readonly Row[] {
  const sizes = [2_000, 20_000];
  const samples = sizes.map((): number[] => []);
  const sources = sizes.map((size) =>
    Array.from({ length: size }, (_, i) => `{v${i}.a[b]:>{w}} {{text}} `).join("")
  );
  const args = sizes.map((size) => ({
    w: 5,
    ...Object.fromEntries(Array.from({ length: size }, (_, i) => [`v${i}`, { a: { b: "x" } }])),
  }));
  for (let i = 0; i < SAMPLES + 2; i++) {
    [10, 1].forEach((times, k) => { // the same number of fields: ten short ones alone would not pay for their garbage
      const start = performance.now();
      for (let n = 0; n < times; n++) templateRenderer(parseTemplate(sources[k] ?? ""))(args[k] ?? {});
      if (i >= 2) samples[k]?.push((performance.now() - start) / times);
    });
  }
  const [few = NaN, many = NaN] = samples.map(median);
  return [
    { what: "parse and render 2,000 fields", value: few, unit: "ms" },
    {
      what: "parse and render 20,000 fields",
      value: many,
      unit: "ms",
      ratio: many / few,
      of: "2,000",
      limit: 30, // 100 if it were quadratic
    },
  ];
}
