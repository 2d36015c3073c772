// The attacks are real: where nothing holds them, in Orrery's own process (`isolation: none`, trusted), each of them gets what it is after.
// So a test that finds nothing has found a wall, and not a broken attack.

import assert from "node:assert/strict";
import { join } from "node:path";
import { compiledBinary, PROJECT_ROOT, runProgram } from "../_run.ts";
import { NEVER_LOADED, OWN_ATTACKS } from "../sandbox/_attack_table.ts";
import { BESIDE_TRICKS, HARMLESS_TRICKS, IMPORT_TRICKS } from "../sandbox/_import_tricks.ts";
import { type AttackPlace, attackPlace, type AttackRun, callOf, SECRET } from "../sandbox/_place.ts";

const [CASES, OWN] = [join(PROJECT_ROOT, "tests/spec/sandbox"), join(PROJECT_ROOT, "tests/sandbox/attacks")];

const NO_SANDBOX = JSON.stringify({
  gadgets: { isolation: { "gadgets/attack.js": "none", Attack: "none", Twin: "none" } },
  grants: { "gadgets/attack.js": "trusted", Attack: "trusted", Twin: "trusted" },
});

/** Tells what the prototype of all objects has. */
const TWIN = `export default { name: "Twin", description: "Test.", run: () => String(({}).isAdmin) };\n`;

/** Where Deno checks nothing of a trusted module there is nothing more to see in a binary, which has no types there. */
const reason = compiledBinary() === undefined ? undefined : "a trusted module in TypeScript needs deno run";
if (reason !== undefined) console.log(`not run here: that attacks are real; ${reason}`);

/** What comes of an attack that nothing holds. */
type Harm = (place: AttackPlace, run: Promise<AttackRun>) => Promise<void>;

const readsTheSecret: Harm = async (_place, run) => {
  const { result, error } = (await run).outcome("a");
  // Deno 2.6 has no imports of texts.
  if (/attribute type of "text" is unsupported/.test(error)) return console.log(`not run here: ${error}`);
  assert.ok(String(JSON.stringify(result)).includes(SECRET), `${JSON.stringify(result)} ${error}`);
};

/** It gives a list of what it got; some of it, since not every way is one in every version of Deno. */
const getsSomething: Harm = async (_place, run) => {
  const { result, error } = (await run).outcome("a");
  assert.ok(typeof result === "object" && result !== null && "got" in result, error);
  assert.ok(Array.isArray(result.got) && result.got.length > 0, "it got nothing");
};

const asksTheServer: Harm = async ({ received }, run) => {
  await run;
  assert.ok(received.length > 0, "nobody asked the server");
};

const pollutesOthers: Harm = async (_place, run) => assert.equal((await run).outcome("t").result, "true");

/** Beside an attack that ends Orrery: an end that comes a turn of the event loop later still comes before that of the run. */
const GOES_ON = callOf("Wait:w", { seconds: 2 });

const endsOrrery: Harm = async (_place, run) => {
  const { events } = await run;
  assert.notEqual(events.at(-1)?.type, "run-end");
};

const killsOrrery: Harm = (_place, run) => assert.rejects(run, /orrery was ended by SIG/);

const holdsOrreryUp: Harm = (_place, run) => assert.rejects(run, /not done after 2500 ms/);

const OF_CASES: Readonly<Record<string, Harm>> = {
  "endless_loop.ts": holdsOrreryUp,
  "exit.ts": endsOrrery,
  "out_of_memory.ts": killsOrrery,
  "pollute.ts": pollutesOthers,
};

const OF_OWN: Readonly<Record<string, Harm>> = {
  "internals.js": getsSomething,
  "code_from_strings.js": getsSomething,
  "loopback_port.js": asksTheServer,
  "paths.js": getsSomething,
  "own_files.js": getsSomething,
  "kernel_files.js": holdsOrreryUp, // it reads what has no end
  "forged_messages.js": holdsOrreryUp, // it reads what Orrery would read
  "node_modules.js": getsSomething,
  "loopback_spellings.js": asksTheServer,
  "environment.js": getsSomething,
  "standard_input.js": getsSomething,
  "messages_of_the_process.js": endsOrrery,
  "exits_on_load.js": endsOrrery,
  "loads_for_ever.js": holdsOrreryUp,
  "grows_on_load.js": killsOrrery,
};

/** There is nothing to see of these where everything is allowed, or nothing that would end: what they are, and why. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  "fork_bomb.js": "its processes would live on",
  "globals_replaced.js": "it is about what the process of a gadget says of itself",
  "late_messages.js": "so is this",
  "lying_manifest.js": "a trusted gadget is asked for no permission",
  "never_loads.js": "loading has a limit there, too",
};

function attackTest(
  name: string,
  files: () => Promise<Record<string, string>>,
  harm: Harm,
  stdin = "",
): void {
  Deno.test({
    name: `sandbox: an attack that is real: ${name}`,
    ignore: reason !== undefined,
    async fn() {
      await using place = await attackPlace({
        ...await files(),
        "gadgets/twin.js": TWIN,
        "orrery.yaml": NO_SANDBOX,
      });
      const calls = callOf("Attack:a") + callOf("Twin:t") + (harm === endsOrrery ? GOES_ON : "");
      const run = place.run(calls, {
        args: ["--trust-project"],
        env: { DENO_V8_FLAGS: "--max-old-space-size=150" },
        timeoutMs: harm === holdsOrreryUp ? 2500 : 40_000,
        timeoutSeconds: 30,
        stdin,
      });
      await harm(place, run);
    },
  });
}

const textOf = (folder: string, file: string): Promise<string> => Deno.readTextFile(join(folder, file));
const cases = [...Deno.readDirSync(CASES)].map(({ name }) => name).filter((name) =>
  /^(?!ok_|_).*\.ts$/.test(name)
);
const files = [
  ...new Set(OWN_ATTACKS.filter(({ ways }) => ways === undefined).map(({ file }) => file)),
  ...NEVER_LOADED,
];

for (const file of cases.sort()) {
  const read = async () => ({ [`gadgets/${file}`]: await textOf(CASES, file) });
  attackTest(file, read, OF_CASES[file] ?? readsTheSecret);
}

for (const file of files) {
  const harm = OF_OWN[file];
  const attack = OWN_ATTACKS.find((each) => each.file === file);
  if (harm === undefined) console.log(`not run here: that ${file} is real; ${LEFT_OUT[file]}`);
  else {
    const read = async () => ({
      ...Object.fromEntries(
        Object.entries(attack?.files ?? {}).filter(([, text]) => !text.startsWith("-> ")),
      ),
      "gadgets/attack.js": await textOf(OWN, file),
      "gadgets/_ways.js": await textOf(OWN, "_ways.js"),
    });
    attackTest(file, read, harm, attack?.stdin);
  }
}

Deno.test("sandbox: every attack is tried where nothing holds it, or there is a reason", () => {
  assert.deepEqual([...Object.keys(OF_OWN), ...Object.keys(LEFT_OUT)].sort(), [...files].sort());
});

/** Runs in a process of its own: imports each module as Deno does, and tells what its gadget gives. */
const IMPORTS_ALL = `addEventListener("unhandledrejection", (event) => event.preventDefault());
const told = {};
for (const [what, url] of JSON.parse(Deno.args[0])) {
  try {
    told[what] = JSON.stringify(await (await import(url)).default.run({}, {}));
  } catch (error) {
    told[what] = String(error);
  }
}
console.log(JSON.stringify(told));`;

Deno.test("sandbox: imports that are hard to see are imports", async () => {
  await using place = await attackPlace();
  const names = new Map<string, string>();
  for (const [path, text] of Object.entries(BESIDE_TRICKS)) {
    if (!text.startsWith("-> ")) await place.add(path, text);
    else await Deno.symlink(place.filled(text.slice(3)), join(place.project.folder, path));
  }
  // Phases come last: the loader of Deno 2.9 loads a module no more whose source it would not give.
  const isPhase = ([what]: readonly [string, string]) => Number(/phase|deferred/.test(what));
  const tricks = Object.entries(IMPORT_TRICKS).toSorted((a, b) => isPhase(a) - isPhase(b));
  for (const [n, [what, text]] of tricks.entries()) {
    if (HARMLESS_TRICKS.includes(what)) continue;
    await place.add(`gadgets/trick${n}.ts`, text);
    names.set(what, `file://${join(place.project.folder, "gadgets", `trick${n}.ts`)}`);
  }
  await place.add("all.js", IMPORTS_ALL);
  const command = [Deno.execPath(), "run", "-A", "--quiet", "--no-config", "--no-lock", "all.js"];
  const { stdout, stderr } = await runProgram([...command, JSON.stringify([...names])], {
    cwd: place.project.folder,
    timeoutMs: 60_000,
  });
  const told: Readonly<Record<string, string>> = JSON.parse(stdout || "{}");
  const real = Object.keys(told).filter((what) => told[what]?.includes(SECRET));
  const others = Object.entries(told).filter(([what]) => !real.includes(what));
  assert.ok(real.length >= 40, `${real.length} of ${names.size}: ${JSON.stringify(others)} ${stderr}`);
  console.log(
    `imports that Deno does not do either, or that give it nothing: ${JSON.stringify(others)}`,
  );
});
