// Whatever is done, in whatever order, memory and SQLite say the same.

import assert from "node:assert/strict";
import fc from "fast-check";
import type { Journal, RunJournal, StepStart } from "../mod.ts";
import { type Place, PLACES } from "./_journal_places.ts";

type Action =
  | { readonly do: "create" | "open" | "dies" | "remove" | "read" }
  | {
    readonly do: "begin" | "finish" | "prefix" | "settle" | "rerun" | "fork";
    readonly key: number;
    readonly value: number;
  }
  | { readonly do: "tell" | "file"; readonly value: number }
  | { readonly do: "release"; readonly value: number }
  | { readonly do: "save" | "messages" | "branch"; readonly value: number };

const key = fc.nat({ max: 4 });
const value = fc.nat({ max: 1 });
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("create", "open", "dies", "remove", "read") }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom("begin", "finish", "prefix", "settle", "rerun", "fork"),
      key,
      value,
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("tell", "file"), value }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("release"), value: fc.nat({ max: 4 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom("save", "messages", "branch"), value: fc.nat({ max: 3 }) }),
  },
);

/** Steps with an even key are idempotent; nearly all have the same input each time. */
function stepOf({ key, value }: { readonly key: number; readonly value: number }): StepStart {
  const input: StepStart["input"] = key === 4 ? { value } : { a: [key], b: "x" };
  return { key: `call:${key}`, kind: "gadget", name: "X", input, idempotent: key % 2 === 0 };
}

/** Saves so many messages; their numbers are wrong when the count is 3. */
function save(run: RunJournal, count: number): void {
  const length = run.messages().length + (count === 3 ? 1 : 0);
  run.save({
    state: { length },
    messages: Array.from({ length: count }, (_, index) => ({
      n: length + index + 1,
      who: "user",
      text: `${index}`,
      steps: [],
    })),
    slots: [{ user: "u", name: `${count}`, value: length }],
  });
}

/** Does all of it in a place; gives what was said. */
function played(place: Place, actions: readonly Action[]): readonly unknown[] {
  let pid = 1;
  let seq = 0;
  let run: RunJournal | undefined;
  let journal: Journal = place.journal({ pid });
  const perform = (action: Action): unknown => {
    switch (action.do) {
      case "create":
        run = journal.create({
          kind: "calls",
          id: "the-run",
          input: { n: 1 },
          files: [{ path: "f", text: "f" }],
        });
        return run.run;
      case "open":
        run = journal.open("the-run");
        return [run.run, run.checkpoint, run.events, run.lastSeq, run.lastAt, run.usage, run.resumedFrom];
      case "dies":
        place.alive.set(pid, false);
        run = undefined;
        journal = place.journal({ pid: ++pid });
        return pid;
      case "remove":
        return journal.remove("the-run");
      case "read":
        return [journal.read("the-run"), journal.list().length, journal.slots({ user: "u" })];
      case "begin":
        return run?.begin(stepOf(action));
      case "finish":
        return run?.finish(
          `call:${action.key}`,
          action.value === 0 ? { ok: action.key } : { error: { message: "no" } },
        );
      case "prefix":
        return run?.prefix(`call:${action.key}`, { said: action.value });
      case "settle":
        return run?.settle(`call:${action.key}`, { outcome: { ok: "settled" } });
      case "rerun":
        return run?.settle(`call:${action.key}`, "rerun");
      case "fork": {
        const { summary: _, ...fork } = journal.read(journal.fork("the-run", { from: `call:${action.key}` }));
        const { messages, checkpoints } = fork;
        const events = fork.events.map((event) => ({ ...event, run: "" }));
        return [{ ...fork.run, id: "" }, fork.steps, events, messages, checkpoints];
      }
      case "branch": {
        const { summary: { status, steps, usage }, ...branch } = journal.read(
          journal.branch("the-run", { turn: action.value }),
        );
        const events = branch.events.map((event) => ({ ...event, run: "" }));
        return [status, steps, usage, { ...branch, run: { ...branch.run, id: "" }, events }];
      }
      case "save":
        return run === undefined ? undefined : save(run, action.value);
      case "messages":
        return run === undefined
          ? undefined
          : [run.messages({ from: action.value + 1, last: 2 }), run.slots({ user: "u" })];
      case "tell":
        return run?.tell({ type: "warning", text: `${action.value}`, seq: ++seq, at: seq, run: run.id });
      case "file":
        return run?.file({ path: "-", text: `${action.value}` });
      case "release":
        return run?.release(
          (["stopped", "held", "stopped", "held", "done"] as const)[action.value] ?? "failed",
        );
      default:
        return action satisfies never;
    }
  };
  return actions.map((action) => {
    place.pass(3);
    try {
      return perform(action) ?? null;
    } catch (error) {
      assert.ok(error instanceof Error);
      return `${error.name}: ${error.message}`;
    }
  });
}

function playedIn(kind: string, actions: readonly Action[]): readonly unknown[] {
  let said: readonly unknown[] = [];
  PLACES[kind]?.((place) => said = played(place, actions));
  return said;
}

Deno.test("property: memory and SQLite say the same, whatever is done", () => {
  const scene = fc.array(action, { minLength: 5, maxLength: 40 });
  fc.assert(
    fc.property(scene, (actions) => {
      const all: readonly Action[] = [{ do: "create" }, ...actions, { do: "read" }];
      assert.deepEqual(playedIn("SQLite", all), playedIn("memory", all));
    }),
    { numRuns: 100 },
  );
});
