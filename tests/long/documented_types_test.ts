// The types of all modules that the documentation shows: README.md, the pages of `orrery help`, and the JSDoc of what mod.ts exports. At
// once, since each by itself would load the compiler and the project anew.

import assert from "node:assert/strict";
import { join } from "node:path";
import { examplesOfDoor } from "../documentation/examples.ts";
import { readmeBlocks, writeBlock } from "../documentation/readme_blocks.ts";
import { makeWorkplace } from "../documentation/workplace.ts";
import { orreryCommand, PROJECT_ROOT } from "../_run.ts";

Deno.test("the types of what the documentation shows fit", async () => {
  await using place = await makeWorkplace(orreryCommand(), { isEmpty: true });
  const modules: string[] = [];
  // Without an import or export a file is a script to the type checker, and its names would clash with those of the next.
  const add = async (file: string, text: string): Promise<void> => {
    await place.write(file, `${text}\nexport {};\n`);
    modules.push(file);
  };
  const pages = [...Deno.readDirSync(join(PROJECT_ROOT, "lib/help"))].map(({ name }) => `lib/help/${name}`);
  for (const page of ["README.md", ...pages.filter((name) => name.endsWith(".md"))]) {
    const folder = page.replace(".md", "");
    const inFolder = { write: (file: string, text: string) => place.write(`${folder}/${file}`, text) };
    for (const block of await readmeBlocks(page)) {
      if (block.kind === "file") await writeBlock(inFolder, block);
      if (block.kind === "module") await add(`${folder}/line_${block.line}.ts`, block.text);
    }
  }
  for (const { file, source } of await examplesOfDoor()) await add(`mod/${file}`, source);
  for (const from of ["README/", "lib/help/", "mod/"]) {
    assert.ok(modules.some((file) => file.startsWith(from)), from);
  }
  const { code, stderr } = await place.check(modules);
  assert.equal(code, 0, stderr);
});
