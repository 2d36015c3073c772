// A turn of a conversation is there whole or not at all, at whatever moment its process is killed.

import assert from "node:assert/strict";
import { join } from "node:path";
import { databaseOf } from "../_journal_file.ts";
import { type KilledConversation, killedWhileSaving } from "../_killed_while_saving.ts";

const KILLS = 60;
/** Of one conversation, before another one begins. */
const KILLS_A_CONVERSATION = 12;

/** Kills a process that takes turns, again and again; gives what was seen. */
export async function killWhileSaving(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: "orrery-kill-" });
  try {
    let turns = 0;
    let before: KilledConversation | undefined;
    for (let i = 0; i < KILLS; i++) {
      // The slots of a user are those of all conversations, so each has a database.
      if (i % KILLS_A_CONVERSATION === 0) before = undefined;
      const root = join(folder, `${Math.floor(i / KILLS_A_CONVERSATION)}`);
      await Deno.mkdir(root, { recursive: true });
      const path = databaseOf(root);
      const killed: KilledConversation = await killedWhileSaving(path, { killAfterMs: 3 + 5 * i, before });
      turns += killed.turns - (before?.turns ?? 0);
      before = killed;
    }
    assert.ok(turns > KILLS * 3, `only ${turns} turns were saved`);
    return `${KILLS} processes killed, each of the ${turns} turns is there whole`;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
