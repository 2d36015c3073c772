// Every example of the text that documents come from runs as it is written there.

import assert from "node:assert/strict";
import { join } from "node:path";
import { expectedDocuments, readSeed, runSeed, SEED_ROOT, seedNames } from "./_document_seed.ts";
import type { SeedCase } from "./_document_seed.ts";
import { runProgram } from "./_run.ts";

Deno.test("the examples are those of the text, word for word, in its order, and none is left out", async () => {
  const seed = await Deno.readTextFile(join(SEED_ROOT, "seed.txt"));
  const starts = [...seed.matchAll(/^markdown\n/gm)].map(({ index, 0: line }) => index + line.length);
  const names = seedNames();
  assert.equal(starts.length, names.length);
  for (const [index, name] of names.entries()) {
    const example = readSeed(name, "example.md");
    assert.equal(seed.slice(starts[index], (starts[index] ?? 0) + example.length), example, name);
  }
});

for (const name of seedNames()) {
  const one: SeedCase = JSON.parse(readSeed(name, "case.json"));
  Deno.test(`seed example ${name}: ${one.note}`, async () => {
    for (const program of one.needs ?? []) {
      const { code } = await runProgram(["sh", "-c", `command -v ${program}`]);
      if (code !== 0) return console.log(`not run here: there is no ${program}`);
    }
    const { result, messages, documents } = await runSeed(name, one);
    assert.equal(result.code, 0, result.stderr);
    assert.equal(result.stdout, one.stdout, result.stderr);
    assert.ok(result.stderr.includes(one.stderr ?? ""), result.stderr);
    assert.deepEqual(messages, one.messages);
    assert.deepEqual(Object.fromEntries(documents), Object.fromEntries(expectedDocuments(name)));
  });
}
