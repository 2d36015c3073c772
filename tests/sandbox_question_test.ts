// The question about a gadget, at a real terminal; and what a script is told in its place.
import assert from "node:assert/strict";
import { type TestProject, testProject } from "./_project.ts";
import { atTerminal, noTerminal } from "./_pty.ts";

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
    /The gadget Look of gadgets\/look\.ts asks for this:\n {2}read data and everything in it\nAllow it\?/,
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
    /It is not as it was when you allowed it:\n {2}gadgets\/look\.ts was changed\n {2}now also: read more and everything in it\nAllow it\?/,
  );
  assert.equal((await project.run(["run", "a.calls"])).code, 0);
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
  assert.equal((await project.run(["trust", "allow", "look"])).code, 0);
  assert.equal((await project.run(["run", "a.calls"])).code, 0);
  await project.write("gadgets/look.ts", `${LOOK}// more\n`);
  const { code, stderr } = await project.run(["run", "a.calls"]);
  assert.equal(code, 5);
  assert.match(
    stderr,
    /is not as it was when it was allowed \(gadgets\/look\.ts was changed\), so it is not allowed any more/,
  );
});
