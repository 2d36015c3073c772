// A gadget that plays with its facades (tests/sandbox/attacks/facade_games.js), called through the command line, in the form that
// ORRERY_BINARY says: it gets nothing, and whatever it breaks, it breaks for itself.

import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT } from "./_run.ts";
import { type AttackPlace, attackPlace, type AttackRun, callOf } from "./sandbox/_place.ts";

const ATTACKS = join(PROJECT_ROOT, "tests/sandbox/attacks");
const TWIN = `export default { name: "Twin", description: "Test.", run: () => "ok" };\n`;

async function gamesPlace(): Promise<AttackPlace> {
  const source = (name: string) => Deno.readTextFile(join(ATTACKS, name));
  return await attackPlace({
    "gadgets/attack.js": await source("facade_games.js"),
    "gadgets/_ways.js": await source("_ways.js"),
    "gadgets/twin.js": TWIN,
    "data/fine.txt": "fine",
  });
}

/** Each way is one call, between two of another gadget's. */
async function played(place: AttackPlace, ways: readonly string[]): Promise<AttackRun> {
  const calls = ways.map((way, n) => callOf(`Attack:a${n}`, { way })).join("");
  const run = await place.run(callOf("Twin:t") + calls + callOf("Twin:z"), {
    args: ["--allow-gadget", "Attack=read:data"],
    timeoutSeconds: 10,
  });
  for (const id of ["t", "z"]) assert.equal(run.outcome(id).result, "ok", run.outcome(id).error);
  assert.equal(run.events.at(-1)?.type, "run-end");
  await place.assertHarmless(run);
  for (const path of [join(PROJECT_ROOT, "lib"), "deno-compile", `${place.temporary}/`]) {
    assert.ok(!run.stdout.includes(path), `the events name ${path}`);
  }
  return run;
}

for (const way of ["LYING", "REENTRANT", "STACKS", "INSIDE", "WATCHED"]) {
  Deno.test(`facade games: ${way}`, async () => {
    await using place = await gamesPlace();
    const run = await played(place, [way, "honest"]);
    const { result, error } = run.outcome("a0");
    assert.ok(typeof result === "object" && result !== null && "tried" in result && "got" in result, error);
    assert.ok(Number(result.tried) > 5, `${result.tried} were tried`);
    assert.deepEqual(result.got, []);
    assert.equal(run.outcome("a1").result, "fine fine", run.outcome("a1").error);
  });
}

const HEAVY = ["atomics", "wasmModule", "microtasks", "weak", "disposal", "late", "wasmMemory"];
Deno.test("facade games: what takes time, memory, or comes late leaves the next call alone", async () => {
  await using place = await gamesPlace();
  const run = await played(place, HEAVY.flatMap((name) => [`HEAVY ${name}`, "honest"]));
  for (const [n, name] of HEAVY.entries()) {
    const { isError, result, error } = run.outcome(`a${2 * n}`);
    if (name === "disposal") assert.equal(error, "disposed");
    else assert.ok(isError || result === "done", `${name}: ${JSON.stringify(result)}`);
    const honest = run.outcome(`a${2 * n + 1}`);
    assert.equal(honest.result, "fine fine", `after ${name}: ${honest.error}`);
  }
});

const BREAKING = [
  "accessors",
  "thenable",
  "species",
  "errors",
  "iteration",
  "strings",
  "functions",
  "urls",
  "codecs",
  "promises",
  "events",
];
for (const name of BREAKING) {
  Deno.test(`facade games: a language that is broken (${name}) is the gadget's own affair`, async () => {
    await using place = await gamesPlace();
    const run = await played(place, [`BREAKING ${name}`, "honest"]);
    for (const id of ["a0", "a1"]) {
      const { isError, error, result } = run.outcome(id);
      if (isError) assert.notEqual(error.trim(), "", name);
      else assert.ok(JSON.stringify(result).length < 100, JSON.stringify(result));
    }
  });
}
