// Runs the pages of `orrery help TOPIC`, each from its top in an empty folder of its own, as README.md is run. The types of its modules are for documented_types_test.ts.

import { join } from "node:path";
import { readmeBlocks, tryModule, tryScript, writeBlock } from "../documentation/readme_blocks.ts";
import { makeWorkplace } from "../documentation/workplace.ts";
import { orreryCommand, PROJECT_ROOT } from "../_run.ts";

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
  });
}
