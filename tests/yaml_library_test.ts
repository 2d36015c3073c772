// Which build of the YAML package is loaded: the one of ES modules, and any other where there is none.

import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { yamlLibrary } from "../lib/parse/yaml/library.ts";
import { PROJECT_ROOT, runProgram } from "./_run.ts";

Deno.test("YAML is read by ES modules, which load six times as fast as CommonJS", async () => {
  const { default: modules } = await import(new URL("../browser/index.js", import.meta.resolve("yaml")).href);
  assert.equal(await yamlLibrary(), modules);
});

Deno.test("a package that has no folder for them is taken as it is", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const library = pathToFileURL(join(PROJECT_ROOT, "lib", "parse", "yaml", "library.ts")).href;
    const write = (name: string, text: string) => Deno.writeTextFile(join(folder, name), text);
    await write("deno.json", JSON.stringify({ imports: { yaml: "./another_yaml.js" } }));
    await write("another_yaml.js", "export const parse = () => 'read by another';\n");
    await write(
      "main.ts",
      `import { yamlLibrary } from ${
        JSON.stringify(library)
      };\nconsole.log((await yamlLibrary()).parse(""));\n`,
    );
    const { code, stdout, stderr } = await runProgram([Deno.execPath(), "run", "--no-check", "main.ts"], {
      cwd: folder,
    });
    assert.deepEqual([code, stdout.trim()], [0, "read by another"], stderr);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
