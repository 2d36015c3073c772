import assert from "node:assert/strict";
import { join } from "node:path";
import { exampleCases, tryExample } from "./example_cases.ts";
import { orrery, orreryCommand, PROJECT_ROOT, runProgram } from "./_run.ts";

Deno.test("the examples print and write what their cases say", async (t) => {
  for (const example of await exampleCases()) await t.step(example.name, () => tryExample(example, orrery));
});

Deno.test("every call file of the examples has a case", async () => {
  const used = (await exampleCases()).map(({ folder, args, stdin }) =>
    `${folder} ${args.join(" ")} ${stdin ?? ""}`
  );
  for await (const folder of Deno.readDir(join(PROJECT_ROOT, "examples"))) {
    for await (const { name } of Deno.readDir(join(PROJECT_ROOT, "examples", folder.name))) {
      if (!name.endsWith(".calls")) continue;
      const text = await Deno.readTextFile(join(PROJECT_ROOT, "examples", folder.name, name));
      const isUsed = used.some((one) =>
        one.startsWith(`examples/${folder.name} `) && (one.includes(` ${name} `) || one.includes(text))
      );
      assert.ok(isUsed, `examples/${folder.name}/${name} is run by no case of tests/spec/examples/`);
    }
  }
});

Deno.test("a file that is typed slowly runs from the pipe", async () => {
  const folder = await Deno.makeTempDir({ prefix: "orrery-example-" });
  try {
    for (const name of ["type.ts", "slowly.calls"]) {
      await Deno.copyFile(join(PROJECT_ROOT, "examples", "stream", name), join(folder, name));
    }
    const words = [...orreryCommand(), "run", "-", "--quiet"].map((word) => `'${word}'`).join(" ");
    const type = `'${Deno.execPath()}' run --quiet --allow-read type.ts slowly.calls 2000`;
    const { code, stdout, stderr } = await runProgram(["sh", "-c", `${type} | ${words}`], { cwd: folder });
    assert.deepEqual([code, stdout.trim(), stderr], [0, "42.5", ""]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
