// The attack modules of tests/spec/sandbox/, each called through the command line, in the form that ORRERY_BINARY says.

import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT } from "../_run.ts";
import { type AttackPlace, attackPlace, type AttackRun, callOf, SLACK_MS } from "../sandbox/_place.ts";

const FOLDER = join(PROJECT_ROOT, "tests/spec/sandbox");

/** Of the gadgets in `--timeout`. */
const TIMEOUT_MS = 2000;

/** The module with another `run`, and without what it imports. */
function twinOf(text: string): string {
  const head = text.slice(0, text.indexOf("run:")).replace(/^import .*$/gm, "");
  return `${head.replace('"Attack"', '"Twin"')}run: () => "ok" };\n`;
}

/** It imports something when it is loaded, or says what it will import: there a refusal while loading counts. */
const isImporting = (text: string): boolean => /^import |\bimport\("/m.test(text);

/** The attack twice, since the second call meets what the first has left; around it those that must work. */
const CALLS = callOf("Twin:t") + callOf("Attack:a") + callOf("Attack:b") + callOf("Twin:z") +
  callOf("Calculate:c", { expression: "1+1" });

async function attacked(file: string): Promise<readonly [AttackPlace, AttackRun, string]> {
  const text = await Deno.readTextFile(join(FOLDER, file));
  const place = await attackPlace({
    [`gadgets/${file}`]: text,
    "gadgets/twin.ts": twinOf(text),
    "gadgets/_shout.ts": await Deno.readTextFile(join(FOLDER, "_shout.ts")),
  });
  return [place, await place.run(CALLS), text];
}

const files = [...Deno.readDirSync(FOLDER)].map(({ name }) => name)
  .filter((name) => /^[^_].*\.ts$/.test(name)).sort();

for (const file of files.filter((name) => !name.startsWith("ok_"))) {
  Deno.test(`sandbox attack: ${file}`, async () => {
    const [held, run, text] = await attacked(file);
    await using place = held;
    for (const id of ["t", "z"]) assert.equal(run.outcome(id).result, "ok", run.outcome(id).error);
    assert.equal(run.outcome("c").result, 2);
    for (const id of ["a", "b"]) {
      const { isError, code, error, ms } = run.outcome(id);
      assert.ok(!["unknown-gadget", "not-trusted"].includes(code), error);
      if (!isImporting(text)) assert.notEqual(code, "unavailable", error);
      if (isError) assert.ok(error.trim() !== "", "an error says what happened");
      assert.ok(ms <= TIMEOUT_MS + SLACK_MS, `call ${id} took ${ms} ms`);
    }
    assert.equal(run.events.at(-1)?.type, "run-end");
    assert.ok([0, 1, 5, 124].includes(run.exitCode), `exit code ${run.exitCode}\n${run.stderr}`);
    await place.assertHarmless(run);
  });
}

for (const file of files.filter((name) => name.startsWith("ok_"))) {
  Deno.test(`sandbox attack: ${file} is none`, async () => {
    const [held, run] = await attacked(file);
    await using place = held;
    for (const id of ["a", "b"]) assert.equal(run.outcome(id).result, "OK", run.outcome(id).error);
    assert.equal(run.exitCode, 0, run.stderr);
    await place.assertHarmless(run);
  });
}

Deno.test("sandbox attack: none has been forgotten", () => {
  assert.ok(files.length >= 19, files.join(", "));
});
