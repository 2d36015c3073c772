// What `orrery resume` does with steps that may not be done twice, by the flags that name them.

import assert from "node:assert/strict";
import { openJournal } from "../mod.ts";
import { type TestProject, testProject } from "./_project.ts";

const AGENT =
  'version: "0.1"\nstructure: { id: a, action: { id: hi, message: { message: "Hi", hold: true } } }\n';
const KEYS = ["step:a", "step:a/step:b", "step:c"];

/** Three steps of a run were under way; which of them `resume` with these flags asks about, and which it takes as done. */
async function settled(project: TestProject, ...flags: readonly string[]) {
  await project.run(["run", "a.agent.yml"]);
  const id = await project.newest();
  using journal = openJournal(project.folder);
  const run = journal.open(id);
  for (const key of KEYS) run.begin({ key, kind: "step", name: key, input: null, idempotent: false });
  run.release("stopped");
  const { stderr } = await project.run(["resume", id, ...flags]);
  return {
    left: [...stderr.matchAll(/ --rerun (\S+) {3}does it again$/gm)].map(([, key]) => key),
    done: journal.read(id).steps.filter(({ key, status }) => KEYS.includes(key) && status === "finished")
      .map(({ key }) => key),
  };
}

Deno.test("what is said of a step holds for the steps inside of it, not for one whose key only begins with its own", async () => {
  await using project = await testProject({ "orrery.yaml": "", "a.agent.yml": AGENT });
  assert.deepEqual(await settled(project, "--skip", "step:a"), {
    left: ["step:c"],
    done: ["step:a", "step:a/step:b"],
  });
  assert.deepEqual(await settled(project, "--rerun", "step:a"), { left: ["step:c"], done: [] });
  assert.deepEqual(await settled(project, "--skip", "step:c"), {
    left: ["step:a", "step:a/step:b"],
    done: ["step:c"],
  });
});

Deno.test("what is said of the step inside counts before what is said of the one around it", async () => {
  await using project = await testProject({ "orrery.yaml": "", "a.agent.yml": AGENT });
  const flags = ["--rerun", "step:a", "--skip", "step:a/step:b", "--skip", "step:c"];
  assert.deepEqual(await settled(project, ...flags), { left: [], done: ["step:a/step:b", "step:c"] });
});
