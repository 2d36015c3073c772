// Modules of prompts that a program holds itself: `discoverPrompts({ modules })` with what `prompts.gen.ts` exports, also in a program that
// was compiled.
import assert from "node:assert/strict";
import { join } from "node:path";
import { defineGadget, definePrompt, discoverPrompts, type Problem, type PromptFolder } from "../../mod.ts";
import { type TestProject, testProject } from "../_project.ts";
import { discoverIn } from "../_prompt_files.ts";
import { PROJECT_ROOT, runProgram, type RunResult } from "../_run.ts";

const CONFIG = join(PROJECT_ROOT, "deno.json");

type Modules = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

const linesOf = (problems: readonly Problem[]) =>
  problems.map(({ file, line, message }) => `${file}:${line}: ${message}`);

/** The prompts of a project with these files, and with modules that are in no file. */
async function found(
  files: Readonly<Record<string, string>>,
  modules: Modules,
  options: { readonly folders?: readonly PromptFolder[] } = {},
) {
  const held = Object.entries(modules).map(([path, exported]) =>
    [path, () => Promise.resolve(exported)] as const
  );
  const { registry, problems } = await discoverIn({ files, modules: Object.fromEntries(held) }, {
    ...options,
    strict: false,
  });
  return {
    keys: registry.keys(),
    lines: linesOf(problems),
    textOf: (path: string) => registry.get(path).template,
  };
}

const one = (template: string, path = "task") => ({ task: definePrompt({ path, template }) });

Deno.test("held modules: they count as if their files were there, in their order, with the same rules", async () => {
  const { keys, lines } = await found({ "prompts/b.prompt.md": "B", "prompts/d/x.prompt.md": "X" }, {
    "prompts/z.ts": one("Z"),
    "prompts/a.ts": { task: definePrompt({ template: "A" }), default: definePrompt({ template: "D" }) },
    "prompts/d/deep/c.ts": one("C", "own/name"),
    "prompts/d/_lib.ts": one("left out"),
    "prompts/_d/c.ts": one("left out"),
    "prompts/.d/c.ts": one("left out"),
    "prompts/node_modules/c.ts": one("left out"),
    "prompts/c_test.ts": one("left out"),
    "prompts/c.test.ts": one("left out"),
    "prompts/c.d.ts": one("left out"),
    "prompts/c.js": one("left out"),
    "promptsother/c.ts": one("left out"),
    "tactics/c.ts": one("left out"),
  });
  assert.deepEqual(keys, ["a", "a/task", "b", "d/deep/c/own/name", "d/x", "z/task"]);
  assert.deepEqual(lines, []);
});

Deno.test("held modules: what is on the disk too is there once, and loaded by its function", async () => {
  const { keys, lines, textOf } = await found(
    { "prompts/a.ts": "throw 1;", "prompts/b.ts": "throw 'read';" },
    {
      "prompts/a.ts": one("held"),
    },
  );
  assert.deepEqual([keys, textOf("a/task")], [["a/task"], "held"]);
  assert.deepEqual(lines, ["prompts/b.ts:1: read"]);
});

Deno.test("held modules: their folders need not be there, others do; a prefix holds", async () => {
  const modules = { "some/where/a.ts": one("A"), "prompts/b.ts": one("B") };
  const yaml = "prompts:\n  folders:\n    - some/where\n    - none\n    - { path: prompts/, prefix: p }\n";
  const written = await found({ "orrery.yaml": yaml }, modules);
  assert.deepEqual(written.keys, ["a/task", "p/b/task"]);
  assert.deepEqual(written.lines, ['orrery.yaml:4: folder "none" does not exist']);
  const given = await found({}, modules, { folders: ["some", { path: "some/where", prefix: "again" }] });
  assert.deepEqual([given.keys, given.lines], [["where/a/task"], []]);
  assert.deepEqual((await found({}, modules, { folders: [] })).keys, []);
  assert.deepEqual((await found({}, modules)).keys, ["b/task"]);
  const all = await found({}, modules, { folders: ["."] });
  assert.deepEqual(all.keys, ["prompts/b/task", "some/where/a/task"]);
});

Deno.test("held modules: two prompts of one key are a problem, as everywhere", async () => {
  const { keys, lines, textOf } = await found({ "prompts/a/task.prompt.md": "second" }, {
    "prompts/a.ts": one("first"),
  });
  assert.deepEqual([keys, textOf("a/task")], [["a/task"], "first"]);
  assert.deepEqual(lines, ['prompts/a/task.prompt.md:1: prompt "a/task" is already defined in prompts/a.ts']);
});

Deno.test("discoverPrompts: modules are loaded by their functions, also those that a file refers to", async () => {
  const lookUp = defineGadget({ name: "look_up", description: "", run: () => "found" });
  await using project = await testProject({
    "prompts/disk.ts": "throw new Error('from the disk');\n",
    "prompts/held.ts": "throw new Error('from the disk');\n",
    "prompts/uses.prompt.md": "---\nextends: held/task\ntools: [./_lib/tools.ts#lookUp]\n---\n",
  });
  const thrower = join(project.folder, "../elsewhere/prompts/throws.ts");
  await project.write("../elsewhere/prompts/throws.ts", "\nthrow new Error('boom');\n");
  let loads = 0;
  const modules = {
    "prompts/held.ts": () => Promise.resolve(one(`${++loads}`)),
    "prompts/_lib/tools.ts": () => Promise.resolve({ lookUp }),
    "prompts/throws.ts": () => import(`file://${thrower}`),
    "prompts/./sub/../plain.ts": async () => await Promise.resolve(one("P")),
    "prompts/wrong.ts": "no function" as unknown as () => Promise<unknown>,
  };
  const { registry, problems } = await discoverPrompts({ root: project.folder, modules, strict: false });
  assert.deepEqual(registry.keys(), ["held/task", "plain/task", "uses"]);
  assert.deepEqual([registry.get("uses").template, registry.get("uses").tools], ["1", [lookUp]]);
  assert.deepEqual(linesOf(problems), [
    "prompts/disk.ts:1: from the disk",
    "prompts/throws.ts:2: boom",
    "prompts/wrong.ts:1: modules has no function for it",
  ]);
  await assert.rejects(discoverPrompts({ root: project.folder, modules }), { code: "discover" });
});

/** A program, the files that it is made from, and a folder with nothing of them. */
async function programOfPrompts(): Promise<TestProject> {
  const project = await testProject({
    "prompts/a.ts":
      'import { definePrompt } from "orrery";\nexport const task = definePrompt({ path: "task", template: "Do {what}" });\n',
    "prompts/_lib/tools.ts":
      'import { defineGadget } from "orrery";\nexport const lookUp = defineGadget({ name: "look_up", description: "Looks up" });\n',
    "prompts/b.prompt.md": "---\nextends: a/task\ntools: [./_lib/tools.ts#lookUp]\n---\n",
    "prompts/c.prompt": "Hello {{name}}\n",
    "main.ts": `import { discoverPrompts } from "orrery";
import { modules, typedPrompts } from "./prompts.gen.ts";
const [root = ".", how] = Deno.args;
const given = how === "without" ? {} : { modules };
const { registry, problems } = await discoverPrompts({ root, ...given, strict: false });
const text = registry.has("a/task") ? typedPrompts(registry).get("a/task")({ what: "it" }) : null;
console.log(JSON.stringify({ keys: registry.keys(), text, problems }));
`,
  });
  await Deno.mkdir(join(project.folder, "../empty"));
  const { code, stderr } = await project.run(["list", "prompts", "--write-types", "--trust-code"]);
  assert.deepEqual([code, stderr], [0, ""]);
  return project;
}

const said = ({ stdout, stderr }: RunResult) => JSON.parse(stdout === "" ? assert.fail(stderr) : stdout);

const WITHOUT_FILES = { keys: ["a/task"], text: "Do it", problems: [] };
const WITH_FILES = { keys: ["a/task", "b", "c"], text: "Do it", problems: [] };

Deno.test("a program with prompts.gen.ts has the prompts of its modules where no file is", async () => {
  await using project = await programOfPrompts();
  const run = async (cwd: string) =>
    said(
      await runProgram([
        Deno.execPath(),
        "run",
        "-A",
        "--no-lock",
        "--config",
        CONFIG,
        join(project.folder, "main.ts"),
      ], {
        cwd,
      }),
    );
  assert.deepEqual(await run(join(project.folder, "../empty")), WITHOUT_FILES);
  assert.deepEqual(await run(project.folder), WITH_FILES);
});

Deno.test("a compiled program has the prompts of its modules, and says why it has no others", async () => {
  await using project = await programOfPrompts();
  const compiled = await compile(project);
  if ("why" in compiled) return console.log(`not run here: ${compiled.why}`);
  const run = async (...args: readonly string[]) =>
    said(await runProgram([compiled.program, ...args], { cwd: join(project.folder, "../empty") }));
  assert.deepEqual(await run(), WITHOUT_FILES);
  assert.deepEqual(await run(project.folder), WITH_FILES);
  const without = await run(project.folder, "without");
  assert.deepEqual([without.keys, without.problems.map(({ file }: Problem) => file)], [["c"], [
    "prompts/a.ts",
    "prompts/b.prompt.md",
  ]]);
  assert.match(
    without.problems[0].message,
    /^a compiled program loads no TypeScript from the disk: use deno run; /,
  );
});

/** Makes one file of it, and a program of that; where this machine cannot, the reason. */
async function compile(
  { folder }: TestProject,
): Promise<{ readonly program: string } | { readonly why: string }> {
  const deno = async (...args: readonly string[]): Promise<string | undefined> => {
    const runtime = Deno.env.get("DENORT_BIN");
    const env = { ...(runtime !== undefined && { DENORT_BIN: runtime }) };
    const { code, stderr } = await runProgram([Deno.execPath(), ...args], {
      cwd: folder,
      env,
      timeoutMs: 120_000,
    });
    const reasons = stderr.split("\n").filter((line) => /error|Error|^ +\d+: /.test(line));
    return code === 0 ? undefined : `deno ${args[0]}: ${reasons.slice(0, 3).join(" ").trim()}`;
  };
  const program = join(folder, "program");
  const why = await deno(
    "bundle",
    "--quiet",
    "--config",
    CONFIG,
    "--code-splitting",
    "--outdir",
    "bundle",
    "main.ts",
  ) ??
    await deno(
      "compile",
      "--quiet",
      "-A",
      "--no-check",
      "--no-config",
      "--no-lock",
      "-o",
      program,
      "bundle/main.js",
    );
  if (why !== undefined) return { why };
  const { code, stderr } = await runProgram([program], { cwd: join(folder, "../empty") });
  // The runtime of another version does not find the program in itself.
  return code !== 0 && stderr.includes("standalone binary section")
    ? { why: stderr.trim().split("\n", 1)[0] ?? "" }
    : { program };
}
