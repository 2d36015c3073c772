// Runs the examples in the JSDoc of everything that mod.ts exports. (`deno test --doc` adds imports of its own to each
// example, which `noUnusedLocals` then refuses.)

import assert from "node:assert/strict";
import { docsOf } from "../architecture/export_rules.ts";
import { readProject } from "../architecture/project_tree.ts";
import { readModules } from "../architecture/project.ts";
import { arrowComments, assertOutput } from "../documentation/expected_output.ts";
import { fencesOf, markdownOfJsDoc } from "../documentation/fences.ts";
import { makeWorkplace } from "../documentation/workplace.ts";
import { PROJECT_ROOT } from "../_run.ts";

interface Example {
  readonly name: string;
  readonly file: string;
  readonly source: string;
  readonly expected: string | undefined;
}

async function examplesOfDoor(): Promise<readonly Example[]> {
  const project = readModules(await readProject(PROJECT_ROOT));
  const exported = project.modules.get("mod.ts")?.exports ?? [];
  return exported.flatMap((fact) => {
    const blocks = docsOf(project, "mod.ts", fact).flatMap((doc) => fencesOf(markdownOfJsDoc(doc)));
    return blocks.filter(({ language }) => language === "ts").map((block, index): Example => ({
      name: `${fact.name}, example ${index + 1}`,
      file: `example_${fact.name}_${index + 1}.ts`,
      source: block.text,
      expected: block.expected?.text ?? arrowComments(block.text),
    }));
  });
}

Deno.test("the examples of the public API run", async (t) => {
  const examples = await examplesOfDoor();
  assert.ok(examples.length > 0, "mod.ts has examples");
  await using place = await makeWorkplace();
  // Without an import or export a file is a script to the type checker, and its names would clash with those of the next.
  for (const { file, source } of examples) await place.write(file, `${source}\nexport {};\n`);
  await t.step("their types fit", async () => {
    const types = await place.check(examples.map(({ file }) => file));
    assert.equal(types.code, 0, types.stderr);
  });
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
