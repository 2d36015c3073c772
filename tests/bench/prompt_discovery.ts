// Finding prompts: 2,000 files in a new process, and again in the same one.

import { join } from "node:path";
import { median } from "./_median.ts";
import type { Row } from "./_table.ts";

const FILES = 2000;
const SAMPLES = 5;

/** The ending of the files, and the text of the nth. */
type Kind = readonly [ending: string, text: (n: number) => string];

const TEXT: Kind = [
  ".prompt.md",
  (n) =>
    `---\nname: p${n}\ndescription: The prompt number ${n}\ntags:\n  xmlTags: [reasoning]\n  requiredXmlTags: [answer]\n` +
    `tools: [Calculate, Now]\nmetadata:\n  version: "1.${n}"\n  author: team\n---\nHello {name}, do {task} number ${n}.\n\nThen stop.\n`,
];

const DOTPROMPT: Kind = [
  ".prompt",
  (n) =>
    "---\nmodel: google/gemini\nconfig:\n  temperature: 0.2\ninput:\n  schema:\n    name: string, the name\n    n?: integer\n" +
    `output:\n  schema:\n    title: string\n---\nHello {{name}}{{#if n}} {{n}}{{/if}}, number ${n}\n`,
];

const MODULE: Kind = [
  ".ts",
  (n) =>
    `import { definePrompt } from "${
      new URL("../../lib/prompt/define_prompt.ts", import.meta.url).href
    }";\n` +
    `export const task = definePrompt({ path: "task", template: "Do {x} number ${n}" });\n`,
];

/** The rows of the table. */
export async function benchDiscovery(): Promise<readonly Row[]> {
  const text = await measured(TEXT, FILES);
  const dotprompt = await measured(DOTPROMPT, FILES);
  const modules = await measured(MODULE, 200);
  return [
    row(`${FILES} *.prompt.md for the first time`, text.first, 1000),
    row(`${FILES} *.prompt.md again, same process`, text.again, 1000),
    row(`${FILES} *.prompt for the first time`, dotprompt.first, 1000),
    row(`${FILES} *.prompt again, same process`, dotprompt.again, 1000),
    row("200 modules for the first time", modules.first),
    row("200 modules again, same process", modules.again),
  ];
}

function row(what: string, times: readonly number[], limit?: number): Row {
  return { what, value: median(times), unit: "ms", ...(limit !== undefined && { limit }) };
}

interface Times {
  readonly first: readonly number[];
  readonly again: readonly number[];
}

async function measured(kind: Kind, count: number): Promise<Times> {
  const root = await Deno.makeTempDir({ prefix: "orrery-discovery-" });
  try {
    await writeFiles(root, kind, count);
    const times = { first: [] as number[], again: [] as number[] };
    for (let i = 0; i < SAMPLES; i++) {
      const [first = NaN, again = NaN] = await inProcess(root);
      times.first.push(first);
      times.again.push(again);
    }
    return times;
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

async function writeFiles(root: string, [ending, text]: Kind, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const folder = join(root, "prompts", `d${Math.floor(n / 50)}`);
    if (n % 50 === 0) await Deno.mkdir(folder, { recursive: true });
    await Deno.writeTextFile(join(folder, `f${n}${ending}`), text(n));
  }
}

async function inProcess(root: string): Promise<readonly number[]> {
  const child = new URL("./_discovery_child.ts", import.meta.url).pathname;
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-check", child, root],
    stdin: "null",
  }).output();
  const said = new TextDecoder().decode(stdout);
  if (said === "") throw new Error(new TextDecoder().decode(stderr));
  return JSON.parse(said);
}
