// Processes killed with SIGKILL through the command line (turn.md 3): the run goes on with the same result, nothing that was finished is
// done twice, nothing is lost, and what may not be done twice is not done again unasked. `deno task soak` kills at every event.

import assert from "node:assert/strict";
import { killableProject, KILLABLES, surviveAll, uninterrupted } from "../_killable.ts";
import type { Kill } from "../_killable.ts";
import { readUntil, testProject } from "../_project.ts";
import { orreryCommand, runProgram } from "../_run.ts";
import { isThorough } from "../_thorough.ts";

/** For each run: at its beginning, between its events, in the middle of its steps and of its answers, and while it is gone on with. */
const KILLS: Readonly<Record<keyof typeof KILLABLES, readonly (readonly Kill[])[]>> = {
  calls: [
    [{ events: 1, afterMs: 0 }],
    [{ events: 7, afterMs: 4 }],
    [{ events: 14, afterMs: 0 }],
    [{ events: 17, afterMs: 6 }, { events: 20, afterMs: 0 }],
    [{ events: 24, afterMs: 0 }],
  ],
  blocks: [
    [{ events: 6, afterMs: 0 }],
    [{ events: 12, afterMs: 7 }, { events: 18, afterMs: 3 }, { events: 30, afterMs: 0 }],
    [{ events: 34, afterMs: 5 }],
    [{ events: 46, afterMs: 0 }],
  ],
  native: [
    [{ events: 22, afterMs: 0 }],
    [{ events: 9, afterMs: 6 }, { events: 10, afterMs: 0 }],
  ],
};

for (const [name, work] of Object.entries(KILLABLES)) {
  Deno.test(`${work.name} that is killed ends as if it were not`, async () => {
    if (Deno.build.os === "windows") return console.log("not run here: Windows sends no signals");
    await using project = await killableProject();
    const want = await uninterrupted(project, work);
    let count = 0;
    const tried = KILLS[name as keyof typeof KILLABLES].filter((_, at) => isThorough || at % 2 === 1);
    for (const kills of tried) count += await surviveAll(project, { work, want, kills });
    assert.ok(count >= tried.length, `only ${count} kills met a run`);
  });
}

Deno.test("of two processes that go on with one run, one does", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: Windows sends no signals");
  await using project = await killableProject();
  await project.write("slow.jsonl", '{"chunks":["a","b"],"delayMs":500}');
  const child = project.start(["ask", "Go", "-m", "script/slow.jsonl", "-q", "--jsonl"]);
  await child.stdin.close();
  const reader = child.stdout.getReader();
  await readUntil(reader, '"text":"a"');
  child.kill("SIGKILL");
  await Promise.all([child.status, child.stderr.cancel(), reader.cancel()]);
  const id = await project.newest();
  const both = await Promise.all([1, 2].map(() => project.run(["resume", id, "-q"], { alone: true })));
  const [done, refused] = both.sort((a, b) => a.code - b.code);
  assert.deepEqual([done?.code, done?.stdout], [0, "ab"], done?.stderr);
  assert.deepEqual([refused?.code, refused?.stdout], [1, ""]);
  // On a busy machine the one may be over before the other begins.
  const says = `^error: Run "${id}" is (being run by process \\d+ on this host|done, so it cannot go on)`;
  assert.match(refused?.stderr ?? "", new RegExp(says));
});

Deno.test("a reader of --jsonl, --json or a long answer that goes away is no error", async () => {
  if (Deno.build.os === "windows") return console.log("not run here: there is no bash");
  await using project = await testProject();
  const command = orreryCommand().map((word) => `'${word}'`).join(" ");
  const long = "x".repeat(100_000);
  for (const flag of ["--jsonl", "--json", "-q"]) {
    const { code, stderr } = await runProgram(
      [
        "bash",
        "-c",
        `set -o pipefail; echo ${long} | ${command} ask Say -m script/echo -q ${flag} | head -c 10`,
      ],
      { cwd: project.folder, env: project.env },
    );
    assert.deepEqual([code, stderr], [0, ""], flag);
  }
});
