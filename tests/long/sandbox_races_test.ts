// What changes between the look and the use: links, files and folders that somebody swaps all the time.

import assert from "node:assert/strict";
import { join } from "node:path";
import { PROJECT_ROOT, testEnvironment } from "../_run.ts";
import { type AttackPlace, attackPlace, callOf } from "../sandbox/_place.ts";

const HERE = join(PROJECT_ROOT, "tests/sandbox");

/** Swaps what lies in this folder of the project until it is disposed of. */
function swapper(place: AttackPlace, folder: string): AsyncDisposable {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-config",
      "--no-lock",
      "--quiet",
      join(HERE, "_swapper.ts"),
      folder,
      place.outside,
    ],
    cwd: place.project.folder,
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

Deno.test("sandbox races: links and folders swapped after the check lead nowhere", async () => {
  await using place = await attackPlace({
    "gadgets/attack.js": await Deno.readTextFile(join(HERE, "attacks/swapped_places.js")),
    ...Object.fromEntries(["data", "out"].flatMap((folder) => [
      [`${folder}/own.txt`, "fine"],
      [`${folder}/file.txt`, "fine"],
      [`${folder}/folder/secret.txt`, "fine"],
    ])),
  });
  await using _data = swapper(place, join(place.project.folder, "data"));
  await using _out = swapper(place, join(place.project.folder, "out"));
  const run = await place.run(callOf("Attack:a"), {
    args: ["--allow-gadget", "Attack=read:data", "--allow-gadget", "Attack=write:out"],
    timeoutSeconds: 20,
  });
  const { result, error } = run.outcome("a");
  assert.ok(typeof result === "object" && result !== null && "secret" in result && "fine" in result, error);
  console.log(`swapped places: ${JSON.stringify(result)}`);
  assert.equal(result.secret, 0, JSON.stringify(result));
  assert.ok(Number(result.fine) > 20, `too little was read to say anything: ${JSON.stringify(result)}`);
  await place.assertHarmless(run, { written: /^project\/(data|out)(\/|$)/ });
});
