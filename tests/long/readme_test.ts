// Runs README.md: `ts` blocks as modules, `sh` blocks as scripts, in order and in one folder, as somebody would who reads
// it from the top. What a block may say of itself: documentation/readme_blocks.ts. Their
// types are for documented_types_test.ts.

import assert from "node:assert/strict";
import { arrowComments, assertOutput } from "../documentation/expected_output.ts";
import { fencesOf, markdownOfJsDoc } from "../documentation/fences.ts";
import { readmeBlocks, tryModule, tryScript, writeBlock } from "../documentation/readme_blocks.ts";
import { makeWorkplace } from "../documentation/workplace.ts";

Deno.test("README.md does what it says", async (t) => {
  await using place = await makeWorkplace();
  const blocks = await readmeBlocks();
  for (const block of blocks) {
    await t.step(block.name, async () => {
      if (block.kind === "file") await writeBlock(place, block);
      if (block.kind === "script") await tryScript(place, block);
      if (block.kind === "module") await tryModule(place, block);
    });
  }
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
