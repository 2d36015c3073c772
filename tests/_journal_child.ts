// A process that uses a journal, for the tests that end it or run several at once: deno run -A _journal_child.ts MODE DATABASE [...]

import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import type { Journal, RunJournal } from "../mod.ts";
import { journalAt } from "./_journal_file.ts";
import { nextTurn, savedTurn } from "./_saved_turn.ts";
import { PROJECT_ROOT, testEnvironment } from "./_run.ts";

/** Starts one. */
export function journalChild(...args: readonly string[]): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--quiet",
      "--config",
      join(PROJECT_ROOT, "deno.json"),
      fileURLToPath(import.meta.url),
      ...args,
    ],
    clearEnv: true,
    env: testEnvironment(),
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
}

const [mode = "", path = "", ...rest] = Deno.args;

const print = (line: string): void => void Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));

/** Undefined while another process owns it. */
function maybeOpened(journal: Journal, id: string): RunJournal | undefined {
  try {
    return journal.open(id);
  } catch (error) {
    if (error instanceof Error && error.name === "RunOwnedError") return undefined;
    throw error;
  }
}

/** Waits for the same moment in several processes. */
function until(moment: number): void {
  while (Date.now() < moment) { /* a timer would be up to some milliseconds late */ }
}

function open(): Journal {
  return journalAt(path);
}

const MODES: Readonly<Record<string, () => void>> = {
  /** Commits steps without end, and says so of each behind its commit. */
  commit() {
    const run = open().create({ kind: "calls", input: null });
    print(run.id);
    for (let n = 1;; n++) {
      const key = `call:${n}`;
      run.begin({ key, kind: "gadget", name: "X", input: n, idempotent: n % 2 === 0 });
      if (n % 2 === 1) print(`begun ${key}`);
      run.tell({ type: "warning", text: "x".repeat(n % 7 * 300), seq: n, at: n, run: run.id });
      run.finish(key, { ok: { n, text: "y".repeat(n % 5 * 500) } });
      print(`done ${key}`);
    }
  },
  /** Commits answers of 40 calls without end, a piece with the start of each call, and says so of each behind its commit. */
  answer() {
    const run = open().create({ kind: "ask", input: null });
    print(run.id);
    for (let n = 1;; n++) {
      const key = `turn[${n}]/model`;
      run.begin({ key, kind: "model", name: "script/x", input: n, idempotent: true });
      for (let call = 0; call < 40; call++) {
        run.prefix(key, call);
        const start = { key: `${key}/${call}`, kind: "gadget", name: "X", input: call, idempotent: false };
        run.begin({ ...start, kind: "gadget" });
        print(start.key);
      }
      run.finish(key, { ok: n });
    }
  },
  /** Takes turns in a conversation without end, in one that is there or a new one, and says so of each behind its commit. */
  save() {
    const [id] = rest;
    const journal = open();
    let run = id === undefined ? journal.create({ kind: "conversation", input: null }) : journal.open(id);
    print(run.id);
    for (;;) {
      const n = nextTurn(run);
      run.save(savedTurn(n));
      run.release("held");
      print(`saved ${n}`);
      run = journal.open(run.id);
    }
  },
  /** Takes so many turns in a conversation that another process takes turns in too. */
  turns() {
    const [id = "", moment = "0", count = "0"] = rest;
    using journal = open();
    until(Number(moment));
    for (let left = Number(count); left > 0;) {
      const run = maybeOpened(journal, id);
      if (run === undefined) continue;
      const n = nextTurn(run);
      run.save(savedTurn(n));
      run.release("held");
      print(`saved ${n}`);
      left--;
    }
  },
  /** Opens a run at a moment, and holds it until it is killed. */
  take() {
    const [id = "", moment = "0"] = rest;
    const journal = open();
    until(Number(moment));
    try {
      journal.open(id);
      print("owned");
    } catch (error) {
      if (!(error instanceof Error) || error.name !== "RunOwnedError") throw error;
      print(error.message);
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  },
  /** Holds the lock of an empty database for a while. */
  hold() {
    const database = new DatabaseSync(path);
    database.exec("BEGIN IMMEDIATE");
    print("held");
    until(Date.now() + 300);
    database.exec("COMMIT");
  },
  /** Opens the database at a moment, which makes it, and keeps runs in it. */
  fill() {
    const [moment = "0", count = "0"] = rest;
    until(Number(moment));
    using journal = open();
    for (let n = 0; n < Number(count); n++) {
      const run = journal.create({ kind: "calls", input: n });
      run.begin({ key: "call:a", kind: "gadget", name: "X", input: n, idempotent: false });
      run.finish("call:a", { ok: n });
      run.release("done");
      print(run.id);
    }
  },
};

/** What a child has said, when it ended well. */
export async function linesOf(process: Deno.ChildProcess): Promise<readonly string[]> {
  const { code, stdout } = await process.output();
  assert.equal(code, 0);
  return new TextDecoder().decode(stdout).trim().split("\n");
}

if (import.meta.main) MODES[mode]?.();
