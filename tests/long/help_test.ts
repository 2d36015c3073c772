// Runs the pages of `orrery help TOPIC`, each from its top in an empty folder of its own, as README.md is run.

import assert from "node:assert/strict";
import { join } from "node:path";
import {
  type ReadmeBlock,
  readmeBlocks,
  tryModule,
  tryScript,
  writeBlock,
} from "../documentation/readme_blocks.ts";
import { makeWorkplace } from "../documentation/workplace.ts";
import { orreryCommand, PROJECT_ROOT } from "../_run.ts";

/** Of all pages, for their types: each page by itself would load the compiler and the project anew. */
const modules: { readonly name: string; readonly block: ReadmeBlock }[] = [];

for (const { name } of Deno.readDirSync(join(PROJECT_ROOT, "lib/help"))) {
  if (!name.endsWith(".md")) continue;
  Deno.test(`help ${name.slice(0, -3)}`, async (t) => {
    await using place = await makeWorkplace(orreryCommand(), { isEmpty: true });
    const blocks = await readmeBlocks(`lib/help/${name}`);
    for (const block of blocks) {
      await t.step(block.name, async () => {
        if (block.kind === "file") await writeBlock(place, block);
        if (block.kind === "script") await tryScript(place, block);
        if (block.kind === "module") await tryModule(place, block);
      });
    }
    modules.push(...blocks.filter(({ kind }) => kind === "module").map((block) => ({ name, block })));
  });
}

Deno.test("the types of the modules of help fit", async () => {
  await using place = await makeWorkplace(orreryCommand(), { isEmpty: true });
  const files = modules.map(({ name, block }) => `${name.slice(0, -3)}_${block.line}.ts`);
  for (const [index, file] of files.entries()) await place.write(file, modules[index]?.block.text ?? "");
  assert.ok(files.length > 0, "help has modules");
  const { code, stderr } = await place.check(files);
  assert.equal(code, 0, stderr);
});
