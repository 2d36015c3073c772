// The question about a gadget, at a real terminal; and what a script is told in its place.
import assert from "node:assert/strict";
import { type TestProject, testProject } from "../_project.ts";
import { atTerminal, noTerminal } from "../_pty.ts";
import { denoCommand, orrery } from "../_run.ts";

const missing = await noTerminal();

const LOOK = `export default {
  name: "Look",
  description: "Reads a file.",
  input: { type: "object", properties: { path: { type: "string" } } },
  permissions: { read: ["data"] },
  async run({ path }: { path: string }) { return await Deno.readTextFile(path); },
};
`;

const CALLS = "!!!GADGET_START:Look\n!!!ARG:path\ndata/a.txt\n!!!GADGET_END\n";

function lookProject(): Promise<TestProject> {
  return testProject({ "gadgets/look.ts": LOOK, "data/a.txt": "hello", "a.calls": CALLS + CALLS });
}

/** A run at a terminal: what was asked, and how it ended. */
async function answered(project: TestProject, ...answers: readonly string[]) {
  const person = atTerminal(["run", "a.calls"], { cwd: project.folder, env: project.env });
  const asked: string[] = [];
  for (const answer of answers) {
    asked.push(await person.until("Allow it?"));
    await person.type(`${answer}\n`);
  }
  return { asked: asked.map((each) => each.replaceAll("\r", "")), ...await person.end() };
}

Deno.test("the question at a terminal: once, deny, always, and what changed", {
  ignore: missing !== undefined,
}, async () => {
  await using project = await lookProject();
  const once = await answered(project, "once");
  assert.equal(once.code, 0, once.screen);
  assert.match(
    once.asked[0] ?? "",
    /The gadget Look of gadgets\/look\.ts asks for this:\n {2}read data and everything in it\nOnce is for this run, always until a file of it changes \(kept in orrery\.lock\)\.\nAllow it\?/,
  );
  await assert.rejects(project.read("orrery.lock"), Deno.errors.NotFound);

  const denied = await answered(project, "deny");
  assert.equal(denied.code, 5, denied.screen);
  assert.match(denied.screen, /Gadget "Look" \(gadgets\/look\.ts\) was not run: you did not allow it/);
  assert.doesNotMatch(denied.screen, /--trust/);

  const always = await answered(project, "always");
  assert.equal(always.code, 0, always.screen);
  assert.match(await project.read("orrery.lock"), /"gadgets\/look\.ts"/);
  assert.equal((await answered(project)).code, 0, "it is not asked about again");
  assert.equal((await project.run(["run", "a.calls", "--frozen"])).code, 0, "nor by a script");

  await project.write("gadgets/look.ts", LOOK.replace('["data"]', '["data", "more"]'));
  const changed = await answered(project, "always");
  assert.equal(changed.code, 0, changed.screen);
  assert.match(
    changed.asked[0] ?? "",
    /It is not as it was when you allowed it:\n {2}gadgets\/look\.ts was changed\n {2}now also: read more and everything in it\nOnce is .*\nAllow it\?/,
  );
  assert.equal((await project.run(["run", "a.calls"])).code, 0);
});

const WIPED = "\x1b[0G\x1b[2K\x1b[J";

/** What is left of a screen where `deno run` wiped the line of the cursor, as its own progress does. */
function leftOf(screen: string): string {
  const parts = screen.split(WIPED);
  return parts.map((part, at) => at === parts.length - 1 ? part : part.slice(0, part.lastIndexOf("\n") + 1))
    .join("");
}

Deno.test("the question stays on the screen while the rest of the program is loaded", {
  ignore: missing !== undefined,
}, async () => {
  await using project = await lookProject();
  const command = denoCommand().filter((word) => word !== "--quiet");
  // A journal that is there already is opened when the run turns out to be no short one: while somebody reads the question.
  const { folder: cwd, env } = project;
  assert.equal((await project.run(["run", "a.calls", "--trust=Look"])).code, 0);
  const person = atTerminal(["run", "a.calls"], { cwd, env: { ...env, NO_COLOR: "" }, command });
  await person.until("[once/always/deny]");
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  await person.type("maybe\n");
  assert.match(leftOf(await person.until("maybe")), /^\r?\n/, "nothing of the question was wiped");
  const again = await person.until("[once/always/deny]");
  assert.match(again, /Allow it\?/);
  assert.doesNotMatch(again, /asks for this/, "only the question itself is asked again");
  await person.type("once\n");
  assert.equal((await person.end()).code, 0);
});

Deno.test("the question: a script gets exit code 5 and the flag, which is enough", async () => {
  await using project = await lookProject();
  const refused = await project.run(["run", "a.calls"]);
  assert.equal(refused.code, 5, refused.stderr);
  assert.match(refused.stderr, /Gadget "Look" \(gadgets\/look\.ts\) is not allowed: it wants to read data/);
  assert.match(refused.stderr, /refused; to allow it, add --trust=Look/);
  assert.equal((await project.run(["run", "a.calls", "--trust=Look"])).code, 0);
  assert.equal((await project.run(["run", "a.calls", "--allow-gadget", "Look=read:data"])).code, 0);
  const frozen = await project.run(["run", "a.calls", "--frozen"]);
  assert.notEqual(frozen.code, 0);
  assert.match(
    frozen.stderr,
    /--frozen: gadget "Look" is not as orrery\.lock has it: gadgets\/look\.ts is not in it/,
  );
});

Deno.test("the question: what changed since it was allowed is told to a script too", async () => {
  await using project = await lookProject();
  assert.equal((await project.run(["trust", "allow", "Look"])).code, 0);
  assert.equal((await project.run(["run", "a.calls"])).code, 0);
  await project.write("gadgets/look.ts", `${LOOK}// more\n`);
  const { code, stderr } = await project.run(["run", "a.calls"]);
  assert.equal(code, 5);
  assert.match(
    stderr,
    /is not as it was when it was allowed \(gadgets\/look\.ts was changed\), so it is not allowed any more/,
  );
});

Deno.test("orrery trust --minimise at a terminal shows what would change, and asks before it writes", {
  ignore: missing !== undefined,
}, async () => {
  await using project = await lookProject();
  await project.write("gadgets/look.ts", LOOK.replace('["data"]', '["data", "more"], net: true'));
  assert.equal((await project.run(["trust", "allow", "Look"])).code, 0);
  assert.equal((await project.run(["run", "a.calls"])).code, 0);
  const before = await project.read("orrery.lock");
  for (const answer of ["no", "yes"]) {
    const person = atTerminal(["trust", "--minimise"], { cwd: project.folder, env: project.env });
    const asked = await person.until("Write this to orrery.lock? [yes/no]");
    assert.match(
      asked,
      /Look in 2 calls\n {2}no longer: connect .*\n {2}no longer: read data .*\n {2}no longer: read more .*\n {2}still: read data\/a\.txt/,
    );
    await person.type(`${answer}\n`);
    const { code, screen } = await person.end();
    assert.equal(code, 0, screen);
    assert.equal(await project.read("orrery.lock") === before, answer === "no");
    assert.equal(/Nothing was written/.test(screen), answer === "no");
  }
  assert.equal((await project.run(["run", "a.calls"])).code, 0);
});

Deno.test("the flag of a refusal works where it is typed: below the root, and where names are alike", async () => {
  await using project = await testProject({
    "orrery.yaml": "{}\n",
    "gadgets/look.ts": `// its text has name: "Look" too\n${LOOK.replace('name: "Look"', 'name: "Other"')}`,
    "gadgets/other.ts": LOOK,
    "data/a.txt": "hello",
    "sub/a.calls": CALLS,
  });
  const below = (...flags: readonly string[]) =>
    orrery(["run", "a.calls", ...flags], { cwd: `${project.folder}/sub`, env: project.env });
  const refused = await below();
  assert.equal(refused.code, 5, refused.stderr);
  // "Look" is the stem of another file, which the flag would mean.
  const { trusted = "", granted = "" } =
    /--trust (?<trusted>\S+), which .* want: --allow-gadget (?<granted>\S+); orrery trust allow \.\.\/gadgets\/other\.ts /
      .exec(refused.stderr)?.groups ?? {};
  assert.equal(trusted, "../gadgets/other.ts", refused.stderr);
  for (const flags of [["--trust", trusted], ["--allow-gadget", granted]]) {
    const { code, stderr } = await below(...flags);
    assert.equal(code, 0, `${flags}: ${stderr}`);
  }
  const part = await below("--allow-gadget", `${trusted}=net:a.com`);
  const { flag = "" } = /to allow it, add --allow-gadget=(?<flag>\S+)/.exec(part.stderr)?.groups ?? {};
  assert.equal((await below("--allow-gadget", flag)).code, 0, part.stderr);
});

Deno.test("--allow-gadget and grants: a name that no gadget has is told, with the nearest", async () => {
  await using project = await lookProject();
  const wrong = await project.run(["run", "a.calls", "--allow-gadget", "Loko=read:data"]);
  assert.equal(wrong.code, 2);
  assert.match(
    wrong.stderr,
    /No gadget for --allow-gadget Loko: .* gadgets\/look\.ts\. Did you mean "Look"\?/,
  );
  const builtIn = await project.run(["run", "a.calls", "--allow-gadget", "ReadFile=read:data"]);
  assert.equal(builtIn.code, 2);
  assert.match(builtIn.stderr, /--allow-gadget ReadFile: that is built in, .*\nhint: .*--allow-read/);
  await project.write("orrery.yaml", "grants: { Loko: { read: [data] } }\n");
  const { stderr } = await project.run(["run", "a.calls", "--trust-project"]);
  assert.match(stderr, /The grant of "Loko" counts for nothing: .*Did you mean "Look"\?/);
});

Deno.test("a module that does something while it is looked at is told to do it in run; what it said is shown", async () => {
  await using project = await testProject({
    "gadgets/top.ts": `console.log("so far");\nconst text = await Deno.readTextFile("data/a.txt");\n` +
      "export default { name: 'Top', description: 'x', permissions: { read: ['data'] }, run: () => text };\n",
    "gadgets/says.ts": `console.log("one");\nconsole.error("two");\n` +
      "export default { name: 'Says', description: 'x', run: () => 1 };\n",
    "data/a.txt": "hello",
    "a.calls": "!!!GADGET_START:Top\n!!!GADGET_END\n",
  });
  const problem =
    'Cannot load gadgets/top.ts:2:14: Reading "data/a.txt" is not allowed while a module is loaded: it may do nothing ' +
    'then; do it in the gadget\'s run; before that it said "so far"';
  const run = await project.run(["run", "a.calls", "--trust", "gadgets/top.ts"]);
  assert.equal(run.code, 1);
  assert.ok(run.stderr.includes(problem), run.stderr);
  assert.doesNotMatch(run.stderr, /--allow-gadget/, "no flag would help");
  assert.ok((await project.run(["list", "gadgets"])).stderr.includes(problem));
  for (let look = 0; look < 2; look++) { // the second is answered by what is known of it
    const page = await project.run(["show", "gadget", "Says"]);
    assert.match(page.stdout, /Its module says while it is loaded:\n {2}one\n {2}two\n/);
    assert.equal(
      JSON.parse((await project.run(["show", "gadget", "Says", "--json"])).stdout).said,
      "one\ntwo\n",
    );
  }
});

Deno.test("orrery list gadgets: who has allowed each", async () => {
  await using project = await lookProject();
  await project.write(
    "gadgets/plain.ts",
    "export default { name: 'Plain', description: 'x', run: () => 1 };\n",
  );
  const grantOf = async (...flags: readonly string[]) => {
    const { stdout } = await project.run(["list", "gadgets", ...flags]);
    assert.match(stdout, /^NAME +SOURCE +STATE +NEEDS +GRANT\n/);
    assert.match(stdout, /\nPlain .* not needed\n/);
    return /\nLook .*ready +read \(.*?\) +(.*)\n/.exec(stdout)?.[1];
  };
  assert.equal(await grantOf(), "asked first");
  assert.equal(await grantOf("--trust", "Look"), "command line");
  assert.equal((await project.run(["trust", "allow", "Look"])).code, 0);
  assert.equal(await grantOf(), "orrery.lock");
  await project.write("gadgets/look.ts", `${LOOK}// more\n`);
  assert.equal(await grantOf(), "changed: asked again");
  const { stdout } = await project.run(["show", "gadget", "Look"]);
  assert.match(stdout, /\nGrant: changed: asked again\n {2}gadgets\/look\.ts was changed\n/);
  const [, json] = JSON.parse((await project.run(["list", "gadgets", "--json"])).stdout)
    .filter(({ source }: { source: { kind: string } }) => source.kind === "project")
    .map(({ grant }: { grant: unknown }) => grant);
  assert.deepEqual(json, { state: "not-needed", from: [], changes: [] });
});

Deno.test("what a gadget tells the console stays on the terminal and in the trace", {
  ignore: missing !== undefined,
}, async () => {
  await using project = await testProject({
    "gadgets/says.ts":
      'export default { name: "Says", description: "x", run() { console.log("one\\ntwo"); console.error("three"); return 1; } };\n',
    "a.calls": "!!!GADGET_START:Says:s\n!!!GADGET_END\n",
  });
  const person = atTerminal(["run", "a.calls"], {
    cwd: project.folder,
    env: { ...project.env, TERM: "xterm", NO_COLOR: "" },
  });
  const { code, screen } = await person.end();
  assert.equal(code, 0, screen);
  assert.match(screen, /s: one/);
  assert.match(screen, /two/);
  assert.match(screen, /s: three/);
  const trace = await project.run(["trace", await project.newest()]);
  assert.match(trace.stdout, /call:s .*\n.*1\n *log: one\n *log: two\n *log: three\n/);
  const told = await project.run(["trace", await project.newest(), "--json"]);
  assert.match(told.stdout, /"call-log"/);
});

Deno.test("a call that loops for ever is an error of that call alone: those that begin with it and those that wait are made all the same", async () => {
  await using project = await testProject({
    "gadgets/both.ts":
      'export default { name: "Both", description: "x", input: { type: "object", properties: { loops: { type: "boolean" } } },\n' +
      "  async run({ loops }: { loops?: boolean }) { while (loops); await new Promise((end) => setTimeout(end, 10)); return 'fine'; } };\n",
    "a.calls": "!!!GADGET_START:Both:loops\n!!!ARG:loops\ntrue\n!!!GADGET_END\n" +
      "!!!GADGET_START:Both:beside\n!!!GADGET_END\n!!!GADGET_START:Both:third\n!!!GADGET_END\n" +
      "!!!GADGET_START:Wait:w\n!!!ARG:seconds\n4\n!!!GADGET_END\n!!!GADGET_START:Both:waits:w\n!!!GADGET_END\n",
  });
  const run = await project.run(["run", "a.calls", "--timeout", "5", "--json"]);
  assert.equal(run.code, 1, run.stderr);
  assert.match(run.stderr, /error loops +Both .*\n.*Timed out after 5000 ms/);
  for (const id of ["beside", "third", "waits"]) assert.match(run.stderr, new RegExp(`ok +${id} +Both`));
});
