// The types of prompts (prompts.md 13), as the compiler sees them.

import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { thoroughTest } from "../_thorough.ts";

const FOLDER = new URL("../spec/prompts/types/", import.meta.url);
const CONFIG = fileURLToPath(new URL("../../deno.json", import.meta.url));

interface Check {
  readonly success: boolean;
  readonly output: string;
  readonly ms: number;
}

async function typeCheck(...files: readonly string[]): Promise<Check> {
  const before = performance.now();
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["check", "--quiet", "--no-lock", "--config", CONFIG, ...files],
    env: { NO_COLOR: "1" },
  }).output();
  const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  return { success, output, ms: performance.now() - before };
}

async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** The text with imports that hold wherever it lies. */
async function portable(file: string): Promise<string> {
  const text = await Deno.readTextFile(new URL(file, FOLDER));
  return text.replaceAll(/from "(\.[^"]+)"/g, (_all, path) => `from "${new URL(path, FOLDER)}"`);
}

Deno.test("what must type-check does, and what must not does not, each for its reason", async () => {
  await inFolder(async (folder) => {
    const lines = (await portable("must_not_check.ts")).split("\n");
    const expected = new Map<number, string>();
    lines.forEach((line, index) => {
      const reason = /@ts-expect-error: (.*)/.exec(line)?.[1];
      if (reason !== undefined) expected.set(index + 2, reason);
    });
    const file = join(folder, "must_not_check.ts");
    await Deno.writeTextFile(file, lines.join("\n").replaceAll("@ts-expect-error", "expected"));
    const { output } = await typeCheck(file, fileURLToPath(new URL("must_check.ts", FOLDER)));
    const found = new Map<number, string>();
    // What belongs to an error, such as where a type is declared, is indented.
    for (const error of output.split(/\n\n(?=TS\d+ \[ERROR\]: \S)/)) {
      const place = /^ {4}at \S*must_not_check\.ts:(\d+):/m.exec(error)?.[1];
      found.set(Number(place), (found.get(Number(place)) ?? "") + error);
    }
    for (const [line, reason] of expected) {
      assert.ok(
        found.get(line)?.includes(reason),
        `line ${line}: expected "${reason}", found ${found.get(line)}`,
      );
    }
    assert.deepEqual([...found.keys()].sort(), [...expected.keys()].sort(), output);
  });
});

thoroughTest(
  "a template of 300 variables is checked in under 2 s, and one with a thousand lines of JSON is, too",
  async () => {
    await inFolder(async (folder) => {
      const write = async (name: string, body: string) => {
        const file = join(folder, name);
        const module = new URL("../../lib/prompt/define_prompt.ts", import.meta.url);
        await Deno.writeTextFile(file, `import { definePrompt } from "${module}";\n${body}\n`);
        return file;
      };
      const names = Array.from({ length: 300 }, (_, index) => `variable_${index}`);
      const template = names.map((name) => `This is what {${name}.text:>{width}} says, with {{braces}}.`)
        .join(
          "\\n",
        );
      const args = (given: readonly string[]) =>
        `{ width: 1, ${given.map((name) => `${name}: 1`).join(", ")} }`;
      const many = (given: readonly string[]) =>
        `export const text = definePrompt({ template: "${template}" })(${args(given)});`;
      const json = `export const text = definePrompt({ template: \`${
        "{{}}: {{}}\n".repeat(1_000)
      }{last}\` })`;
      const empty = await typeCheck(
        await write("empty.ts", "export const text = definePrompt({ template: 'x' })();"),
      );
      const large = await typeCheck(await write("large.ts", many(names)));
      const deep = await typeCheck(await write("deep.ts", `${json}({ last: 1 });`));
      assert.deepEqual([empty.output, large.output, deep.output], ["", "", ""]);
      for (const { ms } of [large, deep]) {
        assert.ok(ms - empty.ms < 2_000, `${ms} ms, an empty file takes ${empty.ms} ms`);
      }
      console.log(`300 variables: ${Math.round(large.ms - empty.ms)} ms over an empty file`);
      const missing = await typeCheck(
        await write("missing.ts", many(names.slice(1))),
        await write("deeper.ts", `${json}({});`),
      );
      assert.match(missing.output, /Property 'variable_0' is missing/);
      assert.match(missing.output, /Property 'last' is missing/);
    });
  },
);
