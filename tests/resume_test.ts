// A run that ends at any operation of its journal and is gone on with (turn.md 3): the same result, no finished effect done twice.
// The journal stops working at operation N, before or after it was done, for every N: what a kill leaves behind, without the process.
import assert from "node:assert/strict";
import {
  type AnyGadget,
  ask,
  chat,
  createCatalog,
  type DialogOptions,
  type Journal,
  memoryJournal,
  ModelError,
  type ModelPart,
  runCalls,
  type RunEvent,
  type RunJournal,
  systemClock,
} from "../mod.ts";
import { mortalJournal } from "./_mortal_journal.ts";
import { testProject } from "./_project.ts";
import { type Script, scriptedModel } from "./_scripted_model.ts";
import { goneOn, inBothJournals, strictJournal } from "./_strict_steps.ts";

interface Case {
  start(options: { readonly journal?: RunJournal }, effects: Effects): AsyncIterable<RunEvent>;
}

/** How often each effect was done, to its end. */
type Effects = Map<string, number>;

function gadgets(effects: Effects): readonly AnyGadget[] {
  const did = (name: string): void => void effects.set(name, (effects.get(name) ?? 0) + 1);
  const make = (name: string, more: Partial<AnyGadget>): AnyGadget => ({
    name,
    description: "Test.",
    run: async (input: { text?: unknown }, { invocationId }: { invocationId: string }) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      did(`${name}:${invocationId}`);
      return `${name} ${input.text ?? ""}`;
    },
    ...more,
  } as AnyGadget);
  return [
    make("Safe", { idempotent: true }),
    make("Once", {}),
    make("Fails", { run: () => (did("Fails"), Promise.reject(new Error("no luck"))) }),
  ];
}

const block = (header: string, rest = ""): string => `!!!GADGET_START:${header}\n${rest}!!!GADGET_END\n`;

const FILE = block("Once:a") + block("Safe:b") +
  block("Once:c:a,b", "!!!ARG:text\n{{results.a}}{{results.b}}\n") +
  block("Fails:f") + block("Once:g:f") + block("Safe:d:c");

const SCRIPTS: readonly Script[] = [
  [
    `Hm.\n${block("Once:a")}${block("Safe:b")}`,
    4,
    `${block("Once:c:a", "!!!ARG:text\n{{results.a}}\n")} and so on`,
  ],
  [block("Safe:a"), 2, block("Once:b")],
  ["All done."],
];

const call = (id: string, name: string): ModelPart => ({ type: "call", call: { id, name, arguments: "{}" } });

const NATIVE_SCRIPTS: readonly Script[] = [
  [
    { type: "thought", reasoning: { text: "so", metadata: { signature: "s" } } },
    "Hm. ",
    call("a", "Once"),
    call("b", "Safe"),
    4,
    "And ",
    call("e", "Once"),
    " so on",
  ],
  [call("a", "Safe"), 2, call("b", "Once")],
  ["All done."],
];

const callFile: Case = {
  start: (options, effects) =>
    runCalls([FILE], { ...options, catalog: createCatalog(gadgets(effects)), file: "x.calls" }),
};

/** The scripted model answers by what it is asked, not by how often: a resumed run has another process. */
const loopOf = (
  toolsMode: "blocks" | "native",
  scripts: readonly Script[],
  { gadgets: own, ...more }: Pick<DialogOptions, "budget" | "clock"> & {
    readonly gadgets?: readonly AnyGadget[];
  } = {},
): Case => ({
  start(options, effects) {
    const all = own ?? gadgets(effects);
    const model = scriptedModel(scripts);
    const asked = {
      ...model,
      stream: (request: Parameters<typeof model.stream>[0]) => {
        const turn = request.messages.filter(({ role }) => role === "assistant").length;
        return scriptedModel([scripts[turn] ?? []]).stream(request);
      },
    };
    return ask("Go", {
      ...options,
      model: asked,
      catalog: createCatalog(all),
      tools: all.map(({ name }) => name),
      policy: { toolsMode },
      ...more,
    });
  },
});

const endOf = (events: readonly RunEvent[]): RunEvent & { readonly type: "run-end" } => {
  const end = events.at(-1);
  return end?.type === "run-end" ? end : assert.fail("no run-end");
};

const unverified = (journal: Journal, id: string): string[] =>
  journal.read(id).steps.filter((step) => step.status === "started" && !step.idempotent).map(({ key }) =>
    key
  );

/** @param options.isStrict it goes on in a journal in which each step that begins is entered twice */
async function killedEverywhere(
  { start }: Case,
  { isStrict }: { readonly isStrict: boolean },
): Promise<number> {
  const plain: Effects = new Map();
  const want = endOf(await Array.fromAsync(start({}, plain)));
  let [deaths, losses] = [0, 0];
  for (let n = 1;; n++) {
    for (const isDone of [false, true]) {
      const journal = memoryJournal({ isAlive: () => false });
      const effects: Effects = new Map();
      const first = mortalJournal(journal.create({ kind: "test", input: null }), { n, isDone });
      await Array.fromAsync(start({ journal: first }, effects));
      await new Promise((resolve) => setTimeout(resolve, 3)); // what still ran has ended by now
      if (!first.died()) {
        assert.ok(losses >= (isStrict ? 40 : 0), String(losses));
        return deaths;
      }
      deaths++;
      const status = journal.read(first.id).summary.status;
      if (status !== "running" && status !== "stopped") continue; // it died in the very release
      const open: string[] = [];
      const settle = (run: RunJournal): void => {
        for (const key of unverified(journal, run.id)) {
          open.push(key);
          const id = /call:(.*)$/.exec(key)?.[1] ?? "";
          const isDoneEffect = [...effects.keys()].some((name) => name.endsWith(`:${id}`));
          // The user looks whether it was done. The loop has the same ids in two turns, so the outcome is asked for as it would be.
          run.settle(key, isDoneEffect ? { outcome: { ok: outcomeOf(key) } } : "rerun");
        }
      };
      const strict = isStrict ? strictJournal(journal) : undefined;
      const events = await goneOn(strict ?? journal, first.id, {
        settle,
        start: (run) => Array.fromAsync(start({ journal: run }, effects)),
      });
      losses += strict?.losses.size ?? 0;
      const end = endOf(events);
      const where = `killed at operation ${n}, ${isDone ? "after" : "before"} it; open: ${open.join(" ")}`;
      assert.deepEqual([end.status, end.value], [want.status, want.value], `${where}: ${end.error}`);
      assert.deepEqual(
        events.map(({ seq }) => seq).filter((seq, i, all) => i > 0 && seq <= (all[i - 1] ?? 0)),
        [],
        where,
      );
      const outcomes = events.filter((event) =>
        ["call-result", "call-error", "call-skip"].includes(event.type)
      );
      const names = outcomes.map((event) =>
        "invocationId" in event ? `${event.step ?? ""} ${event.invocationId}` : ""
      );
      assert.equal(new Set(names).size, names.length, `${where}: an outcome was told twice`);
    }
  }
}

function outcomeOf(key: string): string {
  const id = /call:(.*)$/.exec(key)?.[1];
  const inLoop = key.startsWith("turn");
  if (id === "c") return inLoop ? "Once Once " : "Once Once Safe ";
  return "Once ";
}

inBothJournals("a call file ends the same wherever it died", async (goesOn) => {
  const deaths = await killedEverywhere(callFile, goesOn);
  assert.ok(deaths >= 18, String(deaths));
});

for (const [toolsMode, scripts] of [["blocks", SCRIPTS], ["native", NATIVE_SCRIPTS]] as const) {
  inBothJournals(
    `a loop of three turns with gadgets (${toolsMode}) ends the same wherever it died`,
    async (goesOn) => {
      const deaths = await killedEverywhere(loopOf(toolsMode, scripts), goesOn);
      assert.ok(deaths >= 24, String(deaths));
    },
  );
}

for (const budget of [{ tokens: 15 }, { timeMs: 8 }]) {
  inBothJournals(
    `a loop that has used its ${
      Object.keys(budget)
    } up ends behind the calls of its last answer wherever it died`,
    async (goesOn) => {
      const slow: AnyGadget = {
        name: "Slow",
        description: "Test.",
        idempotent: true,
        run: async () => {
          await new Promise((resolve) => setTimeout(resolve, 2));
          passedMs += 10;
          return "slow";
        },
      };
      let passedMs = 0;
      const clock = { ...systemClock, now: () => passedMs };
      // Behind the calls the run is asked about its budget; a killed one has used as much before it comes to them again.
      const again = loopOf("blocks", [[block("Slow:a")], [block("Slow:b")]], {
        budget,
        clock,
        gadgets: [slow],
      });
      const deaths = await killedEverywhere(again, goesOn);
      assert.ok(deaths >= 8, String(deaths));
    },
  );
}

inBothJournals(
  "a finished effect is never done twice, and an unverified one not unasked",
  async ({ isStrict }) => {
    for (let n = 1; n < 30; n++) {
      const journal = memoryJournal({ isAlive: () => false });
      const effects: Effects = new Map();
      const first = mortalJournal(journal.create({ kind: "test", input: null }), { n, isDone: true });
      await Array.fromAsync(callFile.start({ journal: first }, effects));
      await new Promise((resolve) => setTimeout(resolve, 3));
      if (!first.died() || journal.read(first.id).summary.status === "failed") break;
      const open = unverified(journal, first.id);
      const finished = journal.read(first.id).steps.filter(({ status }) => status === "finished").map((
        { key },
      ) => key);
      const before = new Map(effects);
      const events = await goneOn(isStrict ? strictJournal(journal) : journal, first.id, {
        start: (run) => Array.fromAsync(callFile.start({ journal: run }, effects)),
      });
      for (const key of [...finished, ...open]) {
        const id = key.slice("call:".length);
        for (const [name, times] of effects) {
          if (name.endsWith(`:${id}`)) {
            assert.equal(times, before.get(name), `${name} was done again after ${n}`);
          }
        }
      }
      for (const key of open) {
        const event = events.find((event) =>
          event.type === "call-error" && `call:${event.invocationId}` === key
        );
        assert.ok(event?.type === "call-error" && event.code === "unverified", `${key} after ${n}`);
      }
      for (const [name, times] of effects) {
        assert.ok(times === 1 || !name.startsWith("Once"), `${name} was done ${times} times after ${n}`);
      }
    }
  },
);

Deno.test("a chat goes on where it was: what was said is not asked again", async () => {
  const journal = memoryJournal({ isAlive: () => false });
  const model = scriptedModel([["Hello Ann."]]);
  const first = journal.create({ kind: "chat", input: null });
  await Array.fromAsync(
    chat({ next: (n) => Promise.resolve(n === 1 ? "I am Ann." : undefined) }, { model, journal: first }),
  );
  assert.equal(journal.read(first.id).summary.status, "held");
  const second = scriptedModel([["Ann."]]);
  const asked: number[] = [];
  const events = await Array.fromAsync(chat({
    next(n) {
      asked.push(n);
      return Promise.resolve(n === 2 ? "Who am I?" : undefined);
    },
  }, { model: second, journal: journal.open(first.id) }));
  assert.deepEqual(asked, [2, 3]);
  assert.deepEqual(second.requests[0]?.messages.map(({ content }) => content), [
    "I am Ann.",
    "Hello Ann.",
    "Who am I?",
  ]);
  assert.equal(endOf(events).value, "Ann.");
  assert.deepEqual(endOf(events).usage, { input: 20, output: 10 });
});

Deno.test("a script goes on behind the replies that were given before", async () => {
  await using project = await testProject({
    "x.yml": '- text: "one"\n- when: again\n  text: "two"\n- text: "three"\n',
  });
  const first = await project.run(["chat", "-m", "script/x.yml"], { stdin: "Go\nGo again\n" });
  assert.deepEqual([first.code, first.stdout], [0, "one\ntwo\n"], first.stderr);
  const second = await project.run(["resume"], { stdin: "And on\n" });
  assert.deepEqual([second.code, second.stdout], [0, "three\n"], second.stderr);
});

Deno.test("a chat with a turn that failed goes on with the same history", async () => {
  const journal = memoryJournal({ isAlive: () => false });
  const said = ["One", "Two", "Three", "Four"];
  const until = (last: number) => ({
    next: (n: number) => Promise.resolve(n <= last ? said[n - 1] : undefined),
  });
  const first = journal.create({ kind: "chat", input: null });
  const down = new ModelError("down", { code: "server" });
  await Array.fromAsync(chat(until(3), { model: scriptedModel([["1"], [down], ["3"]]), journal: first }));
  const second = scriptedModel([["4"]]);
  const events = await Array.fromAsync(chat(until(4), { model: second, journal: journal.open(first.id) }));
  assert.deepEqual([endOf(events).status, endOf(events).value], ["done", "4"], endOf(events).error);
  assert.deepEqual(second.requests[0]?.messages.map(({ content }) => content), [
    "One",
    "1",
    "Two",
    "Three",
    "3",
    "Four",
  ]);
});
