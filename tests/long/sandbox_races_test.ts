// What changes between the look and the use: links, files and folders that somebody swaps all the time.

import assert from "node:assert/strict";
import { join } from "node:path";
import { FileError, PermissionRefused } from "../../mod.ts";
import { PROJECT_ROOT, testEnvironment } from "../_run.ts";
import { judgedFiles, OPERATIONS } from "../_judged_files.ts";
import { type AttackPlace, attackPlace, callOf, SECRET } from "../sandbox/_place.ts";
import { isThorough } from "../_thorough.ts";

const HERE = join(PROJECT_ROOT, "tests/sandbox");

/** Swaps what lies in a folder for links that lead to another one, and back, until it is disposed of. */
function swapper(folder: string, outside: string): AsyncDisposable {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-config",
      "--no-lock",
      "--quiet",
      join(HERE, "_swapper.ts"),
      folder,
      outside,
    ],
    cwd: folder,
    env: testEnvironment(),
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  return {
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await child.status;
    },
  };
}

/** Only while a run goes on: whoever looks at the folders around it would be held up by the pipes in them. */
function swapAll(swappers: AsyncDisposableStack, { project, outside }: AttackPlace): void {
  for (const folder of ["data", "out"]) swappers.use(swapper(join(project.folder, folder), outside));
}

Deno.test("sandbox races: links and folders swapped after the check lead nowhere", async () => {
  await using place = await attackPlace({
    "gadgets/attack.js": await Deno.readTextFile(join(HERE, "attacks/swapped_places.js")),
    ...Object.fromEntries(["data", "out"].flatMap((folder) => [
      [`${folder}/own.txt`, "fine"],
      [`${folder}/file.txt`, "fine"],
      [`${folder}/folder/secret.txt`, "fine"],
    ])),
  });
  await using swappers = new AsyncDisposableStack();
  const run = await place.run(callOf("Attack:a"), {
    args: ["--allow-gadget", "Attack=read:data", "--allow-gadget", "Attack=write:out"],
    timeoutSeconds: 20,
    during: () => swapAll(swappers, place),
  });
  await swappers.disposeAsync();
  const { result, error } = run.outcome("a");
  assert.ok(typeof result === "object" && result !== null && "secret" in result && "fine" in result, error);
  console.log(`swapped places: ${JSON.stringify(result)}`);
  assert.equal(result.secret, 0, JSON.stringify(result));
  assert.ok(Number(result.fine) > 20, `too little was read to say anything: ${JSON.stringify(result)}`);
  await place.assertHarmless(run, { written: /^project\/(data|out)(\/|$)/ });
});

/** Here enough to see it work; `deno task soak` asks for more. */
const ROUNDS = isThorough ? 3000 : 200;
const PATHS = ["data/link", "data/file.txt", "data/folder/file.txt", "data/pipe"];

for (const [name, work] of Object.entries(OPERATIONS)) {
  Deno.test(`sandbox races: ${name}, ${ROUNDS} times`, async () => {
    await using judged = judgedFiles();
    const { root, outside } = judged;
    const data = join(root, "data");
    const before = judged.outsideNow();
    await using _swapper = swapper(data, outside);
    await until(() => isLink(join(data, "link")));
    let done = 0;
    const isEnough = () => done > ROUNDS / 100;
    // A few hundred tries may all fall between two swaps.
    for (let round = 0; round < ROUNDS || !isEnough() && round < 40 * ROUNDS; round++) {
      if (round % 8 === 0) restore(data);
      const path = PATHS[round % PATHS.length] ?? "";
      try {
        const given = await work(judged, path);
        done++;
        assert.ok(!given.includes(SECRET) && !given.startsWith(outside), `${path} gave ${given}`);
      } catch (error) {
        assert.ok(error instanceof FileError || error instanceof PermissionRefused, `${error}`);
      }
    }
    assert.deepEqual(judged.outsideNow(), before);
    assert.ok(isEnough(), `only ${done} of ${ROUNDS} were done: too few to say anything`);
  });
}

/** What operations take away, and what those that make something find in their way. */
function restore(data: string): void {
  for (
    const work of [
      () => Deno.removeSync(join(data, "taken.txt")),
      () => Deno.removeSync(join(data, "folder/made.txt")),
      () => Deno.removeSync(join(data, "folder/made"), { recursive: true }),
      () => Deno.mkdirSync(join(data, "folder")),
      () => Deno.writeTextFileSync(join(data, "own.txt"), "own", { createNew: true }),
      () => Deno.writeTextFileSync(join(data, "file.txt"), "fine", { createNew: true }),
    ]
  ) {
    try {
      work();
    } catch { /* it is there, or it is gone */ }
  }
}

function isLink(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSymlink;
  } catch {
    return false;
  }
}

async function until(isSo: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1000; tries++) {
    if (isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("the swapper has not begun");
}

Deno.test("sandbox races: built-in gadgets with a part of the project granted", async () => {
  await using place = await attackPlace(Object.fromEntries(["data", "out"].flatMap((folder) => [
    [`${folder}/own.txt`, "fine"],
    [`${folder}/file.txt`, "fine"],
    [`${folder}/folder/secret.txt`, "fine"],
  ])));
  await using swappers = new AsyncDisposableStack();
  const calls = Array.from({ length: 200 }, (_, round) =>
    [
      ...["link", "file.txt", "folder/secret.txt", "pipe"].flatMap((name) => [
        callOf("ReadFile", { path: `data/${name}` }),
        callOf("WriteFile", { path: `out/${name}`, content: "overwritten" }),
        callOf("EditFile", { path: `out/${name}`, find: "overwritten", replace: `round ${round}` }),
      ]),
      callOf("ListFolder", { path: "data/folder" }),
      callOf("SearchText", { path: "data", pattern: "TOP.*" }),
      callOf("WriteFile", { path: `out/folder/new/${round}.txt`, content: "new" }),
    ].join(""));
  const run = await place.run(calls.join(""), {
    args: ["--allow-read=data,out", "--allow-write=out"],
    timeoutSeconds: 20,
    timeoutMs: 300_000,
    concurrency: 8,
    during: () => swapAll(swappers, place),
  });
  await swappers.disposeAsync();
  const results = run.events.filter(({ type }) => type === "call-result").length;
  console.log(`built-in gadgets: ${results} of ${200 * 15} calls gave a result`);
  assert.ok(results > 400, `${results} results are too few to say anything: ${run.stderr.slice(0, 2000)}`);
  await place.assertHarmless(run, { written: /^project\/(data|out)(\/|$)/ });
});
