// `orrery init`: a project that runs at once, or nothing. What its files say to an editor: tests/long/init_types_test.ts.

import assert from "node:assert/strict";
import { join } from "node:path";
import { testProject } from "../_project.ts";

const KINDS = ["agent", "calls", "document", "prompt", "gadget"];
/** What a person says who talks with the agent of the project. */
const SAID = "There are four of us.\nAt seven.\n";

/** All files below a folder but those of runs, in order. */
async function filesIn(folder: string, path = ""): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(join(folder, path))) {
    if (name === ".orrery") continue;
    found.push(...isDirectory ? await filesIn(folder, `${path}${name}/`) : [`${path}${name}`]);
  }
  return found.sort();
}

/** The lines of the output that are commands. */
const commandsIn = (stdout: string) =>
  [...stdout.matchAll(/^ {2}(\w.*)$/gm)].map(([, line = ""]) => line.split(" "));

Deno.test("init: a project that has no mistakes, whose tests pass, and whose README can be followed", async (t) => {
  await using project = await testProject();
  const { code, stdout, stderr } = await project.run(["init"]);
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  const files = await filesIn(project.folder);
  assert.deepEqual(stdout.split("\n\nNext:\n")[0]?.split("\n").sort(), files);
  for (const needed of ["orrery.yaml", ".gitignore", "README.md", "deno.json", "gadgets/price.ts"]) {
    assert.ok(files.includes(needed), needed);
  }
  assert.deepEqual(commandsIn(stdout), [["orrery", "run", "bill.calls"], ["orrery", "test", "."]]);
  await t.step("check is silent", async () => {
    assert.deepEqual(await project.run(["check", "--quiet"]), { code: 0, stdout: "", stderr: "" });
  });
  await t.step("the tests pass", async () => {
    const tested = await project.run(["test", "."]);
    assert.equal(tested.code, 0, tested.stdout);
    assert.match(tested.stdout, /^2 passed, 0 failed$/m);
  });
  const said: Readonly<Record<string, RegExp>> = {
    "run bill.calls": /^12\.5\n$/,
    "run sign.md": /^# Sign\nFresh scones from seven\. Come in!\n$/,
    "run cake -i guest=Ana": /"lemon cake"/,
    "chat table.agent.yml": /A table for 4 at 19:00\. See you!\n$/,
  };
  const readme = await project.read("README.md");
  assert.ok(readme.trimEnd().split("\n").length <= 10);
  const commands = [...readme.matchAll(/`orrery ([^`]+)`/g)].map(([, command = ""]) => command);
  assert.deepEqual(Object.keys(said).filter((command) => !commands.includes(command)), []);
  for (const command of commands) {
    await t.step(`README: orrery ${command}`, async () => {
      const run = await project.run(command.split(" "), { stdin: SAID });
      assert.equal(run.code, 0, run.stderr);
      assert.match(run.stdout, said[command] ?? /^/);
    });
  }
  await t.step("what the runs leave is ignored", async () => {
    const left = (await filesIn(project.folder)).filter((path) => !files.includes(path));
    assert.deepEqual(left, ["sign.ctx"]);
    assert.deepEqual((await project.read(".gitignore")).split("\n"), [".orrery/", "*.ctx", ""]);
  });
});

Deno.test("init FOLDER: made where it is not there; the first command goes into it", async () => {
  await using project = await testProject();
  const { code, stdout } = await project.run(["init", "new/my café"]);
  assert.equal(code, 0);
  assert.match(stdout, /^new\/my café\/orrery\.yaml$/m);
  assert.match(stdout, /^Next:\n {2}cd "new\/my café"\n {2}orrery run bill\.calls\n/m);
  assert.ok((await filesIn(join(project.folder, "new/my café"))).includes("orrery.yaml"));
});

Deno.test("init: what is there already is named, all of it, and nothing is written", async (t) => {
  await t.step("files", async () => {
    const there = { "orrery.yaml": "# mine\n", "prompts/cake.prompt.md": "Mine.", "notes.txt": "" };
    await using project = await testProject();
    for (const [path, text] of Object.entries(there)) await project.write(path, text);
    const { code, stdout, stderr } = await project.run(["init"]);
    assert.deepEqual({ code, stdout }, { code: 2, stdout: "" });
    assert.match(
      stderr,
      /^error: Nothing was written: orrery\.yaml, prompts\/cake\.prompt\.md are there already\n/,
    );
    assert.deepEqual(await filesIn(project.folder), Object.keys(there).sort());
    assert.equal(await project.read("orrery.yaml"), "# mine\n");
  });
  await t.step({
    name: "a link that leads to nothing",
    ignore: Deno.build.os === "windows",
    fn: async () => {
      await using project = await testProject();
      await Deno.symlink("elsewhere", join(project.folder, "model.yml"));
      const { code, stderr } = await project.run(["init"]);
      assert.equal(code, 2);
      assert.match(stderr, /model\.yml is there already/);
      assert.deepEqual(await filesIn(project.folder), ["model.yml"]);
    },
  });
  await t.step("a file where a folder has to be: what was written before is gone again", async () => {
    await using project = await testProject();
    await project.write("prompts", "");
    const { code, stderr } = await project.run(["init"]);
    assert.equal(code, 2);
    assert.match(stderr, /prompts\/cake\.prompt\.md/);
    assert.deepEqual(await filesIn(project.folder), ["prompts"]);
    assert.deepEqual((await project.run(["init", "prompts"])).code, 2);
  });
});

for (const kind of KINDS) {
  Deno.test(`init --kind ${kind}: what it needs is there, and both commands that it names work`, async () => {
    await using project = await testProject();
    const { code, stdout } = await project.run(["init", "--kind", kind]);
    assert.equal(code, 0);
    assert.ok((await filesIn(project.folder)).length <= 5);
    const commands = commandsIn(stdout);
    assert.equal(commands.length, 2);
    for (const [, ...command] of commands) {
      const run = await project.run(command, { stdin: SAID });
      assert.equal(run.code, 0, run.stderr);
    }
    assert.deepEqual(await project.run(["check", "--quiet"]), { code: 0, stdout: "", stderr: "" });
  });
}

Deno.test("init --kind: a project keeps its model and its settings, and gets one kind after the other", async () => {
  await using project = await testProject();
  const settings = "models: { default: script/echo }\n";
  await project.write("orrery.yaml", settings);
  await project.write("deno.json", "{}");
  for (const kind of KINDS.filter((each) => each !== "calls")) {
    assert.equal((await project.run(["init", "--kind", kind])).code, 0, kind);
  }
  const { stdout } = await project.run(["init", "--kind", "calls"]);
  assert.match(stdout, /^bill\.calls\ndeno\.json stays as it is: orrery help library says/);
  assert.equal((await filesIn(project.folder)).includes("model.yml"), false);
  assert.deepEqual([await project.read("orrery.yaml"), await project.read("deno.json")], [settings, "{}"]);
  assert.equal((await project.run(["init", "--kind", "calls"])).code, 2);
  assert.match(
    (await project.run(["init", "--kind", "agents"])).stderr,
    /--kind must be one of agent, calls/,
  );
});
