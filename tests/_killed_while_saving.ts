import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { journalChild } from "./_journal_child.ts";
import { journalAt } from "./_journal_file.ts";
import { SAVED_SCOPES, savedTurn } from "./_saved_turn.ts";

/** What a process that was killed has left. */
export interface KilledConversation {
  readonly id: string;
  /** How many turns it has now. */
  readonly turns: number;
}

/**
 * Kills a process that takes turns in a conversation, some time after its first word: each turn is there whole or not at all, and every
 * one that it had said was saved.
 *
 * @param options.before what an earlier one has left; the turns go on there
 */
export async function killedWhileSaving(
  path: string,
  { killAfterMs, before }: { readonly killAfterMs: number; readonly before?: KilledConversation | undefined },
): Promise<KilledConversation> {
  const process = journalChild("save", path, ...(before === undefined ? [] : [before.id]));
  let said = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  for await (const text of process.stdout.pipeThrough(new TextDecoderStream())) {
    said += text;
    timer ??= setTimeout(() => process.kill("SIGKILL"), killAfterMs);
  }
  await process.status;
  const [id = "", ...lines] = said.split("\n").slice(0, -1);
  const saidTurns = Number(lines.at(-1)?.split(" ")[1] ?? before?.turns ?? 0);
  const turns = assertWhole(path, id);
  assert.ok(turns === saidTurns || turns === saidTurns + 1, `${saidTurns} were saved, ${turns} are there`);
  const database = new DatabaseSync(path);
  assert.deepEqual(Object.values(database.prepare("PRAGMA integrity_check").get() ?? {}), ["ok"]);
  database.close();
  return { id, turns };
}

/** Gives how many turns there are. */
function assertWhole(path: string, id: string): number {
  using journal = journalAt(path);
  const { checkpoints, messages, steps } = journal.read(id);
  const turns = checkpoints.length;
  const all = Array.from({ length: turns }, (_, index) => savedTurn(index + 1));
  assert.deepEqual(checkpoints, all.map((_, index) => ({ n: index + 1, messages: 2 * (index + 1) })));
  assert.deepEqual(messages, all.flatMap(({ messages }) => messages));
  const last = all.at(-1);
  for (const scope of SAVED_SCOPES) {
    const wanted = last?.slots.filter(({ module }) =>
      module === ("module" in scope ? scope.module : undefined)
    );
    const slots = Object.fromEntries(wanted?.map(({ name, value }) => [name, value]) ?? []);
    assert.deepEqual(journal.slots(scope), slots);
  }
  const done = new Set(steps.filter(({ status }) => status === "finished").map(({ key }) => key));
  for (let n = 1; n <= turns; n++) assert.ok(done.has(`turn[${n}]/model`), `the step of turn ${n}`);
  assert.ok(done.size <= turns + 1);
  const run = journal.open(id);
  assert.deepEqual(run.checkpoint?.state, last?.state);
  for (const event of run.events) assert.match(JSON.stringify(event), new RegExp(`turn ${turns + 1} `));
  run.release("held");
  return turns;
}
