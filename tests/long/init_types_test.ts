// What an editor knows of "orrery" in a project of `orrery init`, by `deno check`: from the sources, and from what the program writes.

import assert from "node:assert/strict";
import { join } from "node:path";
import { testProject } from "../_project.ts";
import { PROJECT_ROOT, runProgram } from "../_run.ts";
import { thoroughTest } from "../_thorough.ts";

async function check(folder: string, ...files: readonly string[]): Promise<void> {
  const { code, stderr } = await runProgram([Deno.execPath(), "check", ...files], {
    cwd: folder,
    timeoutMs: 240_000,
  });
  assert.equal(code, 0, stderr);
}

thoroughTest("the gadget of a new project type-checks with the deno.json that was written", async () => {
  await using project = await testProject();
  assert.equal((await project.run(["init"])).code, 0);
  await Deno.copyFile(join(PROJECT_ROOT, "deno.lock"), join(project.folder, "deno.lock")); // the packages that are here already
  await project.write(
    "wrong.ts",
    'import { defineGadget } from "orrery";\n// @ts-expect-error it has no name\ndefineGadget({});\n',
  );
  await check(project.folder, "gadgets/price.ts", "wrong.ts");
});

// That the same modules fit mod.ts too is for `deno task check`: tests/_declared_types.ts and tests/_same_types.ts.
Deno.test("orrery.d.ts declares what mod.ts has", async () => {
  await using project = await testProject();
  const copies = {
    "orrery.d.ts": "lib/help/orrery.d.ts",
    "types.ts": "tests/_declared_types.ts",
    "price.ts": "lib/help/project/gadgets/price.ts",
  };
  for (const [to, from] of Object.entries(copies)) {
    await Deno.copyFile(join(PROJECT_ROOT, from), join(project.folder, to));
  }
  await project.write("deno.json", '{ "imports": { "orrery": "./orrery.d.ts" } }');
  await check(project.folder, "types.ts", "price.ts");
});
