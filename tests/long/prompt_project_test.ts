import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { discoverPrompts, type Problem, PromptError } from "../../mod.ts";
import { testProject } from "../_project.ts";

const ORRERY = new URL("../../mod.ts", import.meta.url).href;

/** A folder with these files, as long as the test lasts. */
async function inFolder(
  files: Readonly<Record<string, string>>,
  test: (root: string) => Promise<void>,
): Promise<void> {
  const home = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-prompts-" }));
  const root = join(home, "project");
  try {
    await Deno.mkdir(root);
    for (const [path, text] of Object.entries(files)) await write(join(root, path), text);
    await test(root);
  } finally {
    await Deno.remove(home, { recursive: true });
  }
}

async function write(path: string, text: string): Promise<void> {
  await Deno.mkdir(dirname(path), { recursive: true });
  await Deno.writeTextFile(path, text);
}

interface ListedProfile {
  readonly name: string;
  readonly limits: { readonly maxWait: number };
  readonly modelArgs: unknown;
}

const linesOf = (problems: readonly Problem[]) =>
  problems.map(({ file, line, message }) => `${file}:${line}: ${message}`);

Deno.test("project prompts: every broken file is a problem with its line, and the others load", async () => {
  await inFolder({
    "prompts/a_throws.ts": 'import { f } from "./_lib.ts";\n\nf();\n',
    "prompts/_lib.ts": 'export function f() {\n  throw new Error("boom\\nand more");\n}\n',
    "prompts/b_syntax.ts": "export const a = 1;\nconst b = ;\n",
    "prompts/c_imports_syntax.ts": 'import "./b_syntax.ts";\n',
    "prompts/d_missing.ts": '\nimport "./nope.ts";\n',
    "prompts/e_no_export.ts": 'import { nothing } from "./_lib.ts";\nnothing();\n',
    "prompts/f_text.ts": 'throw "just text";\n',
    "prompts/g_template.ts":
      `import { definePrompt } from "${ORRERY}";\nexport const ok = definePrompt({ template: "x" });\nexport const bad = definePrompt({\n  path: "bad",\n  template: "{oops",\n});\n`,
    "prompts/h_ok.ts":
      `import { definePrompt } from "${ORRERY}";\nexport const ok = definePrompt({ template: "x" });\nexport const list = [ok];\nexport default ok.extend({ path: "own" });\n`,
    "prompts/h_ok/ok.prompt.md": "second",
    "prompts/i_twice.ts":
      `import { definePrompt } from "${ORRERY}";\nexport const one = definePrompt({ path: "p", template: "1" });\nexport const two = definePrompt({ path: "p", template: "2" });\n`,
    "prompts/j.prompt.md": "a\nb {",
    "prompts/k.prompt": "a\n{{> p}}",
  }, async (root) => {
    const { registry, problems } = await discoverPrompts({ root, strict: false });
    assert.deepEqual(registry.keys(), ["h_ok/ok", "h_ok/own", "i_twice/p"]);
    assert.deepEqual(linesOf(problems), [
      "prompts/a_throws.ts:3: boom (at prompts/_lib.ts:2:9)",
      "prompts/b_syntax.ts:2: SyntaxError: Expression expected",
      "prompts/c_imports_syntax.ts:1: SyntaxError: Expression expected (at prompts/b_syntax.ts:2:11)",
      'prompts/d_missing.ts:2: Module not found "prompts/nope.ts".',
      "prompts/e_no_export.ts:1: The requested module './_lib.ts' does not provide an export named 'nothing'",
      "prompts/f_text.ts:1: just text",
      'prompts/g_template.ts:3: prompt "bad": template 1:1: unclosed "{": write "{{" for a literal brace',
      'prompts/h_ok/ok.prompt.md:1: prompt "h_ok/ok" is already defined in prompts/h_ok.ts',
      'prompts/i_twice.ts:3: prompt "i_twice/p" is already defined in prompts/i_twice.ts',
      'prompts/j.prompt.md:2: prompt "j": template 2:3: unclosed "{": write "{{" for a literal brace',
      "prompts/k.prompt:2: a partial is not supported",
    ]);
    await assert.rejects(discoverPrompts({ root }), (error: unknown) => {
      assert.ok(error instanceof PromptError && error.code === "discover");
      assert.deepEqual(error.problems, problems);
      return true;
    });
  });
});

Deno.test("project prompts: a link that leads nowhere is told, with what it leads to", async () => {
  await inFolder({ "prompts/real.prompt.md": "x", "prompts/sub/b.txt": "" }, async (root) => {
    const prompts = join(root, "prompts");
    await Deno.symlink("gone.md", join(prompts, "a.prompt.md"));
    await Deno.symlink("../../../elsewhere/b.prompt", join(prompts, "sub", "b.prompt"));
    await Deno.symlink("loop.ts", join(prompts, "loop.ts"));
    await Deno.symlink("no_folder", join(prompts, "shared"));
    await Deno.symlink("gone", join(prompts, "notes.txt"));
    await Deno.symlink("gone", join(prompts, "_left.prompt.md"));
    await Deno.symlink("real.prompt.md", join(prompts, "fine.prompt.md"));
    const { registry, problems } = await discoverPrompts({ root, strict: false });
    assert.deepEqual(registry.keys(), ["real"]);
    const outside = JSON.stringify(join(prompts, "..", "..", "elsewhere", "b.prompt"));
    const rest = "which does not exist; put the file itself here, since links are not followed";
    assert.deepEqual(problems.map(({ file, line, message }) => `${file}:${line}: ${message}`), [
      `prompts/a.prompt.md:1: this is a link to "prompts/gone.md", ${rest}`,
      problems[1] === undefined ? "" : `prompts/loop.ts:1: ${problems[1].message}`,
      `prompts/shared:1: this is a link to "prompts/no_folder", ${rest}`,
      `prompts/sub/b.prompt:1: this is a link to ${outside}, ${rest}`,
    ]);
    assert.match(problems[1]?.message ?? "", /prompts\/loop\.ts.*(?:loop|symbolic links)/);
  });
  await inFolder({}, async (root) => {
    await Deno.symlink("gone", join(root, "prompts"));
    await assert.rejects(discoverPrompts({ root }), {
      message: `prompts:1: folder "prompts/" is a link to ${
        JSON.stringify(join(root, "gone"))
      }, which does not exist`,
    });
  });
});

Deno.test("project prompts: links are not followed, and no folder leads out of the project", async () => {
  await inFolder({
    "orrery.yaml": "prompts:\n  folders:\n    - prompts\n    - out\n    - inside\n    - gone\n",
    "prompts/a.prompt.md": "a",
    "shared/b.prompt.md": "b",
  }, async (root) => {
    const outside = join(root, "..", "outside");
    await write(join(outside, "secret.prompt.md"), "secret");
    await Deno.symlink(outside, join(root, "out"));
    await Deno.symlink(outside, join(root, "prompts", "linked"));
    await Deno.symlink(join(outside, "secret.prompt.md"), join(root, "prompts", "linked.prompt.md"));
    await Deno.symlink(join(root, "shared"), join(root, "inside"));
    const { registry, problems } = await discoverPrompts({ root, strict: false });
    assert.deepEqual(registry.keys(), ["a", "b"]);
    assert.deepEqual(linesOf(problems), [
      `orrery.yaml:4: folder "out" is outside the project: it is a link to ${JSON.stringify(outside)}`,
      'orrery.yaml:6: folder "gone" does not exist',
    ]);
  });
});

Deno.test("project prompts: the default folder need not be there, but may not lead out either", async () => {
  await inFolder({}, async (root) => {
    assert.deepEqual((await discoverPrompts({ root })).registry.keys(), []);
    await Deno.symlink(dirname(root), join(root, "prompts"));
    const { problems } = await discoverPrompts({ root: new URL(`file://${root}/`), strict: false });
    assert.deepEqual(linesOf(problems), [
      `prompts:1: folder "prompts/" is outside the project: it is a link to ${JSON.stringify(dirname(root))}`,
    ]);
  });
});

Deno.test("project prompts: a file that was changed is another prompt, and what is held stays as it was", async () => {
  await inFolder({
    "prompts/a.prompt.md": "one",
    "prompts/b.prompt.md": "---\nextends: a\n---\n",
    "prompts/d.prompt": "D {{x}}",
  }, async (root) => {
    const before = (await discoverPrompts({ root })).registry;
    const path = join(root, "prompts/a.prompt.md");
    const { mtime } = await Deno.stat(path);
    await write(path, "two");
    await Deno.utime(path, mtime ?? 0, mtime ?? 0); // the same size and time
    const changed = (await discoverPrompts({ root })).registry;
    assert.deepEqual([changed.get("a").template, changed.get("b").template], ["two", "two"]);
    assert.deepEqual([before.get("a").template, before.get("b").template], ["one", "one"]);
    assert.deepEqual(await Array.fromAsync(Deno.readDir(root), ({ name }) => name), ["prompts"]);
    // Under another key it is another prompt.
    const folders = [{ path: "prompts", prefix: "p" }];
    const { registry } = await discoverPrompts({ root, folders, strict: false });
    assert.equal(registry.get("p/d").path, "p/d");
    assert.equal((await discoverPrompts({ root })).registry.get("d").path, "d");
  });
});

Deno.test("project tactics: what the modules export, each name once", async () => {
  const tactic = (name: string, text: string) =>
    `export const ${name} = defineTactic({ name: "${text}", agents: ["w"], call: (task: string) => task });\n`;
  const first = 'import { defineTactic } from "orrery";\n';
  await using project = await testProject({
    "tactics/a.ts": first + tactic("one", "one") + tactic("_two", "two") + "export const three = 3;\n",
    "tactics/deep/b.ts": `export { one as again } from "../a.ts";\n` + first + "\n" + tactic("one", "one"),
    "tactics/c_test.ts": "throw 1;\n",
    "tactics/d.ts": "throw new Error('no');\n",
    "tactics/e.prompt.md": "x",
  });
  const list = async () => {
    const { code, stdout } = await project.run(["list", "prompts", "--json", "--trust-code"]);
    assert.equal(code, 0);
    const { prompts, tactics, problems } = JSON.parse(stdout);
    assert.deepEqual(prompts, []);
    return { tactics, lines: linesOf(problems) };
  };
  assert.deepEqual(await list(), {
    tactics: [{ name: "one", agents: ["w"], file: "tactics/a.ts", line: 2 }],
    lines: ["tactics/d.ts:1: no", 'tactics/deep/b.ts:4: tactic "one" is already defined in tactics/a.ts'],
  });
  await project.write("orrery.yaml", "tactics: { folders: [more] }\n");
  assert.deepEqual(await list(), { tactics: [], lines: ['orrery.yaml:1: folder "more" does not exist'] });
  await project.write("orrery.yaml", "tactics: { folders: [more], folder: x }\n");
  const { code, stderr } = await project.run(["list", "prompts"]);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /^orrery\.yaml:1:29: error: Unknown key "folder" in tactics\. Did you mean "folders"\?$/m,
  );
});

Deno.test("project agents: entries of other files, each problem in its own", async () => {
  await using project = await testProject({
    "orrery.yaml": [
      "agentDefaults: { model: script/echo, limits: { maxWait: 5 } }",
      "agents:",
      "  - agents/one.yaml",
      "  - agents/more.yaml",
      "  - agents/none.yaml",
      "  - ../out.yaml",
      "  - agents",
      "  - agents/broken.yaml",
      "  - agents/link.yaml",
    ].join("\n"),
    "agents/one.yaml": "name: one\nsystem: You are one.\n",
    "agents/more.yaml":
      "- { name: two, system: 2, model: null }\n- name: three\n  system: ''\n  limits: { maxWait: null, parallelTools: 0 }\n- [x]\n- { name: one, system: again }\n- { name: four, system: x, limits: null, modelArgs: { a: 1 } }\n",
    "agents/broken.yaml": "name: [\n",
    "../secret.yaml": "name: secret\nsystem: x\n",
  });
  await Deno.symlink(join(project.folder, "../secret.yaml"), join(project.folder, "agents/link.yaml"));
  const { code, stdout } = await project.run(["list", "profiles", "--json"]);
  assert.equal(code, 0);
  const { profiles, problems } = JSON.parse(stdout);
  assert.deepEqual(
    profiles.map(({ name, limits: { maxWait }, modelArgs }: ListedProfile) => [
      name,
      maxWait,
      modelArgs,
    ]),
    [["one", 5, {}], ["four", 60, { a: 1 }]],
  );
  const [broken = "", ...lines] = linesOf(problems);
  assert.match(broken, /^agents\/broken\.yaml:1: Found the end of a list or mapping in brackets too early/);
  assert.deepEqual(lines, [
    'agents/more.yaml:1: agent "two": model is required',
    'agents/more.yaml:1: agent "two": system must be text',
    'agents/more.yaml:4: agent "three": limit parallelTools must be an integer from 1',
    "agents/more.yaml:5: agents[1][2] must be a mapping, or the name of a YAML file",
    'agents/more.yaml:6: agent "one" is defined twice',
    'orrery.yaml:5: agents[2]: file "agents/none.yaml" does not exist',
    'orrery.yaml:6: agents[3]: file "../out.yaml" is outside the project',
    'orrery.yaml:7: agents[4]: file "agents" is a folder',
    'orrery.yaml:9: agents[6]: file "agents/link.yaml" is outside the project',
  ]);
  await project.write("orrery.yaml", "agents:\n  - 5\n");
  const { stderr } = await project.run(["list", "profiles"]);
  assert.match(
    stderr,
    /^orrery\.yaml:2:5: error: Found the number 5 for agents\.0, expected text or a mapping$/m,
  );
});
