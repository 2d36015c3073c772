// Attacks of our own, each called through the command line, in the form that ORRERY_BINARY says: tests/sandbox/_attack_table.ts.

import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT } from "../_run.ts";
import { NEVER_LOADED, OWN_ATTACKS, type OwnAttack } from "../sandbox/_attack_table.ts";
import { BESIDE_TRICKS, HARMLESS_TRICKS, IMPORT_TRICKS } from "../sandbox/_import_tricks.ts";
import { type AttackPlace, attackPlace, callOf, SLACK_MS } from "../sandbox/_place.ts";
import { thoroughTest } from "../_thorough.ts";

const ATTACKS = join(PROJECT_ROOT, "tests/sandbox/attacks");
const TWIN = `export default { name: "Twin", description: "Test.", run: () => "ok" };\n`;

const source = (file: string): Promise<string> => Deno.readTextFile(join(ATTACKS, file));

/** Writes files, and links where the text begins with an arrow. */
async function addAll(place: AttackPlace, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    if (!text.startsWith("-> ")) await place.add(path, text);
    else {
      await place.add(`${path}.later`, "");
      await Deno.remove(join(place.project.folder, `${path}.later`));
      await Deno.symlink(place.filled(text.slice(3)), join(place.project.folder, path));
    }
  }
}

async function tryAttack(attack: OwnAttack): Promise<void> {
  const { file, ways = [""], timeoutSeconds = 2, grants = [], args = [], childMb = 700, ownMb = 700 } =
    attack;
  await using place = await attackPlace({
    "gadgets/attack.js": await source(file),
    "gadgets/_ways.js": await source("_ways.js"),
    "gadgets/twin.js": TWIN,
  });
  await addAll(place, attack.files ?? {});
  const calls = ways.map((way, n) => callOf(`Attack:a${n}`, way === "" ? {} : { way })).join("");
  const run = await place.run(callOf("Twin:t") + calls + callOf("Twin:z"), {
    args: [...grants.flatMap((grant) => ["--allow-gadget", `Attack=${grant}`]), ...args],
    timeoutSeconds,
    timeoutMs: 30_000 + ways.length * (timeoutSeconds * 1000 + SLACK_MS),
    ...(attack.env && { env: attack.env }),
    ...(attack.stdin && { stdin: attack.stdin }),
  });
  assert.ok(run.stdoutBytes < 64 * 2 ** 20, `${run.stdoutBytes} bytes of events`);
  for (const id of ["t", "z"]) assert.equal(run.outcome(id).result, "ok", run.outcome(id).error);
  for (const [n, way] of ways.entries()) {
    const outcome = run.outcome(`a${n}`);
    assert.ok(!["unknown-gadget", "not-trusted"].includes(outcome.code), outcome.error);
    assert.ok(outcome.ms <= timeoutSeconds * 1000 + SLACK_MS, `${way} took ${outcome.ms} ms`);
    attack.ends(outcome, way);
  }
  assert.equal(run.events.at(-1)?.type, "run-end");
  assert.ok(run.ownPeakMb < ownMb, `Orrery held ${run.ownPeakMb} MB`);
  assert.ok(run.childPeakMb < childMb, `the process of a gadget held ${run.childPeakMb} MB`);
  await place.assertHarmless(run, { ...(attack.written && { written: attack.written }) });
  assertNoPaths(place, run.stdout);
}

/** Nothing is told of where Orrery and its temporary files are. */
function assertNoPaths(place: AttackPlace, told: string): void {
  for (const path of [`${place.temporary}/`, join(PROJECT_ROOT, "lib"), "deno-compile"]) {
    const at = told.indexOf(path);
    assert.ok(at < 0, `the events name ${path}: ${told.slice(Math.max(0, at - 200), at + 100)}`);
  }
}

/** Of memory and floods there is one of each among the attacks of the specification too. */
const HEAVY = new Set(["big_results.js", "memory.js", "floods.js", "endless_stream.js"]);

for (const attack of OWN_ATTACKS) {
  const test = HEAVY.has(attack.file) ? thoroughTest : Deno.test;
  test(`sandbox attack of our own: ${attack.what} (${attack.file})`, () => tryAttack(attack));
}

Deno.test("sandbox attack of our own: imports that are hard to see", async (t) => {
  await using place = await attackPlace({ "gadgets/twin.ts": TWIN });
  await addAll(place, BESIDE_TRICKS);
  const tricks = Object.entries(IMPORT_TRICKS).map(([what, text], n) => ({ what, text, name: `trick${n}` }));
  for (const { text, name } of tricks) {
    await place.add(`gadgets/${name}.ts`, text.replace('name: "Attack"', `name: "${name}"`));
  }
  // One run for all: each has a process of its own, or none.
  const calls = tricks.map(({ name }) => callOf(`${name}:${name}`)).join("");
  const run = await place.run(callOf("Twin:t") + calls + callOf("Twin:z"), { timeoutMs: 120_000 });
  for (const id of ["t", "z"]) assert.equal(run.outcome(id).result, "ok", run.outcome(id).error);
  for (const { what, name } of tricks) {
    await t.step(what, () => {
      const { isError, error, result, code } = run.outcome(name);
      assert.ok(!["unknown-gadget", "not-trusted"].includes(code), error);
      if (!HARMLESS_TRICKS.includes(what)) assert.ok(isError, JSON.stringify(result));
    });
  }
  await place.assertHarmless(run);
});

Deno.test("sandbox attack of our own: two gadgets that try to reach each other", async () => {
  await using place = await attackPlace({
    "gadgets/writer.js": await source("pair_writer.js"),
    "gadgets/reader.js": await source("pair_reader.js"),
    "gadgets/_ways.js": await source("_ways.js"),
  });
  const calls = callOf("Writer:w") + callOf("Reader:r");
  const run = await place.run(calls, { concurrency: 4, timeoutSeconds: 20 });
  assert.equal(run.outcome("w").result, "alive", run.outcome("w").error);
  const { result, error } = run.outcome("r");
  assert.ok(typeof result === "object" && result !== null && "got" in result, error);
  assert.deepEqual(result.got, []);
  await place.assertHarmless(run);
  for (const path of ["/tmp/orrery-pair", "/dev/shm/orrery-pair"]) {
    assert.equal(await Deno.stat(path).then(() => true, () => false), false, `${path} was written`);
  }
});

Deno.test("sandbox attack of our own: a gadget with the name of a built-in one", async () => {
  await using place = await attackPlace({ "gadgets/namesake.js": await source("namesake.js") });
  const run = await place.run(callOf("Calculate:c", { expression: "1+1" }));
  assert.ok(!run.stdout.includes("FORGED"), run.stdout);
  assert.match(run.stdout + run.stderr, /gadgets\/namesake\.js/);
  await place.assertHarmless(run);
});

/** Control characters that a terminal or a reader of lines obeys. */
// deno-lint-ignore no-control-regex
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f\x9b]/;

Deno.test("sandbox attack of our own: control characters in the names of files and gadgets", async () => {
  const odd = "odd\u001b[2J\u001b]0;owned\u0007\rname";
  const text = `throw new Error("\\u001b[2J at load");\n`;
  await using place = await attackPlace({
    [`gadgets/${odd}.js`]: text,
    "gadgets/asks.js":
      `export default { name: "Asks", description: "a\\u001b[2Jb\\nc", permissions: { read: ["\\u001b]0;owned\\u0007x"], net: ["\\u001b[1Aexample.com"] }, run: () => Deno.readTextFileSync("\\u001b[2J") };\n`,
    "gadgets/throws.js":
      `export default { name: "Throws", description: "Test.", run: (_, { log }) => { log("\\u001b[2J logged\\r\\u0007"); throw new Error("\\u001b]0;owned\\u0007 thrown"); } };\n`,
  });
  await place.add("attack.calls", callOf("Asks:a") + callOf("Throws:b") + callOf(`odd:c`));
  for (const args of [["run", "attack.calls"], ["list", "gadgets"], ["show", "gadget", "Asks"]]) {
    const run = await place.command(args);
    assert.doesNotMatch(run.stderr, CONTROL, args.join(" "));
    assert.doesNotMatch(run.stdout, CONTROL, args.join(" "));
    await place.assertHarmless(run);
  }
});

Deno.test("sandbox attack of our own: modules that never load are an error, and do not hold up others", async () => {
  const files = [...NEVER_LOADED, "exits_on_load.js", "grows_on_load.js"];
  const modules = Object.fromEntries(
    await Promise.all(
      files.map(async (file, n) =>
        [`gadgets/${file}`, (await source(file)).replace("Attack", `Attack${n}`)] as const
      ),
    ),
  );
  const [running, listing] = await Promise.all(
    [0, 1].map(() => attackPlace({ ...modules, "gadgets/twin.js": TWIN })),
  );
  assert.ok(running !== undefined && listing !== undefined);
  await using _ = running;
  await using __ = listing;
  const calls = files.map((file) => callOf(`${file.replace(".js", "")}:${file.replace(".js", "")}`)).join("");
  const [run, list] = await Promise.all([
    running.run(calls + callOf("Twin:t"), { concurrency: 8 }),
    listing.command(["list", "gadgets"]),
  ]);
  assert.equal(run.outcome("t").result, "ok", run.outcome("t").error);
  for (const file of files) {
    const { isError, error, ms } = run.outcome(file.replace(".js", ""));
    assert.ok(isError && error.trim() !== "", file);
    assert.ok(ms <= 2000 + SLACK_MS, `${file} took ${ms} ms`);
  }
  assert.match(list.stdout, /Twin/, list.stderr);
  await running.assertHarmless(run);
  await listing.assertHarmless(list);
});
