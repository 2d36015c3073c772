import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { journalChild } from "./_journal_child.ts";
import { journalAt } from "./_journal_file.ts";

/** Kills a process that commits, some time after its first word; gives how many steps it had said were done. */
export async function killedWhileCommitting(
  path: string,
  { killAfterMs }: { readonly killAfterMs: number },
): Promise<number> {
  const process = journalChild("commit", path);
  let said = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  for await (const text of process.stdout.pipeThrough(new TextDecoderStream())) {
    said += text;
    timer ??= setTimeout(() => process.kill("SIGKILL"), killAfterMs);
  }
  await process.status;
  const [id = "", ...lines] = said.split("\n").slice(0, -1);
  using journal = journalAt(path);
  const { steps, events } = journal.read(id);
  const kept = new Map(steps.map((step) => [step.key, step]));
  for (const line of lines) {
    const [what, key = ""] = line.split(" ");
    assert.ok(kept.has(key), `${line}: it is not there`);
    if (what === "done") assert.equal(kept.get(key)?.status, "finished", line);
  }
  const finished = steps.filter(({ status }) => status === "finished").length;
  assert.ok(events.length >= finished, "each outcome came with its event");
  const run = journal.open(id);
  for (const { key, kind, name, input, idempotent, status } of steps) {
    const turn = run.begin({ key, kind, name, input, idempotent });
    assert.equal(turn.do, status === "finished" ? "answer" : idempotent ? "perform" : "unverified");
  }
  run.release("done");
  const database = new DatabaseSync(path);
  assert.deepEqual(Object.values(database.prepare("PRAGMA integrity_check").get() ?? {}), ["ok"]);
  database.close();
  return lines.filter((line) => line.startsWith("done")).length;
}
