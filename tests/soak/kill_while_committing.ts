// What a process said it had committed is in the journal, at whatever moment the process is killed.

import assert from "node:assert/strict";
import { withDatabaseFile } from "../_journal_file.ts";
import { killedWhileCommitting } from "../_killed_while_committing.ts";

const KILLS = 60;

/** Kills a process that commits steps to one database, again and again; gives what was seen. */
export async function killWhileCommitting(): Promise<string> {
  let steps = 0;
  await withDatabaseFile(async (path) => {
    for (let i = 0; i < KILLS; i++) steps += await killedWhileCommitting(path, { killAfterMs: 5 + 7 * i });
  });
  assert.ok(steps > KILLS * 10, `only ${steps} steps were committed`);
  return `${KILLS} processes killed, each of the ${steps} steps that they said were done is there`;
}
