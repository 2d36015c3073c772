// `orrery check` in a project that says things for itself: what nobody has accepted is told.
import assert from "node:assert/strict";
import { testProject } from "./_project.ts";

const DOCUMENT = "# Look {id=look}\n\n@shell\nprompt: ls\n";

Deno.test("check says which parts of a project count for nothing until it is accepted, and where they are", async () => {
  await using project = await testProject({
    "a.calls": "!!!GADGET_START:RunCommand\n!!!ARG:command\nls\n!!!GADGET_END\n",
    "a.md": DOCUMENT,
    "orrery.yaml": 'limits:\n  concurrency: 2\ngrants:\n  "@shell": trusted\n  RunCommand:\n    run: [ls]\n',
    ".mcp.json": JSON.stringify({ mcpServers: { test: { command: "nothing" } } }),
  });
  const of = (text: string) => text.trimEnd().split("\n");
  const before = await project.run(["check"]);
  assert.equal(before.code, 0, before.stderr);
  const warning = (place: string, part: string): string =>
    `${place}: warning: you have not accepted what this project says here, or not as it is now (${part}): ` +
    "a run takes it as absent, this check as accepted";
  assert.deepEqual(of(before.stderr), [
    warning("orrery.yaml:3:1", "grants"),
    warning(".mcp.json:1:1", ".mcp.json"),
    "4 files, 0 errors, 2 warnings",
  ]);
  const told = JSON.parse((await project.run(["check", "a.calls", "--format", "json"])).stdout);
  assert.deepEqual(
    told.map(({ file, code, hint }: Record<string, unknown>) => [file, code, hint]),
    ["orrery.yaml", ".mcp.json"].map((file) => [
      file,
      "W401",
      "orrery list --trust-project accepts it, as --trust-project does with every run",
    ]),
  );
  const run = await project.run(["run", "a.calls"]);
  assert.equal(run.code, 5, "what the check took as accepted, a run does not");

  assert.equal((await project.run(["list", "--trust-project"])).code, 0);
  assert.deepEqual(of((await project.run(["check"])).stderr), ["3 files, 0 errors, 0 warnings"]);
  assert.equal((await project.run(["run", "a.calls"])).code, 0);

  await project.write("orrery.yaml", 'grants:\n  "@shell": trusted\n');
  assert.match(
    (await project.run(["check"])).stderr,
    /^orrery\.yaml:1:1: warning: you have not accepted .* \(grants\)/m,
  );
});

Deno.test("check has nothing to say of a project that says nothing for itself", async () => {
  await using project = await testProject({ "a.calls": "", "orrery.yaml": "limits:\n  concurrency: 2\n" });
  assert.equal((await project.run(["check"])).stderr, "2 files, 0 errors, 0 warnings\n");
});
