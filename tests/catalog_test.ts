// Which gadgets a project has, what they are called, and what is wrong with those that cannot be used.

import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type AnyGadget, createCatalog, loadCatalog, ProblemsError } from "../mod.ts";
import { type TestProject, testProject } from "./_project.ts";
import { orrery } from "./_run.ts";

interface Row {
  readonly name: string;
  readonly state: string;
  readonly source: { readonly kind: string; readonly file?: string };
  readonly problem?: string;
  readonly grant?: { readonly state: string };
}

/** What is listed of the gadgets of modules, and what is told on stderr. */
async function listed(
  project: TestProject,
  args: readonly string[] = [],
  { cwd = "." } = {},
): Promise<{ readonly rows: readonly Row[]; readonly stderr: string; readonly code: number }> {
  const { env, folder } = project;
  const { code, stdout, stderr } = await orrery(["list", "gadgets", "--json", ...args], {
    env,
    cwd: join(folder, cwd),
  });
  const rows: readonly Row[] = stdout === "" ? [] : JSON.parse(stdout);
  return { rows: rows.filter(({ source }) => source.kind !== "built-in"), stderr, code };
}

/** The errors of a command line that is refused. */
async function problemsOf(project: TestProject, ...args: readonly string[]): Promise<readonly string[]> {
  const { stderr, code } = await listed(project, args);
  assert.equal(code, 2, stderr);
  return stderr.split("\n").filter((line) => /(?:^|: )error: /.test(line)).map((line) =>
    line.replace(/^error: /, "")
  );
}

const gadget = (name: string): AnyGadget => ({ name, description: `Is ${name}.`, run: () => name });

const moduleOf = (name: string) =>
  `export default { name: "${name}", description: "Tells the weather.", run() { return "${name}"; } };\n`;

Deno.test("catalogue: of gadgets at hand", () => {
  const catalog = createCatalog([gadget("A"), gadget("B")]);
  assert.deepEqual(catalog.entries.map(({ name, source, state }) => ({ name, source, state })), [
    { name: "A", source: { kind: "code" }, state: "ready" },
    { name: "B", source: { kind: "code" }, state: "ready" },
  ]);
  const found = catalog.maybeFind("B")?.load();
  assert.ok(found !== undefined && !(found instanceof Promise));
  assert.equal(found.name, "B");
  assert.equal(catalog.maybeFind("b"), undefined);
  assert.equal(catalog.maybeFind("__proto__"), undefined);
  assert.throws(
    () => createCatalog([gadget("A"), gadget("A")]),
    new TypeError('Two gadgets are named "A": a name stands for one'),
  );
  assert.throws(() => createCatalog([gadget("no good")]), TypeError);
});

Deno.test("catalogue: built-in gadgets load once, when they are asked for", async () => {
  await using project = await testProject();
  for (const root of [project.folder, pathToFileURL(project.folder)]) {
    const entry = (await loadCatalog({ root })).maybeFind("Calculate");
    assert.ok(entry);
    assert.deepEqual([entry.source, entry.state], [{ kind: "built-in" }, "ready"]);
    const [first, second] = [entry.load(), entry.load()];
    assert.ok(first instanceof Promise);
    assert.equal(await first, await second);
    assert.equal(entry.load(), await first, "the second time it is there at once");
  }
});

Deno.test("catalogue: which files are gadgets, and whose name or file is trusted, exactly", async () => {
  await using project = await testProject({
    "gadgets/fetch_page.ts": moduleOf("FetchPage"),
    "gadgets/sky.js": moduleOf("Forecast"),
    "gadgets/a b%41.ts": moduleOf("A"),
    "gadgets/_shared.ts": "throw new Error('not a gadget');",
    "gadgets/types.d.ts": "export {};",
    "gadgets/notes.md": "no module",
    "gadgets/deeper/x.ts": moduleOf("X"),
    "sub/own.ts": moduleOf("Own"),
    "orrery.yaml": "",
  });
  const shown = (rows: readonly Row[]) =>
    rows.map(({ name, state, source, grant }) => `${name} ${state} ${source.file} ${grant?.state}`);
  const names = await listed(project, [
    "--trust",
    "FetchPage,Calculate,calculate",
    "--trust",
    "gadgets/sky.js",
  ]);
  assert.deepEqual(shown(names.rows), [
    "A ready gadgets/a b%41.ts not-needed",
    "FetchPage ready gadgets/fetch_page.ts granted",
    "Forecast ready gadgets/sky.js granted",
  ]);
  // A file that is named twice is there once, and paths are as they are typed.
  const files = ["--gadget", "../gadgets/a b%41.ts", "--gadget", "own.ts"];
  const trusted = ["--trust", "own.ts,../gadgets/a b%41.ts,./../gadgets/fetch_page.ts"];
  assert.deepEqual(shown((await listed(project, [...files, ...trusted], { cwd: "sub" })).rows), [
    "A ready ../gadgets/a b%41.ts granted",
    "FetchPage ready ../gadgets/fetch_page.ts granted",
    "Forecast ready ../gadgets/sky.js not-needed",
    "Own ready own.ts granted",
  ]);
  const there = "the gadget files here are gadgets/a b%41.ts, gadgets/fetch_page.ts, gadgets/sky.js.";
  const wrong = ["fetch_page", "FETCH-PAGE", "fetchpage", "fetch_page.ts", "Wether"];
  assert.deepEqual(await problemsOf(project, ...wrong.flatMap((word) => ["--trust", word])), [
    ...wrong.slice(0, 4).map((word) => `No gadget for --trust ${word}: ${there} Did you mean "FetchPage"?`),
    `No gadget for --trust Wether: ${there}`,
  ]);
  await using empty = await testProject();
  assert.deepEqual(await problemsOf(empty, "--trust", "x"), [
    "No gadget for --trust x: there is no gadget file here.",
  ]);
});

Deno.test("catalogue: a project's grants count only when the project was accepted", async () => {
  await using project = await testProject({
    "gadgets/weather.ts": moduleOf("Weather"),
    "gadgets/mine.ts": moduleOf("Mine"),
    "orrery.yaml": "grants: { Weather: trusted, wether: trusted }\n",
  });
  const granted = ({ rows }: { readonly rows: readonly Row[] }) =>
    rows.flatMap(({ name, grant }) => grant?.state === "granted" ? [name] : []);
  const absent = await listed(project);
  assert.deepEqual(granted(absent), []);
  assert.match(
    absent.stderr,
    /orrery\.yaml: grants count as absent, since you have not accepted this project; --trust-project accepts it\n/,
  );
  const accepted = await listed(project, ["--trust-project"]);
  assert.deepEqual(granted(accepted), ["Weather"]);
  assert.match(
    accepted.stderr,
    /The grant of "wether" counts for nothing: no gadget file has that name\. Did you mean "Weather"\?\n/,
  );
});

Deno.test("catalogue: two gadgets of one name are an error that names both files, and so is a name of something built in, in any spelling", async () => {
  await using project = await testProject({
    "gadgets/a.ts": moduleOf("Weather"),
    "more/weather.ts": moduleOf("Weather"),
    "gadgets/ReadFile.ts": moduleOf("Other"),
    "gadgets/b.ts": moduleOf("read_file"),
    "gadgets/c.ts": moduleOf("Now"),
    "orrery.yaml": "gadgets: { folders: [gadgets, more] }\n",
  });
  assert.deepEqual(await problemsOf(project, "--trust", "Weather"), [
    "Cannot tell what --trust Weather means: it fits gadgets/a.ts and more/weather.ts",
    'The gadget "read_file" (gadgets/b.ts) is called like the built-in ReadFile',
    'Two gadgets are named "Now": the built-in Now and gadgets/c.ts',
    'Two gadgets are named "Weather": gadgets/a.ts and more/weather.ts',
  ]);
  for (const file of ["gadgets/a.ts", "gadgets/b.ts", "gadgets/c.ts"]) {
    await Deno.remove(join(project.folder, file));
  }
  const { rows } = await listed(project, ["--trust", "ReadFile,READFILE"]);
  assert.deepEqual(rows.map(({ name, grant }) => `${name} ${grant?.state}`), [
    "Other not-needed",
    "Weather not-needed",
  ], "the name of a file is no name of a gadget");
  assert.deepEqual(await problemsOf(project, "--allow-gadget=readfile=read", "--allow-gadget=Othe=read"), [
    "--allow-gadget readfile: that is built in, or an MCP server, and no gadget of a module",
    'No gadget for --allow-gadget Othe: the gadget files here are gadgets/ReadFile.ts, more/weather.ts. Did you mean "Other"?',
  ]);
  await project.write(".mcp.json", '{ "mcpServers": { "read.file": { "command": "x" } } }');
  assert.deepEqual(await problemsOf(project), [
    'The MCP server "read.file" is called like the built-in ReadFile',
  ]);
});

Deno.test("catalogue: a module that cannot be used is broken, and nothing else is", async () => {
  const files = {
    "gadgets/good.ts": moduleOf("Good"),
    "gadgets/throws.ts": "const x = 1;\n\n  throw new Error(`no key for ${x}`);\nexport default {};\n",
    "gadgets/throws_text.ts": "throw 'just text';\n",
    "gadgets/syntax.ts": "export default {\n  name: 'Syntax' run() {}\n};\n",
    "gadgets/missing_import.ts":
      `import { x } from "./nowhere.ts";\nexport default { name: "M", run: () => x };\n`,
    "gadgets/imports_bad.ts": `import "./_bad.ts";\nexport default { name: "I" };\n`,
    "gadgets/_bad.ts": "\nthrow new Error('inner');\n",
    "gadgets/no_default.ts": "export const gadget = {};\n",
    "gadgets/no_name.ts": "export default { description: 'x', run() {} };\n",
    "gadgets/wrong_field.ts": "export default { name: 'WrongField', descriptoin: 'x', run: 1 };\n",
    "gadgets/a_function.ts": "export default function () {}\n",
    "gadgets/blank.ts": "export default { name: 'Blank', run() {} };\n",
  };
  const names = Object.keys(files).filter((file) => !file.includes("/_"));
  const isolation = names.map((file) => `${file}: none`).join(", ");
  await using project = await testProject({
    ...files,
    "orrery.yaml": `gadgets: { isolation: { ${isolation} } }\n`,
  });
  const apart = await listed(project);
  const inside = await listed(project, ["--trust-project", "--trust", names.join(",")]);
  for (const { rows, stderr } of [apart, inside]) {
    const [ready, broken] = [true, false].map((isReady) =>
      rows.filter(({ state }) => (state === "ready") === isReady)
    );
    assert.deepEqual(ready?.map(({ name }) => name), ["Blank", "Good"]);
    assert.ok(broken?.every(({ state }) => state === "broken"));
    assert.match(
      stderr,
      /^(?:warning: )?gadgets\/blank\.ts: gadget "Blank" has no description: a model cannot tell what it is for$/m,
    );
    const problem = (name: string): string => broken?.find((row) => row.name === name)?.problem ?? "";
    assert.equal(problem("throws"), "Cannot load gadgets/throws.ts:3:9: no key for 1");
    assert.equal(problem("throws_text"), "Cannot load gadgets/throws_text.ts: just text");
    assert.match(problem("syntax"), /^Cannot load gadgets\/syntax\.ts:2:\d+: .*Expected ','/);
    assert.equal(problem("imports_bad"), "Cannot load gadgets/_bad.ts:2:7: inner");
    for (const { problem = "" } of broken ?? []) assert.doesNotMatch(problem, /\n {2,}|file:\/\//);
  }
  const { stderr } = await project.run(["show", "gadget", "Throws"]);
  assert.match(
    stderr,
    /Cannot load gadgets\/throws\.ts:3:9: no key for 1/,
    "a call knows the real name, not the stem",
  );
  const problems = ({ rows }: { readonly rows: readonly Row[] }, ...of: readonly string[]) =>
    of.map((name) =>
      rows.find((row) => row.name === name || row.name.toLowerCase() === name.replace("_", ""))?.problem
    );
  const others = ["missing_import", "no_default", "no_name", "wrong_field", "a_function"];
  const noDefault =
    'it has no default export, expected "export default { name: …, run(input) { … } }"; the name of a file that only helps others begins with _';
  const noGadget = "found a function, expected a gadget: an object with name, description, input and run";
  assert.deepEqual(problems(apart, ...others), [
    'Cannot load gadgets/missing_import.ts:1:19: Cannot import "./nowhere.ts": there is no such file',
    `Cannot load gadgets/no_default.ts: ${noDefault}`,
    "Cannot load gadgets/no_name.ts: name: missing, expected a name such as FetchPage",
    'Cannot load gadgets/wrong_field.ts: unknown field "descriptoin". Did you mean "description"?\n' +
    "run: found 1, expected a function (input, context) => result",
    `Cannot load gadgets/a_function.ts: ${noGadget}`,
  ]);
  assert.deepEqual(problems(inside, ...others), [
    'Cannot load gadgets/missing_import.ts:1:19: Module not found "gadgets/nowhere.ts".',
    `Cannot use gadgets/no_default.ts: ${noDefault}`,
    "gadgets/no_name.ts: name: missing, expected a name such as FetchPage",
    'gadgets/wrong_field.ts: gadget "WrongField": unknown field "descriptoin". Did you mean "description"?\n' +
    'gadgets/wrong_field.ts: gadget "WrongField": run: found 1, expected a function (input, context) => result',
    `gadgets/a_function.ts: ${noGadget}`,
  ]);
});

Deno.test("catalogue: folders and files that are not there", async () => {
  await using project = await testProject({
    "orrery.yaml": "gadgets:\n  folders: [gadgets, tools]\n",
    "gadgets/a.ts": moduleOf("A"),
    "x.txt": "",
    "folder/y": "",
  });
  assert.deepEqual(
    await problemsOf(project, "--gadget", "b.ts", "--gadget", "x.txt", "--gadget", "folder"),
    [
      'orrery.yaml:2:22: error: Cannot list "tools": no such folder',
      "Cannot use --gadget b.ts: no such file",
      "Cannot use --gadget x.txt: its name does not end with .ts or .js",
      "Cannot use --gadget folder: it is a folder",
    ],
  );
  await assert.rejects(loadCatalog({ root: project.folder, files: ["b.ts"] }), (error: Error) => {
    assert.ok(error instanceof ProblemsError);
    assert.deepEqual(error.problems.map(({ message }) => message), [
      'Cannot list "tools": no such folder',
      "Cannot use --gadget b.ts: no such file",
    ]);
    return true;
  });
});
