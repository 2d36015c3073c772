// A project that is held open is as its files are now, whenever they change while it is looked at.

import assert from "node:assert/strict";
import { join } from "node:path";
import { createSecrets } from "../lib/journal/secrets.ts";
import { NO_GRANTS } from "../lib/project/trust/grants.ts";
import { ProjectHold } from "../lib/service/project_hold.ts";
import { testProject } from "./_project.ts";

const LOOKED_AGAIN_MS = 1_050;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const GOOD = "limits: { runs: 3 }\n";
const BAD = "limits: { runs: x }\n";
const NEW = "limits: { runs: 4 }\n";

/** A project whose settings are written in place, at a time that all writes have in common when it is given. */
async function heldProject(): Promise<
  AsyncDisposable & {
    readonly hold: ProjectHold;
    readonly notices: readonly string[];
    write(text: string, at?: Date): void;
    runs(): Promise<number>;
  }
> {
  const project = await testProject({ "orrery.yaml": GOOD });
  const notices: string[] = [];
  const hold = await ProjectHold.open({
    root: await Deno.realPath(project.folder),
    grants: NO_GRANTS,
    ephemeral: true,
    notice: (text) => void notices.push(text),
    secrets: createSecrets(),
  });
  const path = join(project.folder, "orrery.yaml");
  return {
    hold,
    notices,
    write(text, at) {
      Deno.writeTextFileSync(path, text);
      if (at !== undefined) Deno.utimeSync(path, at, at);
    },
    async runs() {
      await pause(LOOKED_AGAIN_MS);
      return (await hold.current()).project.config.limits.runs;
    },
    async [Symbol.asyncDispose]() {
      await hold[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
    },
  };
}

Deno.test("settings that could not be read are read when they are repaired, also in the same moment", async () => {
  const at = new Date(Date.now() - 60_000);
  for (const repaired of [NEW, GOOD]) {
    await using held = await heldProject();
    held.write(BAD, at);
    assert.equal(await held.runs(), 3);
    assert.equal(held.notices.length, 1);
    assert.equal(await held.runs(), 3);
    assert.equal(held.notices.length, 1, "it is said once");
    held.write(repaired, at);
    const before = held.hold.latest;
    assert.equal(await held.runs(), repaired === NEW ? 4 : 3);
    assert.notEqual(held.hold.latest, before, "they were read");
    held.write(GOOD, at);
    assert.equal(await held.runs(), 3, "a good state may change in the same moment, too");
    assert.equal(held.notices.length, 1);
  }
});

Deno.test("settings that are repaired while they are read are seen at the next look", async () => {
  await Promise.all(Array.from({ length: 24 }, async (_, delay) => {
    await using held = await heldProject();
    await pause(LOOKED_AGAIN_MS);
    held.write(BAD);
    const looked = held.hold.current();
    for (let turn = 0; turn < delay; turn++) await Promise.resolve();
    if (delay % 2 === 1) await pause(delay / 4);
    held.write(NEW);
    await looked;
    assert.equal(await held.runs(), 4, `repaired after ${delay} turns`);
  }));
});
