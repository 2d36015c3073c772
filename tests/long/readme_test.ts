// Runs README.md: `ts` blocks as modules, `sh` blocks as scripts, in order and in one folder, as somebody would who reads
// it from the top. The info string of a block may say
//   no-run: WHY       it is not run, and why
//   file=PATH         it is written to that file, for the blocks after it
// The next block is what it prints when that is a `text` block under the same heading (`text all`: stderr too). For `ts`
// the `// =>` comments of the block do the same.

import assert from "node:assert/strict";
import { join } from "node:path";
import { arrowComments, assertOutput } from "../documentation/expected_output.ts";
import { type Fence, fencesOf, markdownOfJsDoc } from "../documentation/fences.ts";
import { withReference } from "../documentation/reference.ts";
import { makeWorkplace, type Workplace } from "../documentation/workplace.ts";
import { PROJECT_ROOT } from "../_run.ts";

Deno.test("README.md does what it says", async (t) => {
  await using place = await makeWorkplace();
  const blocks = fencesOf(await Deno.readTextFile(join(PROJECT_ROOT, "README.md")));
  for (const block of blocks) {
    const name = `README.md:${block.line} ${block.language} ${block.text.split("\n", 1)[0]}`;
    if (block.language !== "text" && block.language !== "") await t.step(name, () => tryBlock(place, block));
  }
});

async function tryBlock(place: Workplace, block: Fence): Promise<void> {
  const where = `README.md:${block.line}`;
  const file = /(?:^|\s)file=(\S+)/.exec(block.info)?.[1];
  const reason = /no-run:(.*)$/.exec(block.info)?.[1]?.trim();
  if (reason !== undefined) return assert.ok(reason !== "", `${where}: say why it is not run`);
  if (file !== undefined) return await place.write(file, block.text);
  if (block.language === "ts") return await tryModule(place, block, where);
  if (block.language === "sh") return await tryScript(place, block, where);
  assert.ok(
    !/^(bash|zsh|shell|console|js|javascript|typescript)$/.test(block.language),
    `${where}: write sh or ts, so that it is run`,
  );
}

async function tryModule(place: Workplace, block: Fence, where: string): Promise<void> {
  const file = `readme_${block.line}.ts`;
  await place.write(file, block.text);
  const types = await place.check([file]);
  assert.equal(types.code, 0, `${where}: ${types.stderr}`);
  const run = await place.module(file);
  assert.equal(run.code, 0, `${where}: ${run.stderr}`);
  const expected = block.expected?.text ?? arrowComments(block.text);
  if (expected !== undefined) assertOutput(run.stdout, expected, where);
}

async function tryScript(place: Workplace, block: Fence, where: string): Promise<void> {
  const merged = block.expected?.info === "all";
  const run = await place.shell(block.text, { merged });
  const wanted = Number(/exit=(\d+)/.exec(block.info)?.[1] ?? 0);
  assert.equal(run.code, wanted, `${where}: exit code ${run.code}\n${run.stdout}\n${run.stderr}`);
  if (block.expected !== undefined) assertOutput(run.stdout, block.expected.text, where);
}

Deno.test("README.md has the reference of the flag table as it is now", async () => {
  const readme = await Deno.readTextFile(join(PROJECT_ROOT, "README.md"));
  assert.equal(readme, withReference(readme), "deno task reference writes it anew");
});

Deno.test("fences: language, info, line and what they print", () => {
  const found = fencesOf(
    "a\n```sh exit=1\nx\n```\nprints\n```text all\ny\n```\n````md\n```ts\n```\n````\n```ts\n1\n```\n# b\n```text\nz\n```",
  );
  assert.deepEqual(
    found.map(({ language, info, line, expected }) => [language, info, line, expected?.text]),
    [
      ["sh", "exit=1", 2, "y\n"],
      ["text", "all", 6, undefined],
      ["md", "", 9, undefined],
      ["ts", "", 13, undefined],
      ["text", "", 17, undefined],
    ],
  );
  assert.equal(found[0]?.text, "x\n");
  assert.equal(
    markdownOfJsDoc("*\n * One.\n *\n * ```ts\n *   x;\n * ```\n "),
    "\nOne.\n\n```ts\n  x;\n```\n",
  );
});

Deno.test("outputs: wildcards, and the difference is seen", () => {
  assertOutput("took 12 ms  \nend\n", "took … ms\nend", "here");
  assertOutput("a\nb\nc\nd\n", "a\n…\nd\n", "here");
  assertOutput("1.5.0 (x)\n", "1.5.[..]\n", "here");
  assert.throws(
    () => assertOutput("took 12 s\n", "took … ms", "README.md:3"),
    /README\.md:3: it prints something else/,
  );
  assert.throws(() => assertOutput("a\nb\n", "a\n", "here"), /it prints something else/);
  assert.throws(() => assertOutput("axc\n", "a.c\n", "here"), /it prints something else/);
  assert.equal(arrowComments("a; // => 1\nb;\nc; // => 2"), "1\n2");
  assert.equal(arrowComments("a;"), undefined);
});
