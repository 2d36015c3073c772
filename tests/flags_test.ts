// How a command line is read: where flags stand, what their values are, and what is said of one that cannot be understood.

import assert from "node:assert/strict";
import { type TestProject, testProject } from "./_project.ts";
import { orrery } from "./_run.ts";

const CALLS = "!!!GADGET_START:Calculate:a\n!!!ARG:expression\n1 + 1\n!!!GADGET_END\n";

const writing = (...paths: readonly string[]): string =>
  paths.map((path) => `!!!GADGET_START:WriteFile\n!!!ARG:path\n${path}\n!!!ARG:content\nx\n!!!GADGET_END\n`)
    .join("");

/** What is wrong with a command line, a line each; it names the help of its command. */
async function problems(command: string, ...args: readonly string[]): Promise<readonly string[]> {
  const { code, stdout, stderr } = await orrery([command, ...args]);
  assert.deepEqual([code, stdout], [2, ""], args.join(" "));
  const lines = stderr.trimEnd().split("\n");
  assert.equal(lines.pop(), `Try: orrery ${command} --help`);
  return lines.map((line) => line.replace(/^error: /, ""));
}

const run = (...args: readonly string[]) => problems("run", ...args);

Deno.test("flags stand before and after the file, in every form", async () => {
  await using project = await testProject({ "a.calls": CALLS });
  const forms = [
    ["a.calls", "--output", "out", "--json", "--concurrency", "3"],
    ["--json", "--output=out", "--concurrency=3", "a.calls"],
    ["-o", "out", "a.calls", "--json", "--concurrency=3"],
    ["-oout", "--json", "--concurrency", "3", "--", "a.calls"],
    ["-o=out", "--concurrency=3", "--json", "a.calls"],
    ["-qAo", "out", "--json", "a.calls"],
  ];
  for (const args of forms) {
    const { code, stdout } = await project.run(["run", "--ephemeral", ...args]);
    assert.deepEqual([code, JSON.parse(stdout).value], [0, 2], args.join(" "));
    assert.equal(await project.read("out"), "2\n", args.join(" "));
    await Deno.remove(`${project.folder}/out`);
  }
});

Deno.test("behind -- nothing is a flag; several letters go together, the last may have a value", async () => {
  await using project = await testProject({ "-odd.calls": CALLS });
  assert.equal((await project.run(["run", "-q", "--", "-odd.calls"])).stdout, "2\n");
  const { code, stderr } = await project.run(["run", "-qAo", "out", "-"], { stdin: writing("a") });
  assert.deepEqual([code, stderr, await project.read("a")], [0, "", "x"]);
});

Deno.test("lists: --trust divides at commas and adds up, --gadget takes each as it is", async () => {
  await using project = await testProject();
  const named = async (...args: readonly string[]) =>
    [...(await project.run(["list", "gadgets", ...args])).stderr.matchAll(
      /^error: .* (?:--trust|--gadget) (\S+):/gm,
    )]
      .map(([, word]) => word);
  assert.deepEqual(await named("--trust", "a,b", "--trust=c"), ["a", "b", "c"]);
  assert.deepEqual(await named("--gadget", "x,y.ts", "--gadget=z.ts"), ["x,y.ts", "z.ts"]);
});

Deno.test("a grant has its list behind = only, and keeps it as written for the policy", async () => {
  await using project = await testProject({ "a.calls": writing("out/x", "a,b", "more/x", "b") });
  const grants = ["--allow-write=out,a,,b", "--allow-write=more", "--deny-net"];
  const { stdout } = await project.run([
    "run",
    "--allow-read",
    "a.calls",
    ...grants,
    "--json",
    "--concurrency=1",
  ]);
  const { calls }: { readonly calls: readonly { readonly status: string }[] } = JSON.parse(stdout);
  assert.deepEqual(calls.map(({ status }) => status), ["result", "result", "result", "error"]);
});

Deno.test("every mistake is told at once, with what was likely meant", async () => {
  assert.deepEqual(await run("--jsn", "--concurrency", "zero", "--timeout=0", "a", "b", "--json=yes", "-z"), [
    'Unknown flag --jsn. Did you mean "--json"?',
    '--concurrency must be a whole number from 1; found "zero"',
    '--timeout must be a number of seconds above 0; found "0"',
    '--json takes no value; found "yes"',
    "Unknown flag -z.",
    'orrery run takes FILE|PROMPT; found "b" too.',
  ]);
});

Deno.test("a value that is missing, given twice, or was meant for =; what may be that of an unknown flag is no word too many", async () => {
  assert.deepEqual(await run("-", "-o", "--json"), ["-o needs a value: -o FILE"]);
  assert.deepEqual(await run("-", "--output"), ["--output needs a value: --output FILE"]);
  assert.deepEqual(await run("a.calls", "--output", "--json"), ["--output needs a value: --output FILE"]);
  assert.deepEqual(await run("a.calls", "-o", "-x"), [
    "-o needs a value: -o FILE; a value that begins with - is written with =, so: --output=-x",
  ]);
  assert.deepEqual(await run("-", "-o", "a", "--output=b"), ["--output is given twice"]);
  assert.deepEqual(await run("-json", "-"), ['Unknown flag -json. Did you mean "--json"?']);
  assert.deepEqual(await run("a.calls", "--allow-read", "data"), [
    'orrery run takes FILE|PROMPT; found "data" too. A list is written with =, so: --allow-read=data',
  ]);
  assert.match((await run())[0] ?? "", /^orrery run needs FILE\|PROMPT: /);
  assert.deepEqual(await run("-", "--concurrency=-3"), [
    '--concurrency must be a whole number from 1; found "-3"',
  ]);
  const unknown = 'Unknown flag --modle. Did you mean "--model"?';
  assert.deepEqual(await run("a.calls", "--modle", "x"), [unknown]);
  assert.deepEqual(await run("--modle", "x", "a.calls"), [unknown]);
  assert.deepEqual(await run("a.calls", "--modle=x", "b"), [
    unknown,
    'orrery run takes FILE|PROMPT; found "b" too.',
  ]);
});

Deno.test("where words are free or may be left out, none stands right behind a flag whose list is written with =", async () => {
  const { stdout: help } = await orrery(["help", "ask"]);
  const grants = [...help.matchAll(/^ {2}--((?:allow|deny)-\w+)\[=/gm)].map(([, name]) => name);
  assert.equal(grants.length, 10);
  for (const name of grants) {
    for (const args of [["go", `--${name}`, "out"], [`--${name}`, "out", "go"]]) {
      assert.deepEqual(await problems("ask", ...args), [
        `found "out" behind --${name}. A list is written with =, so: --${name}=out; ` +
        "a word of the command goes before the flag, or behind --",
      ]);
    }
  }
  for (const command of ["chat", "check", "resume"]) {
    assert.match(
      (await problems(command, "--allow-write", "out"))[0] ?? "",
      /^found "out" behind --allow-write/,
    );
  }
  await using project = await testProject({ "prompts/p.prompt.md": "Hi\n" });
  const asked = async (project: TestProject, ...args: readonly string[]) =>
    (await project.run(["ask", "-m", "script/echo", "-q", "--ephemeral", ...args])).stdout;
  assert.equal(await asked(project, "say", "hi", "--allow-write"), "ECHO[say hi]");
  assert.equal(await asked(project, "--allow-write", "--", "say", "hi"), "ECHO[say hi]");
  assert.equal(await asked(project, "--allow-write=out", "say", "-A", "hi"), "ECHO[say hi]");
  assert.equal((await project.run(["list", "--write-types", "prompts"])).code, 0);
});

Deno.test("choices name all there are and the nearest", async () => {
  assert.deepEqual(await problems("graph", "a.calls", "--format", "txt"), [
    '--format must be one of text, mermaid, svg; found "txt". Did you mean "text"?',
  ]);
  assert.deepEqual(await problems("show", "gadgte", "X"), [
    'KIND must be one of gadget, prompt, profile, document, agent, conversation, config; found "gadgte". Did you mean "gadget"?',
  ]);
});

Deno.test("help: wins over every mistake, fits in a window, and has every command, no flag or letter of one twice", async () => {
  const { stdout: all } = await orrery(["help"]);
  assert.equal((await orrery(["run", "--nonsense", "--help"])).stdout, (await orrery(["run", "-qh"])).stdout);
  const names = [...all.slice(0, all.indexOf("\nTopics")).matchAll(/^ {2}([a-z]+)\b/gm)].map((
    [, name = ""],
  ) => name);
  assert.equal(names.length, 20);
  for (const name of names) {
    const { code, stdout } = await orrery(["help", name]);
    const help = stdout.split("\n# ", 1)[0] ?? "";
    assert.equal(code, 0);
    assert.ok(all.includes(help.split("\n", 1)[0] ?? ""), name);
    for (const line of help.split("\n")) assert.ok(line.length <= 100, `a line of ${line.length}: ${line}`);
    const flags = help.slice(help.indexOf("\nFlags:")).matchAll(/^ {2}(?:-(\w), )?--([\w-]+)(.*)$/gm);
    const found = [...flags].flatMap(([, letter, flag]) => [...letter === undefined ? [] : [letter], flag]);
    assert.ok(found.includes("help"));
    assert.equal(new Set(found).size, found.length, name);
  }
});
