// Runs the examples in the JSDoc of everything that mod.ts exports. (`deno test --doc` adds imports of its own to each
// example, which `noUnusedLocals` then refuses.) Their types are for documented_types_test.ts.

import assert from "node:assert/strict";
import { assertOutput } from "../documentation/expected_output.ts";
import { examplesOfDoor } from "../documentation/examples.ts";
import { makeWorkplace } from "../documentation/workplace.ts";

Deno.test("the examples of the public API run", async (t) => {
  const examples = await examplesOfDoor();
  assert.ok(examples.length > 0, "mod.ts has examples");
  await using place = await makeWorkplace();
  for (const { file, source } of examples) await place.write(file, source);
  // In one process, one after the other: most of the time of each would be that of its start.
  const begin = (file: string) => `== ${file}\n`;
  await place.write(
    "all.ts",
    examples.map(({ file }) =>
      `await Deno.stdout.write(new TextEncoder().encode(${
        JSON.stringify(begin(file))
      }));\nawait import("./${file}");\n`
    ).join(""),
  );
  const run = await place.module("all.ts");
  for (const { name, file, expected } of examples) {
    await t.step(name, () => {
      const said = run.stdout.split(begin(file))[1]?.split("== example_")[0];
      assert.ok(said !== undefined, run.stderr);
      if (expected !== undefined) assertOutput(said, expected, name);
    });
  }
  assert.equal(run.code, 0, run.stderr);
});
