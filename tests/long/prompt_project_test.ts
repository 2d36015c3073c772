import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { discoverPrompts, type Problem, PromptError } from "../../mod.ts";
import { discoverTactics } from "../../lib/catalog/prompts/tactics.ts";
import { loadAgents } from "../../lib/catalog/load_agents.ts";
import { fileStamp, fileStamps } from "../../lib/host/files/stamp.ts";
import { hostFiles } from "../../lib/host/files/files.ts";
import { createPolicy } from "../../lib/policy/policy.ts";
import { NO_POLICY_FLAGS } from "../../lib/policy/policy_settings.ts";
import { promptCache, promptsIn } from "../../lib/project/discover_prompts.ts";
import { isTactic } from "../../lib/run/tactic/tactic.ts";

const DEFINE = new URL("../../lib/prompt/define_prompt.ts", import.meta.url).href;
const TACTIC = new URL("../../lib/run/tactic/tactic.ts", import.meta.url).href;

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

const importFile = (path: string): Promise<unknown> => import(`file://${path}`);

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
      `import { definePrompt } from "${DEFINE}";\nexport const ok = definePrompt({ template: "x" });\nexport const bad = definePrompt({\n  path: "bad",\n  template: "{oops",\n});\n`,
    "prompts/h_ok.ts":
      `import { definePrompt } from "${DEFINE}";\nexport const ok = definePrompt({ template: "x" });\nexport const list = [ok];\nexport default ok.extend({ path: "own" });\n`,
    "prompts/h_ok/ok.prompt.md": "second",
    "prompts/i_twice.ts":
      `import { definePrompt } from "${DEFINE}";\nexport const one = definePrompt({ path: "p", template: "1" });\nexport const two = definePrompt({ path: "p", template: "2" });\n`,
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

const settled = () => new Promise((resolve) => setTimeout(resolve, 1200));

Deno.test("project prompts: a file is read again when it was changed, and else not", async () => {
  await inFolder({ "prompts/a.prompt.md": "one", "prompts/b.prompt.md": "b" }, async (root) => {
    await settled();
    const readAnew = async () => {
      const { keep, save } = promptCache(root);
      const read: string[] = [];
      for (const name of ["a.prompt.md", "b.prompt.md"]) {
        const path = join(root, "prompts", name);
        await keep(path, async () => {
          read.push(name);
          return { text: await Deno.readTextFile(path) };
        });
      }
      await save();
      return read;
    };
    assert.deepEqual(await readAnew(), ["a.prompt.md", "b.prompt.md"]);
    assert.deepEqual(await readAnew(), []);
    const { mtime } = await Deno.stat(join(root, "prompts/a.prompt.md"));
    await write(join(root, "prompts/a.prompt.md"), "two");
    await Deno.utime(join(root, "prompts/a.prompt.md"), mtime ?? 0, mtime ?? 0); // the same size and time
    assert.deepEqual(await readAnew(), ["a.prompt.md"]);
    await settled();
    assert.deepEqual(await readAnew(), ["a.prompt.md"]);
    assert.deepEqual(await readAnew(), []);
    assert.deepEqual(await Array.fromAsync(Deno.readDir(root), ({ name }) => name), ["prompts"]);
  });
});

Deno.test("project prompts: a file that is as it was gives the same prompt, unless what it refers to may have changed", async () => {
  await inFolder({
    "prompts/_lib.ts": "export const Answer = { type: 'object' };\n",
    "prompts/a.prompt.md": "one",
    "prompts/b.prompt.md": "---\nextends: a\n---\n",
    "prompts/c.prompt.md": "---\nformat: ./_lib.ts#Answer\n---\nC",
    "prompts/d.prompt": "D {{x}}",
    "prompts/e.ts":
      `import { definePrompt } from "${DEFINE}";\nexport const e = definePrompt({ template: "E" });\n`,
  }, async (root) => {
    await settled();
    const keys = ["a", "b", "c", "d", "e/e"];
    const before = (await discoverPrompts({ root })).registry;
    const again = (await discoverPrompts({ root })).registry;
    assert.deepEqual(again.keys(), keys);
    assert.deepEqual(keys.map((key) => again.get(key) === before.get(key)), [true, true, false, true, true]);
    await write(join(root, "prompts/a.prompt.md"), "two");
    const changed = (await discoverPrompts({ root })).registry;
    assert.deepEqual([changed.get("a").template, changed.get("b").template], ["two", "two"]);
    assert.deepEqual([before.get("a").template, before.get("b").template], ["one", "one"]);
    // Under another key it is another prompt.
    const folders = [{ path: "prompts", prefix: "p" }];
    const { registry } = await discoverPrompts({ root, folders, strict: false });
    assert.equal(registry.get("p/d").path, "p/d");
    assert.equal((await discoverPrompts({ root })).registry.get("d").path, "d");
  });
});

Deno.test("project prompts: many files are kept for the next process, where no run may write", async () => {
  const names = Array.from({ length: 120 }, (_, index) => `prompts/p${index}.prompt.md`);
  const files = Object.fromEntries(names.map((name) => [name, "---\nmetadata: { n: 1 }\n---\nHi {x}"]));
  const index = ".orrery/orrery.db-prompts";
  await inFolder({
    ...files,
    "prompts/nan.prompt.md": "---\ntags: { xmlTags: [a] }\nmetadata: { n: 0 }\n---\nx",
  }, async (root) => {
    await settled();
    const first = await discoverPrompts({ root });
    const kept = JSON.parse(await Deno.readTextFile(join(root, index)));
    assert.equal(Object.keys(kept.files).length, 121);
    const policy = createPolicy(NO_POLICY_FLAGS, { root, cwd: root });
    await policy.check({ kind: "write", value: join(root, ".orrery/notes") });
    await assert.rejects(
      (async () => await policy.check({ kind: "write", value: join(root, index) }))(),
    );
    // Another process: what it says is what the index says, since the files are as they were.
    kept.files[join(root, "prompts/p7.prompt.md")].value.body = "from the index";
    await Deno.writeTextFile(join(root, index), JSON.stringify(kept));
    const templates = await inNewProcess(root);
    assert.equal(templates["p7"], "from the index");
    assert.equal(templates["p8"], first.registry.get("p8").template);
    // A changed file is read, whatever the index says; one that is no index at all counts as none.
    await write(join(root, "prompts/p7.prompt.md"), "changed");
    assert.equal((await inNewProcess(root))["p7"], "changed");
    for (
      const text of ["", "[]", '{"version":1}', '{"version":1,"files":{"a":1}}', '{"version":0,"files":{}}']
    ) {
      await Deno.writeTextFile(join(root, index), text);
      assert.equal((await inNewProcess(root))["p8"], "Hi {x}");
    }
  });
});

async function inNewProcess(root: string): Promise<Readonly<Record<string, string>>> {
  const module = new URL("../../lib/project/discover_prompts.ts", import.meta.url).href;
  const script = `import { discoverPrompts } from ${JSON.stringify(module)};
const { registry } = await discoverPrompts({ root: ${JSON.stringify(root)} });
console.log(JSON.stringify(Object.fromEntries(registry.keys().map((key) => [key, registry.get(key).template]))));`;
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["eval", "--no-check", "--config", new URL("../../deno.json", import.meta.url).pathname, script],
    stdin: "null",
  }).output();
  const text = new TextDecoder().decode(stdout);
  assert.notEqual(text, "", new TextDecoder().decode(stderr));
  return JSON.parse(text);
}

Deno.test("project prompts: a stamp is another one after every change, and none where that cannot be told", async () => {
  await inFolder({ "a": "one" }, async (root) => {
    const path = join(root, "a");
    const later = Date.now() + 5000;
    assert.equal(fileStamp(path), undefined); // changed just now
    const stamp = fileStamp(path, later);
    assert.ok(stamp !== undefined);
    assert.equal(fileStamp(path, later), stamp);
    await settled();
    assert.equal(fileStamps()(path), stamp);
    assert.equal(fileStamps()(join(root, "none")), undefined);
    assert.equal(fileStamp(root, later), undefined);
    assert.equal(fileStamp(join(root, "none"), later), undefined);
    await Deno.writeTextFile(path, "three");
    assert.notEqual(fileStamp(path, later), stamp);
    await Deno.symlink(path, join(root, "link"));
    assert.equal(fileStamp(join(root, "link"), later), undefined);
  });
});

Deno.test("project prompts: whoever opens a project says whether and how its modules are loaded", async () => {
  await inFolder({ "prompts/a.ts": "throw 1;", "prompts/b.prompt.md": "B" }, async (root) => {
    const loadModule = () => Promise.reject(new Error("modules are not loaded here"));
    const { registry, problems } = await promptsIn(root, { loadModule, strict: false });
    assert.deepEqual(registry.keys(), ["b"]);
    assert.deepEqual(linesOf(problems), ["prompts/a.ts:1: modules are not loaded here"]);
  });
});

Deno.test("project tactics: what the modules export, each name once", async () => {
  const tactic = (name: string, text: string) =>
    `export const ${name} = defineTactic({ name: "${text}", agents: ["w"], call: (task: string) => task });\n`;
  const first = `import { defineTactic } from "${TACTIC}";\n`;
  await inFolder({
    "tactics/a.ts": first + tactic("one", "one") + tactic("_two", "two") + "export const three = 3;\n",
    "tactics/deep/b.ts": `export { one as again } from "../a.ts";\n` + first + "\n" + tactic("one", "one"),
    "tactics/c_test.ts": "throw 1;\n",
    "tactics/d.ts": "throw new Error('no');\n",
    "tactics/e.prompt.md": "x",
  }, async (root) => {
    const options = {
      root,
      files: hostFiles({ root }),
      isTactic,
      loadModule: importFile,
    };
    const { tactics, problems } = await discoverTactics({ ...options, strict: false });
    assert.deepEqual([...tactics].map(([name, { file, line }]) => [name, file, line]), [[
      "one",
      "tactics/a.ts",
      2,
    ]]);
    assert.equal(isTactic(tactics.get("one")?.tactic), true);
    assert.deepEqual(linesOf(problems), [
      "tactics/d.ts:1: no",
      'tactics/deep/b.ts:4: tactic "one" is already defined in tactics/a.ts',
    ]);
    await assert.rejects(discoverTactics(options), { code: "discover" });
    await write(join(root, "orrery.yaml"), "tactics: { folders: [more], folder: x }\n");
    assert.deepEqual(linesOf((await discoverTactics({ ...options, strict: false })).problems), [
      'orrery.yaml:1: tactics: unknown key "folder". Did you mean "folders"?',
      'orrery.yaml:1: folder "more" does not exist',
    ]);
  });
});

Deno.test("project agents: entries of other files, each problem in its own", async () => {
  await inFolder({
    "orrery.yaml": [
      "agentDefaults: { model: m, limits: { maxWait: 5 } }",
      "agents:",
      "  - agents/one.yaml",
      "  - agents/more.yaml",
      "  - agents/none.yaml",
      "  - ../out.yaml",
      "  - agents",
      "  - agents/broken.yaml",
      "  - agents/link.yaml",
      "  - 5",
    ].join("\n"),
    "agents/one.yaml": "name: one\nsystem: You are one.\n",
    "agents/more.yaml":
      "- { name: two, system: 2, model: null }\n- name: three\n  system: ''\n  limits: { maxWait: null, parallelTools: 0 }\n- [x]\n- { name: one, system: again }\n- { name: four, system: x, limits: null, modelArgs: { a: 1 } }\n",
    "agents/broken.yaml": "name: [\n",
  }, async (root) => {
    await write(join(root, "..", "secret.yaml"), "name: secret\nsystem: x\n");
    await Deno.symlink(join(root, "..", "secret.yaml"), join(root, "agents/link.yaml"));
    const { agents, problems } = await loadAgents({ root, files: hostFiles({ root }), strict: false });
    assert.deepEqual([...agents.keys()], ["one", "four"]);
    assert.equal(agents.get("one")?.limits.maxWait, 5);
    assert.deepEqual([agents.get("four")?.limits.maxWait, agents.get("four")?.modelArgs], [60, { a: 1 }]);
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
      "orrery.yaml:10: agents[7] must be a mapping, or the name of a YAML file",
    ]);
  });
});
