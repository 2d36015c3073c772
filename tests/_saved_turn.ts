import type { ConversationSave, LogEntry, RunJournal } from "../mod.ts";
// Turns of a conversation that can be told when they are torn: each is made of its number alone.

/** Whose slots the turns set. */
export const SAVED_SCOPES = [{ user: "ana" }, { user: "ana", module: "m", session: "s" }] as const;

/** What the turn leaves behind: now little, now some hundred pages of a database. */
export function savedTurn(n: number): ConversationSave {
  return {
    state: { turn: n, text: "s".repeat(n * 7919 % 60_000) },
    messages: savedMessages(n),
    slots: SAVED_SCOPES.flatMap((scope) => [{ ...scope, name: "turn", value: n }, {
      ...scope,
      name: "text",
      value: `${n}`.repeat(n % 5 * 1000),
    }]),
  };
}

function savedMessages(n: number): readonly LogEntry[] {
  return [
    { n: 2 * n - 1, who: "user", text: `question ${n}`, steps: ["main/ask"] },
    { n: 2 * n, who: "assistant", text: `${n} `.repeat(n * 104_729 % 40_000), steps: ["main/ask"] },
  ];
}

/** Does what is left of the next turn's steps, and tells of it; gives its number. */
export function nextTurn(run: RunJournal): number {
  const n = (run.checkpoint?.n ?? 0) + 1;
  let seq = run.lastSeq;
  const tell = (text: string): void => run.tell({ type: "warning", text, seq: ++seq, at: seq, run: run.id });
  tell(`turn ${n} begins`);
  const key = `turn[${n}]/model`;
  const { do: what } = run.begin({ key, kind: "model", name: "script/x", input: n, idempotent: true });
  if (what === "perform") run.finish(key, { ok: "x".repeat(n % 3 * 5000) });
  tell(`turn ${n} ends`);
  return n;
}
