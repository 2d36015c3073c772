import assert from "node:assert/strict";
import { join } from "node:path";
import { exampleCases, tryExample } from "../example_cases.ts";
import { orrery, orreryCommand, PROJECT_ROOT, runProgram } from "../_run.ts";

Deno.test("the examples print and write what their cases say", async (t) => {
  for (const example of await exampleCases()) await t.step(example.name, () => tryExample(example, orrery));
});

Deno.test("every call file and every document of the examples has a case", async () => {
  const used = (await exampleCases()).map(({ folder, args, stdin }) =>
    `${folder} ${args.join(" ")} ${stdin ?? ""}`
  );
  for await (const folder of Deno.readDir(join(PROJECT_ROOT, "examples"))) {
    for await (const { name } of Deno.readDir(join(PROJECT_ROOT, "examples", folder.name))) {
      const isDocument = folder.name === "documents" && name.endsWith(".md");
      if (!name.endsWith(".calls") && !isDocument) continue;
      const text = await Deno.readTextFile(join(PROJECT_ROOT, "examples", folder.name, name));
      const isUsed = used.some((one) =>
        one.startsWith(`examples/${folder.name} `) && (one.includes(` ${name} `) || one.includes(text))
      );
      assert.ok(isUsed, `examples/${folder.name}/${name} is run by no case of tests/spec/examples/`);
    }
  }
});

Deno.test("the release notes are those of the repository that they lie in", async () => {
  const folder = await Deno.makeTempDir({ prefix: "orrery-example-" });
  const git = (...args: readonly string[]) =>
    runProgram(["git", "-c", "user.name=A", "-c", "user.email=a@example.com", ...args], { cwd: folder });
  try {
    if (await git("init", "--quiet").then(({ code }) => code !== 0, () => true)) {
      return console.log("not run here: there is no git");
    }
    await Deno.mkdir(join(folder, "notes", "release"), { recursive: true });
    await Deno.mkdir(join(folder, "notes", "models"));
    for (
      const name of [
        "orrery.yaml",
        "release_notes.md",
        "release/changes.sh",
        "release/history.txt",
        "models/release_notes.yml",
      ]
    ) await Deno.copyFile(join(PROJECT_ROOT, "examples", "documents", name), join(folder, "notes", name));
    const notes = () => orrery(["run", "release_notes.md", "--allow-run"], { cwd: join(folder, "notes") });
    const kept = (await notes()).stdout;
    assert.match(kept, /^8 commits, most of them in tests:$/m, "without a history it is that of the example");

    const commits = ["lib/cli/run/run.ts", "lib/models/a.ts", "lib/models/b.ts", "tests/a.ts", "README.md"];
    for (const [index, file] of commits.entries()) {
      await Deno.mkdir(join(folder, file, ".."), { recursive: true });
      await Deno.writeTextFile(join(folder, file), "");
      await Deno.mkdir(join(folder, "tests"), { recursive: true });
      await Deno.writeTextFile(join(folder, "tests", `of_${index}.ts`), "");
      await git("add", file, "tests");
      await git("commit", "--quiet", "--message", `Change "${file}"`);
    }
    const { code, stdout, stderr } = await notes();
    assert.equal(code, 0, stderr);
    assert.equal(
      stdout,
      `# Release notes
Most of this release is in how models and their tools are reached.

# All changes
5 commits, most of them in lib/models:

- lib/cli
  - Change "lib/cli/run/run.ts"
- lib/models
  - Change "lib/models/b.ts"
  - Change "lib/models/a.ts"
- tests
  - Change "tests/a.ts"
- top
  - Change "README.md"
`,
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
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
