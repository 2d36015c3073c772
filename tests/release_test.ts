// What makes a release: the arguments of `deno task compile`, checksums, the workflows, the container. Nothing here needs a network.

import assert from "node:assert/strict";
import { join } from "node:path";
import { checksumsOf } from "../.ci/checksums.ts";
import { bundleCommand, compileCommand, compilePlan, type Target, TARGETS } from "../.ci/compile_plan.ts";
import { programTarget } from "../.ci/program_target.ts";
import config from "../deno.json" with { type: "json" };
import { compiledBinary, PROJECT_ROOT, runProgram } from "./_run.ts";
import { expanded, readWorkflows, type WorkflowJob } from "./_workflows.ts";

const LINUX: Target = "x86_64-unknown-linux-gnu";
const WINDOWS: Target = "x86_64-pc-windows-msvc";
const read = (path: string) => Deno.readTextFile(join(PROJECT_ROOT, path));

Deno.test("compile: what is made, and what it is called", () => {
  const outputs = (args: readonly string[], here: Target = LINUX) =>
    compilePlan(args, here).programs.map(({ output }) => output);
  assert.deepEqual(outputs([]), ["dist/orrery"]);
  assert.deepEqual(outputs([], WINDOWS), ["dist/orrery.exe"]);
  assert.deepEqual(outputs(["-o", "a/b"]), ["a/b"]);
  assert.deepEqual(outputs(["--output=a/b"], WINDOWS), ["a/b.exe"]);
  assert.deepEqual(outputs(["--target", LINUX]), ["dist/orrery-x86_64-unknown-linux-gnu"]);
  assert.deepEqual(outputs(["--target", WINDOWS, "-o", "b.exe"]), ["b.exe"]);
  assert.deepEqual(outputs(["--target", LINUX, "--target", WINDOWS, "--target", LINUX]), [
    "dist/orrery-x86_64-unknown-linux-gnu",
    "dist/orrery-x86_64-pc-windows-msvc.exe",
  ]);
  assert.deepEqual(compilePlan(["--target", "all"], LINUX).programs.map(({ target }) => target), [
    ...TARGETS,
  ]);
  assert.deepEqual([[], ["--checksums"]].map((args) => compilePlan(args, LINUX).checksums), [false, true]);
});

Deno.test("compile: what cannot be meant is refused", () => {
  const refused = (args: readonly string[], message: RegExp) =>
    assert.throws(() => compilePlan(args, LINUX), message);
  refused(["--target", "linux"], /--target linux: no such target, expected all or one of x86_64-unknown/);
  refused(["--target", "all", "-o", "a"], /-o a: it names one file, and there are 5 targets/);
  refused(["--targets", "all"], /--targets.*expected deno task compile \[--target/s);
  refused(["main.ts"], /main\.ts.*expected deno task compile/s);
});

Deno.test("compile: the commands", () => {
  assert.deepEqual(
    bundleCommand("a.ts", { to: "b", isSmall: true }),
    ["bundle", "--quiet", "--minify", "--code-splitting", "--outdir", "b", "a.ts"],
  );
  const flags = ["compile", "--quiet", "-A", "--no-check", "--no-config", "--no-lock", "--no-code-cache"];
  assert.deepEqual(
    compileCommand({ target: LINUX, output: "o" }, LINUX),
    [...flags, "--include", "dist/small/assets", "-o", "o", "dist/small/main.js"],
  );
  assert.deepEqual(
    compileCommand({ target: WINDOWS, output: "o.exe" }, LINUX),
    [...flags, "--target", WINDOWS, "--include", "dist/small/assets", "-o", "o.exe", "dist/small/main.js"],
  );
});

const compileTask = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runProgram(
    [Deno.execPath(), "run", "--config", "tests/deno_tests.json", "-A", "--quiet", ".ci/compile.ts", ...args],
    { env },
  );

Deno.test("compile: says in one line what is wrong", async () => {
  const { code, stdout, stderr } = await compileTask(["--target", "vax"]);
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /^compile: --target vax: no such target, .*\n$/);
});

Deno.test("compile: a runtime for another system is refused before anything is made", async () => {
  const { code, stderr } = await compileTask(["--target", "all"], { DENORT_BIN: Deno.execPath() });
  const other = TARGETS.find((target) => target !== Deno.build.target);
  assert.equal(code, 1);
  assert.ok(stderr.includes(`is a runtime for ${Deno.build.target}, expected one for ${other}`), stderr);
});

Deno.test("a program's file tells for which system it is", async () => {
  const elf = (machine: number) => head([0x7f, 0x45, 0x4c, 0x46], [18, machine]);
  const macho = (cpu: number) => head([0xcf, 0xfa, 0xed, 0xfe, cpu, 0, 0, 1]);
  const pe = (machine: readonly number[]) =>
    head([0x4d, 0x5a], [60, 0x80], [0x80, 0x50], [0x81, 0x45], [0x84, ...machine]);
  assert.deepEqual(
    [elf(0x3e), elf(0xb7), macho(7), macho(12), pe([0x64, 0x86])].map(programTarget),
    [...TARGETS],
  );
  const strange = [elf(3), macho(9), pe([0x4c, 1]), head([0x4d, 0x5a], [60, 0xff, 0xff]), new Uint8Array(10)];
  for (const bytes of strange) assert.equal(programTarget(bytes), undefined);
  const mine = await Deno.readFile(compiledBinary() ?? Deno.execPath());
  assert.equal(programTarget(mine.slice(0, 4096)), Deno.build.target);
});

/** The beginning of a file: its first bytes, and others at their places. */
function head(first: readonly number[], ...rest: readonly (readonly [at: number, ...bytes: number[]])[]) {
  const bytes = new Uint8Array(256);
  bytes.set(first);
  for (const [at, ...some] of rest) bytes.set(some, at);
  return bytes;
}

Deno.test("checksums: the lines of sha256sum, which accepts them", async () => {
  const folder = await Deno.makeTempDir({ prefix: "orrery release " });
  try {
    const files = ["b.exe", "a"].map((name) => join(folder, name));
    for (const file of files) await Deno.writeTextFile(file, "abc");
    const lines = await checksumsOf(files);
    const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert.equal(lines, `${abc}  a\n${abc}  b.exe\n`);
    await Deno.writeTextFile(join(folder, "SHA256SUMS"), lines);
    await Deno.remove(join(folder, "a"));
    const check = await runProgram(["sha256sum", "--check", "--ignore-missing", "SHA256SUMS"], {
      cwd: folder,
    })
      .catch(() => undefined);
    if (check === undefined) return console.log("not run here: there is no sha256sum");
    assert.deepEqual([check.code, check.stdout], [0, "b.exe: OK\n"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

// The workflows.

interface PlacedJob extends WorkflowJob {
  readonly place: string;
  readonly name: string;
}

async function allJobs(): Promise<readonly PlacedJob[]> {
  return (await readWorkflows()).flatMap(({ file, jobs }) =>
    Object.entries(jobs).flatMap(([name, job]) =>
      expanded(job).map((one) => ({ ...one, name, place: `${file}: ${name}` }))
    )
  );
}

Deno.test("workflows: every task that they run is there", async () => {
  const tasks = (await allJobs()).flatMap(({ steps = [] }) =>
    steps.flatMap(({ run = "" }) => [...run.matchAll(/\bdeno task (\S+)/g)].map(([, task = ""]) => task))
  );
  assert.deepEqual(tasks.filter((task) => !Object.hasOwn(config.tasks, task)), []);
  const wanted = ["ok", "test", "test:fast", "demo", "compile", "test:binary", "smoke"];
  assert.deepEqual(wanted.filter((task) => !tasks.includes(task)), []);
});

Deno.test("workflows: the versions of Deno are those of .ci/run, and the oldest is tried on Linux", async () => {
  const script = await read(".ci/run");
  const version = (name: string) => new RegExp(`^${name}=(\\S+)$`, "m").exec(script)?.[1];
  const [current, oldest] = [version("current"), version("oldest")];
  assert.ok(current !== undefined && oldest !== undefined);
  const used = (await allJobs()).flatMap(({ place, steps = [], "runs-on": runner }) =>
    steps.flatMap((step) => {
      const deno = step.with?.["deno-version"] ?? /\bdeno@(\S+)/.exec(step.run ?? "")?.[1];
      return deno === undefined ? [] : [{ place, deno, runner }];
    })
  );
  assert.deepEqual(used.filter(({ deno }) => deno !== current && deno !== oldest), []);
  assert.ok(used.some(({ deno, runner }) => deno === oldest && runner?.startsWith("ubuntu")));
  for (const system of ["ubuntu", "macos", "windows"]) {
    assert.ok(used.some(({ deno, runner }) => deno === current && runner?.startsWith(system)), system);
  }
  for (const file of ["README.md", ".docker/Dockerfile"]) {
    const named = [...(await read(file)).matchAll(/\bdeno(?:@|:)(\d+\.\d+\.\d+)/g)].map(([, found]) => found);
    assert.deepEqual(new Set(named), new Set([current]), file);
  }
});

Deno.test("workflows: a release has every target, each tried on its own system", async () => {
  const runners = new Map(
    (await allJobs()).filter(({ name }) => name === "smoke").map(({ steps = [], "runs-on": runner = "" }) => {
      const task = steps.map(({ run = "" }) => /^deno task smoke (\S+)$/.exec(run)?.[1]).find(Boolean);
      return [task ?? "", runner];
    }),
  );
  assert.deepEqual([...runners.keys()], [...TARGETS]);
  const systems = { linux: /^ubuntu/, darwin: /^macos/, windows: /^windows/ };
  for (const [target, runner] of runners) {
    const system = Object.entries(systems).find(([name]) => target.includes(name))?.[1];
    assert.match(runner, system ?? /never/);
    const isArm = /-arm$/.test(runner) || /^macos-\d+$/.test(runner);
    assert.equal(target.startsWith("aarch64"), isArm, `${target} on ${runner}`);
  }
  const readme = await read("README.md");
  for (const { output } of compilePlan(["--target", "all"], LINUX).programs) {
    assert.ok(readme.includes(`\`${output.replace("dist/", "")}\``), `README.md does not name ${output}`);
  }
});

Deno.test("workflows: what they may do, and for how long", async () => {
  for (const { file, permissions, concurrency, text } of await readWorkflows()) {
    assert.deepEqual(permissions, { contents: "read" }, file);
    assert.ok(concurrency?.group.includes("${{ github.ref }}"), file);
    const foreign = [...text.matchAll(/https?:\/\/\S+|\bself-hosted\b|\bregistry\b|secrets\.\w+/g)].map((
      [found],
    ) => found);
    assert.deepEqual(foreign, [], `${file} names a machine, a registry or a secret`);
  }
  for (const { place, name, uses, permissions, steps = [], ...job } of await allJobs()) {
    if (uses === undefined) {
      assert.ok((job["timeout-minutes"] ?? Infinity) <= 30, `${place} has no limit of time`);
    }
    assert.deepEqual(permissions, name === "release" ? { contents: "write" } : undefined, place);
    if (name === "release") assert.deepEqual(job.needs, ["test", "smoke"], place);
    for (const step of steps) {
      assert.doesNotMatch(step.run ?? "", /\$\{\{/, `${place}: what GitHub fills in is code there; use env`);
      if (!step.uses?.startsWith("actions/checkout@")) continue;
      assert.equal(step.with?.["persist-credentials"], false, `${place}: checkout leaves its token behind`);
    }
  }
});

Deno.test("workflows: every action is one commit, with its version beside it", async () => {
  for (const { file, text } of await readWorkflows()) {
    const used = [...text.matchAll(/^ *(?:- )?uses: *(.*)$/gm)].map(([, found = ""]) => found);
    assert.notEqual(used.length, 0, file);
    for (const one of used.filter((name) => !name.startsWith("./"))) {
      assert.match(one, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, file);
    }
  }
});

Deno.test("workflows: the lines of README.md that install are run", async () => {
  const readme = await read("README.md");
  const install = (await allJobs()).find(({ name }) => name === "install");
  const lines = (install?.steps ?? []).flatMap(({ run }) => run ?? []).filter((run) =>
    /^(deno|npx) /.test(run)
  );
  assert.equal(lines.length, 2);
  for (const line of lines) assert.ok(readme.includes(`\n${line}`), `README.md has no line ${line}`);
});

Deno.test("the container: nobody runs it, and it gets what compile reads", async () => {
  const dockerfile = await read(".docker/Dockerfile");
  assert.match(dockerfile, /^USER [1-9]\d*:[1-9]\d*$/m);
  assert.match(dockerfile, /^ENTRYPOINT \["\/usr\/local\/bin\/orrery"\]$/m);
  assert.ok(dockerfile.indexOf("\nUSER ") > dockerfile.lastIndexOf("\nFROM "));
  const sent = (await read(".dockerignore")).split("\n").filter((line) => line.startsWith("!")).map((line) =>
    line.slice(1)
  );
  assert.deepEqual(sent, [
    ".ci",
    "deno.json",
    "deno.lock",
    "tests/deno_tests.json",
    "tests/deno.lock",
    "main.ts",
    "mod.ts",
    "lib",
    "gadgets",
  ]);
  for (const path of sent) await Deno.stat(join(PROJECT_ROOT, path));
});
