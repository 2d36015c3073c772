// A wrong model is told before a run begins that only runs documents: nothing runs, and no run is left.

import assert from "node:assert/strict";
import { testProject } from "./_project.ts";
import type { TestProject } from "./_project.ts";

const call = (gadget: string, name: string, value: string): string =>
  `!!!GADGET_START:${gadget}\n!!!ARG:${name}\n${value}\n!!!GADGET_END\n`;

const FILES = {
  "orrery.yaml": "models: { aliases: { quick: script/one.yml } }\n",
  "one.yml": '- { when: "", text: "one", repeat: true }\n',
  "ask.md": "# A\n\n@llm\nprompt: Go\n",
  "ask.calls": call("WriteFile", "path", "before.txt").replace(
    "!!!GADGET_END",
    "!!!ARG:content\nx\n!!!GADGET_END",
  ) + call("RunFile", "file", "ask.md"),
  "last.calls": `!!!GADGET_START:Now\n!!!GADGET_END\n${
    call("RunFile", "file", "ask.md").replace(":RunFile", ": RunFile :x")
  }`,
  "now.calls": "!!!GADGET_START:Now\n!!!GADGET_END\n",
  "word.calls": call("Template", "template", "RunFile and RunPrompt"),
};

const WRONG = 'Unknown model "nope": expected provider/model or an alias of models.aliases.';
const LISTED = "orrery list models shows what there is.\nTry: orrery run --help\n";

async function assertNothingRan(project: TestProject): Promise<void> {
  const { stdout } = await project.run(["runs", "--json"]);
  assert.deepEqual(JSON.parse(stdout), []);
  await assert.rejects(project.read("before.txt"), Deno.errors.NotFound);
}

Deno.test("a wrong ORRERY_MODEL or --model is told before calls of RunFile run, and no run is left", async () => {
  await using project = await testProject(FILES);
  const env = { ORRERY_MODEL: "nope" };
  const [last, variable, flag] = await Promise.all([
    project.run(["run", "last.calls"], { env }),
    project.run(["run", "ask.calls", "--allow-write"], { env }),
    project.run(["run", "ask.calls", "--allow-write", "--model", "nope"]),
  ]);
  assert.deepEqual([variable.code, variable.stdout, variable.stderr], [
    2,
    "",
    `error: ORRERY_MODEL: ${WRONG} ${LISTED}`,
  ]);
  assert.deepEqual([last.code, last.stderr], [2, variable.stderr]);
  assert.deepEqual([flag.code, flag.stdout, flag.stderr], [2, "", `error: --model: ${WRONG} ${LISTED}`]);
  await assertNothingRan(project);
});

Deno.test("a model that is known runs the documents of calls; calls that ask nobody do not look at the variable", async () => {
  await using project = await testProject(FILES);
  const env = { ORRERY_MODEL: "nope" };
  const [known, ...unused] = await Promise.all([
    project.run(["run", "ask.calls", "--allow-write"], { env: { ORRERY_MODEL: "quick" } }),
    project.run(["run", "now.calls"], { env }),
    project.run(["run", "word.calls"], { env }),
  ]);
  assert.equal(known.code, 0, known.stderr);
  assert.match(known.stdout, /one/);
  for (const { code, stderr } of unused) assert.equal(code, 0, stderr);
});
