// A run that was accepted is kept, whenever the process is killed: also among others that were accepted with it.

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { openJournal } from "../../mod.ts";
import { testProject } from "../_project.ts";

const CHILD = fileURLToPath(new URL("../_accepting_child.ts", import.meta.url));
const FILES = {
  "orrery.yaml": "",
  "sum.calls": "!!!GADGET_START:Calculate:sum\n!!!ARG:expression\n20 + 22\n!!!GADGET_END\n",
};

Deno.test("killed while it accepts many at once: each run that was answered is there, and can go on", async () => {
  await using project = await testProject(FILES);
  const accepted: string[] = [];
  for (const after of [1, 10, 25, 60, 110, 200]) {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-check", CHILD, project.folder],
      env: { ...project.env },
      stdout: "piped",
      stderr: "inherit",
      signal: AbortSignal.timeout(60_000),
    }).spawn();
    let text = "";
    let isKilled = false;
    for await (const chunk of child.stdout) {
      text += new TextDecoder().decode(chunk);
      if (isKilled || text.split("\n").length <= after) continue;
      isKilled = true;
      child.kill("SIGKILL");
    }
    await child.status;
    const ids = text.split("\n").filter((id) => id.length === 12);
    assert.ok(isKilled && ids.length >= after, `${ids.length} accepted`);
    accepted.push(...ids);
  }
  using journal = openJournal(project.folder);
  const kept = new Map(journal.list().map((run) => [run.id, run]));
  assert.deepEqual(accepted.filter((id) => !kept.has(id)), []);
  const left = accepted.filter((id) => kept.get(id)?.status !== "done");
  assert.ok(left.length > 0, "every run was faster than its end");
  for (const id of left) assert.equal(kept.get(id)?.owned, false);
  for (const id of left.slice(0, 3)) {
    const { code, stdout, stderr } = await project.run(["resume", id, "--json"]);
    assert.equal(code, 0, stderr);
    assert.equal(JSON.parse(stdout).value, 42);
  }
});
