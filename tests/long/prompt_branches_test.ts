// What a tactic does side by side, and what its gadgets do inside of their calls (prompts.md 10): a resumed run and a replay give each
// part its own outcomes, whatever arrives first.
import fc from "fast-check";
import assert from "node:assert/strict";
import {
  AgentError,
  defineGadget,
  definePrompt,
  defineTactic,
  type Dialog,
  fakeModel,
  type Journal,
  memoryJournal,
  type Model,
  ModelError,
  type ModelPart,
  PromptRegistry,
  runCalls,
  type RunEvent,
  type RunJournal,
  runPrompt,
  systemClock,
  type Tactic,
  type TacticCtx,
  tags,
  type World,
} from "../../mod.ts";
import { builtInGadgets } from "../../gadgets/built_in.ts";
import { builtInEntries, catalogOf } from "../../lib/catalog/catalog.ts";
import type { RecordLine } from "../../lib/core/journal.ts";
import { promptCalls } from "../../lib/run/agent/prompt_calls.ts";
import { numberedHomes } from "../../lib/run/agent/agent.ts";
import { makeAgent } from "../../lib/run/agent/make_agent.ts";
import { agentsOfRun, runTacticRun } from "../../lib/run/agent/prompt_run.ts";
import { Replay } from "../../lib/run/replay/replay.ts";
import type { RunOptions } from "../../lib/run/run.ts";
import { inOwnRun, workRun } from "../../lib/run/work_run.ts";
import { mortalJournal } from "../_mortal_journal.ts";
import { goneOn, inBothJournals, strictJournal } from "../_strict_steps.ts";
import { pause } from "../_waiting.ts";

const NEW_RUN = { kind: "prompt", input: null } as const;

const call = (name: string, input: object = {}): ModelPart => ({
  type: "call",
  call: { id: "", name, arguments: JSON.stringify(input) },
});

const endOf = (events: readonly RunEvent[]) => {
  const end = events.at(-1);
  return end?.type === "run-end" ? end : assert.fail("no run-end");
};

/** Says what `answer` makes of the last message, for a token each. */
function answering(answer: (last: string, role: string | undefined) => string | readonly ModelPart[]): Model {
  return {
    id: "test/echo",
    async *stream({ messages }) {
      const said = answer(String(messages.at(-1)?.content), messages.at(-1)?.role);
      if (typeof said === "string") yield { type: "text", text: said };
      else yield* said;
      yield { type: "finish", reason: "stop", usage: { input: 1, output: 1 }, model: "test/echo" };
    },
  };
}

/** Says `re: ` and the last message, after a while. */
function echo(delayOf: (said: string) => number = () => 0, asked: string[] = []): Model {
  return {
    id: "test/echo",
    async *stream({ messages }) {
      const said = String(messages.at(-1)?.content);
      asked.push(said);
      await pause(delayOf(said));
      yield { type: "text", text: `re: ${said}` };
      yield { type: "finish", reason: "stop", usage: { input: 1, output: 1 }, model: "test/echo" };
    },
  };
}

const warningsOf = (events: readonly RunEvent[]): readonly string[] =>
  events.flatMap((event) => event.type === "warning" ? [event.text] : []);

const tacticOf = (work: (context: TacticCtx<"a" | "b">) => unknown): Tactic =>
  defineTactic({ name: "t", agents: ["a", "b"], call: (_task: unknown, context) => work(context) });

async function run(
  tactic: Tactic,
  { model, ...options }: RunOptions & { model: Model },
): Promise<RunEvent[]> {
  const agent = (name: string) => ({ definition: { name, system: `I am ${name}` }, model: () => model });
  return await Array.fromAsync(runTacticRun({
    tactic,
    task: null,
    prompts: new PromptRegistry(),
    agents: new Map([["a", agent("a")], ["b", agent("b")]]),
    startedAt: 0,
    ...options,
  }));
}

interface Recorded {
  readonly events: readonly RunEvent[];
  readonly lines: readonly RecordLine[];
}

async function record(start: (options: RunOptions) => Promise<RunEvent[]>): Promise<Recorded> {
  const lines: RecordLine[] = [];
  const events = await start({ recorder: { write: (line) => void lines.push(structuredClone(line)) } });
  return { events, lines };
}

async function assertReplays(
  { events, lines }: Recorded,
  start: (options: RunOptions) => Promise<RunEvent[]>,
): Promise<void> {
  const replay = new Replay(
    { ...NEW_RUN, id: events[0]?.run ?? "" },
    JSON.parse(JSON.stringify(lines)),
  );
  const text = (list: readonly RunEvent[]) => list.map((event) => JSON.stringify(event)).join("\n");
  assert.equal(text(await start({ replay })), text(events));
}

const silent: Model = { id: "test/echo", stream: () => assert.fail("the model was asked") };

/** Steps whose end nobody knows are done again. */
function rerunOpen(journal: Journal, opened: RunJournal): void {
  for (const { key, status, idempotent } of journal.read(opened.id).steps) {
    if (status === "started" && !idempotent) opened.settle(key, "rerun");
  }
}

/** What comes of a run that goes on; whatever may not have been done is done again. */
function goOn(
  journal: Journal,
  id: string,
  { isStrict, start }: { readonly isStrict: boolean; start(run: RunJournal): Promise<RunEvent[]> },
): Promise<RunEvent[]> {
  return goneOn(isStrict ? strictJournal(journal) : journal, id, {
    settle: (run) => rerunOpen(journal, run),
    start,
  });
}

const isOpen = (journal: Journal, id: string): boolean =>
  ["running", "stopped"].includes(journal.read(id).summary.status);

// Branches

/** Three branches that each wait, ask, fork, wait, and keep something. */
const branching = (delays: readonly number[], done: string[]) =>
  tacticOf(async ({ agents, step }) => {
    const branch = async (name: string, i: number) => {
      await pause(delays[2 * i] ?? 0);
      const dialog = agents[i === 2 ? "b" : "a"].open();
      const first = await dialog.say(`first ${name}`).call();
      await pause(delays[2 * i + 1] ?? 0);
      const fork = await dialog.fork().say(`fork ${name}`).call();
      const kept = await step(`keep ${name}`, () => (done.push(name), `kept ${name}`));
      const again = await step("same name", () => (done.push(`same ${name}`), `same ${name}`), {
        input: name,
      });
      return [first.text, fork.text, kept, again];
    };
    return await Promise.all(["x", "y", "z"].map(branch));
  });

const BRANCHED = ["x", "y", "z"].map((name) => [
  `re: first ${name}`,
  `re: fork ${name}`,
  `kept ${name}`,
  `same ${name}`,
]);

const someDelays = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 6, maxLength: 6 });

inBothJournals(
  "branches: wherever it died, and whatever arrives first then, each branch has its own outcomes",
  async (goesOn) => {
    await fc.assert(
      fc.asyncProperty(
        someDelays,
        someDelays,
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        async (before, after, n, isDone) => {
          const journal = memoryJournal({ isAlive: () => false });
          const first = mortalJournal(journal.create(NEW_RUN), { n, isDone });
          const done: string[] = [];
          await run(branching(before, done), { model: echo(), journal: first });
          await pause(12); // what still ran has ended by now
          if (!isOpen(journal, first.id)) return;
          const answered =
            journal.read(first.id).steps.filter(({ kind, status }) =>
              kind === "model" && status === "finished"
            )
              .length;
          const isKept = (name: string) =>
            journal.read(first.id).steps.some((step) =>
              step.status === "finished" && "ok" in (step.outcome ?? {}) &&
              JSON.stringify(step.outcome).includes(`"${name}"`)
            );
          const wasKept = ["x", "y", "z"].filter((name) => isKept(`kept ${name}`));
          const [asked, again]: [string[], string[]] = [[], []];
          const events = await goOn(journal, first.id, {
            ...goesOn,
            start: (second) => run(branching(after, again), { model: echo(() => 0, asked), journal: second }),
          });
          assert.deepEqual(
            [endOf(events).status, endOf(events).value],
            ["done", BRANCHED],
            endOf(events).error,
          );
          const most = goesOn.isStrict ? Infinity : 6 - answered;
          assert.ok(
            asked.length >= 6 - answered && asked.length <= most,
            "an answer that was kept was asked for again",
          );
          assert.deepEqual(
            wasKept.filter((name) => again.includes(name)),
            [],
            "a finished step was done again",
          );
        },
      ),
      { numRuns: goesOn.isStrict ? 20 : 60 },
    );
  },
);

Deno.test("branches: a record is replayed byte for byte, whatever arrives first", async () => {
  await fc.assert(
    fc.asyncProperty(someDelays, someDelays, async (before, after) => {
      const recorded = await record((options) => run(branching(before, []), { model: echo(), ...options }));
      assert.deepEqual(endOf(recorded.events).value, BRANCHED);
      await assertReplays(recorded, (options) => run(branching(after, []), { model: silent, ...options }));
    }),
    { numRuns: 20 },
  );
});

Deno.test("branches: equal dialogs stand for each other, each with its own forks and turns", async () => {
  let n = 0;
  const counting = (isUp: boolean): Model => ({
    id: "test/echo",
    async *stream({ messages }) {
      const said = String(messages.at(-1)?.content);
      if (said === "last" && !isUp) throw new ModelError("killed", { code: "request" });
      await pause(1);
      yield { type: "text", text: said === "last" ? "end" : `${said} ${++n}` };
      yield { type: "finish", reason: "stop", usage: { input: 1, output: 1 }, model: "test/echo" };
    },
  });
  const voting = (delays: readonly number[]) =>
    tacticOf(async ({ agents: { a } }) => {
      const votes = await Promise.all(delays.map(async (ms) => {
        await pause(ms);
        const dialog = a.open();
        const vote = await dialog.say("vote").call();
        const why = await dialog.fork().say("why").call();
        return [vote.text, why.text, (await dialog.say("sure").call()).text].join(", ");
      }));
      await a.open().say("last").call();
      return votes.toSorted();
    });
  const journal = memoryJournal({ isAlive: () => false });
  const kept = journal.create(NEW_RUN);
  await run(voting([0, 40, 80]), { model: counting(false), journal: kept });
  const events = await run(voting([80, 40, 0]), { model: counting(true), journal: journal.open(kept.id) });
  assert.deepEqual(endOf(events).value, [
    "vote 1, why 2, sure 3",
    "vote 4, why 5, sure 6",
    "vote 7, why 8, sure 9",
  ], endOf(events).error);
});

// Steps

inBothJournals(
  "steps: equal ones that run side by side are numbered as they begin, the same after a resume",
  async (goesOn) => {
    const tactic = tacticOf(async ({ step }) => {
      const both = await Promise.all([
        step("x", async () => (await pause(2), "first")),
        step("x", () => "second"),
      ]);
      await step("die", () => undefined);
      return both;
    });
    for (let n = 1, isOver = false; !isOver; n++) {
      const journal = memoryJournal({ isAlive: () => false });
      const first = mortalJournal(journal.create(NEW_RUN), { n, isDone: true });
      const events = await run(tactic, { model: silent, journal: first });
      isOver = !first.died();
      if (isOver) assert.deepEqual(endOf(events).value, ["first", "second"], endOf(events).error);
      await pause(3);
      if (!isOpen(journal, first.id)) continue;
      const start = (second: RunJournal) => run(tactic, { model: silent, journal: second });
      const again = endOf(await goOn(journal, first.id, { ...goesOn, start }));
      assert.deepEqual(again.value, ["first", "second"], again.error);
    }
  },
);

Deno.test("steps: one after the other a name may come again, also when nothing is awaited before it", async () => {
  const tactic = tacticOf(async ({ step, agents: { a } }) => {
    const all: unknown[] = [];
    for (let i = 0; i < 3; i++) {
      await pause(0);
      all.push((await a.open().say(`${i}`).call()).text, await step("x", () => i));
    }
    return all;
  });
  const want = ["re: 0", 0, "re: 1", 1, "re: 2", 2];
  const recorded = await record((options) => run(tactic, { model: echo(), ...options }));
  assert.deepEqual(endOf(recorded.events).value, want);
  await assertReplays(recorded, (options) => run(tactic, { model: silent, ...options }));
});

inBothJournals(
  "steps: branches whose steps are equal keep their own, wherever it died and whatever takes its time then",
  async (goesOn) => {
    let isLate = false;
    const done: string[] = [];
    const tactic = tacticOf(async ({ step, agents: { a } }) =>
      await Promise.all([1, 75].map(async (ms, i) => {
        await a.open().say(`${ms}`).call();
        if (isLate === (i === 0)) await pause(3);
        return await step("x", () => (done.push(`${i}`), i));
      }))
    );
    let swapped = 0;
    for (let n = 1, isOver = false; !isOver; n++) {
      for (const isDone of [false, true]) {
        const journal = memoryJournal({ isAlive: () => false });
        const first = mortalJournal(journal.create(NEW_RUN), { n, isDone });
        isLate = false;
        done.length = 0;
        await run(tactic, { model: echo(Number), journal: first });
        isOver = !first.died();
        await pause(90);
        if (isOver || !isOpen(journal, first.id)) continue;
        const kept = journal.read(first.id).steps.filter(({ kind, status }) =>
          kind === "step" && status === "finished"
        );
        isLate = kept.length > 0; // no answer takes its time any more: who was first would come second
        swapped += isLate ? 1 : 0;
        const start = (second: RunJournal) => run(tactic, { model: echo(Number), journal: second });
        const events = await goOn(journal, first.id, { ...goesOn, start });
        const where = `killed at operation ${n}, ${isDone ? "after" : "before"} it`;
        assert.deepEqual(
          [endOf(events).status, endOf(events).value],
          ["done", [0, 1]],
          `${where}: ${endOf(events).error}`,
        );
      }
    }
    assert.ok(swapped > 0);
  },
);

Deno.test("steps: what stands in a name is no part of the key's own form", async () => {
  const journal = memoryJournal();
  const kept = journal.create(NEW_RUN);
  const tactic = tacticOf(async ({ step }) => [
    await step("a", () => 1),
    await step("a#2", () => 2),
    await step("a", () => 3),
    await step("a/step:b", () => 4),
    await step("a%232", () => 5),
    await step("a", () => 6, { input: { k: 1 } }),
    await step("a", () => 7, { input: { k: 2 } }),
  ]);
  const events = await run(tactic, { model: silent, journal: kept });
  assert.deepEqual(endOf(events).value, [1, 2, 3, 4, 5, 6, 7], endOf(events).error);
  const keys = journal.read(kept.id).steps.map(({ key }) => key);
  assert.equal(new Set(keys).size, 7);
  assert.deepEqual(keys.slice(0, 5), [
    "step:a",
    "step:a%232",
    "step:a#2",
    "step:a%2Fstep%3Ab",
    "step:a%25232",
  ]);
  const started = events.flatMap((event) => event.type === "step-start" ? [event.name] : []);
  assert.deepEqual(started, ["a", "a#2", "a", "a/step:b", "a%232", "a", "a"]);
});

Deno.test("steps: an input that is no JSON is refused", async () => {
  const tactic = tacticOf(({ step }) => step("x", () => 1, { input: () => 1 }));
  assert.match(endOf(await run(tactic, { model: silent })).error ?? "", /^step "x": its input is not JSON/);
});

Deno.test("tactics side by side: each has steps of its own, whatever arrives first", async () => {
  const inner = (delays: Readonly<Record<string, number>>, done: string[]) =>
    defineTactic({
      name: "inner",
      agents: ["a"],
      async call(item: string, { agents: { a }, step }) {
        await pause(delays[item] ?? 0);
        const got = await step("get", () => (done.push(item), `got ${item}`));
        return `${got} ${(await a.open().say("same").call()).text}`;
      },
    });
  const outer = (delays: Readonly<Record<string, number>>, done: string[]) =>
    defineTactic({
      name: "outer",
      agents: ["a"],
      async call(_task: unknown, { agents: { a }, signal }) {
        const dialog = a.open();
        const all = await Promise.all(["x", "y"].map((item) => inner(delays, done).run(item, { signal })));
        const asks = defineTactic({
          name: "asks",
          agents: [],
          call: async (given: Dialog) => (await given.say("last").call()).text,
        });
        return [...all, await asks.run(dialog, { signal })];
      },
    });
  const journal = memoryJournal({ isAlive: () => false });
  const kept = journal.create(NEW_RUN);
  const down = (isDown: boolean) =>
    answering((last) => {
      if (isDown && last === "last") throw new ModelError("killed", { code: "request" });
      return `re: ${last}`;
    });
  const first = await run(outer({ x: 1, y: 4 }, []), { model: down(true), journal: kept });
  assert.equal(endOf(first).error, 'agent "a": killed');
  const done: string[] = [];
  const events = await run(outer({ x: 4, y: 1 }, done), {
    model: down(false),
    journal: journal.open(kept.id),
  });
  assert.deepEqual(
    endOf(events).value,
    ["got x re: same", "got y re: same", "re: last"],
    endOf(events).error,
  );
  assert.deepEqual(done, []);
});

Deno.test("a resumed run says what it had begun and does not come to again", async () => {
  const tactic = (name: string) =>
    tacticOf(async ({ agents: { a }, step }) => {
      await step(name, () => 1);
      await a.open().say(`ask ${name}`).call();
      return (await a.open().say("last").call()).text;
    });
  const journal = memoryJournal({ isAlive: () => false });
  const kept = journal.create(NEW_RUN);
  const dead = answering((last) => {
    if (last === "last") throw new ModelError("killed", { code: "request" });
    return "yes";
  });
  await run(tactic("old"), { model: dead, journal: kept });
  const events = await run(tactic("new"), { model: echo(), journal: journal.open(kept.id) });
  assert.equal(endOf(events).value, "re: last");
  const warnings = events.flatMap((event) => event.type === "warning" ? [event.text] : []);
  assert.equal(warnings.length, 1);
  assert.match(
    warnings[0] ?? "",
    /^The run has not come again to what it had begun before it was resumed: step:old, dialog\[a:[0-9a-f]{12}\]\. The tactic or its prompts may have changed since, and what they do may have been done twice$/,
  );
});

// Inside of calls

/** The gadget forks, asks, keeps something and has an agent of its own; the model breaks its contract once in there. */
function delegating(done: string[], delayMs = 0) {
  const inner = definePrompt({
    path: "inner",
    template: "inner {n}",
    parser: tags({ requiredXmlTags: ["a"] }),
    tools: [defineGadget({ name: "leaf", description: "Leaf.", run: () => "leaf" })],
  });
  const parts: Readonly<Record<string, readonly ModelPart[] | string>> = {
    task: [call("dig", { n: 1 }), call("dig", { n: 2 })],
    "inner 1": "no tag",
    "inner 2": [call("leaf")],
    end: "<a>the end</a>",
  };
  const model = (): Model =>
    answering((last) => {
      if (last.includes("leaf")) return "<a>two</a>";
      if (last.startsWith("Error: ")) return "<a>one</a>";
      if (last.includes("dug")) return "<a>dug both</a>";
      return parts[last] ?? `<a>re: ${last}</a>`;
    });
  const keeps = defineTactic({
    name: "keeps",
    agents: ["b"],
    call: async (n: number, { agents: { b }, step }) => {
      await b.open().say("kept").call();
      return await step("x", () => (done.push(`dig ${n}`), n));
    },
  });
  const tactic = tacticOf(async ({ agents: { a, b }, step, signal }) => {
    const dig = defineGadget({
      name: "dig",
      description: "Digs.",
      input: { type: "object", properties: { n: { type: "number" } } },
      async *run({ n }: { readonly n: number }, { dialog }) {
        await pause(n === 1 ? delayMs : 0);
        const fork = (dialog as Dialog).fork({ keepFirst: 1, keepLast: 0 });
        const { parsed } = await fork.ask(inner, { n });
        const other = await b.open().say(`other ${n}`).call();
        const kept = await step("x", async () => await keeps.run(n, { signal }));
        yield `dug ${parsed.xmlTags.a[0]} ${other.text} ${kept}`;
      },
    });
    const outer = definePrompt({
      path: "outer",
      template: "task",
      tools: [dig],
      parser: tags({ requiredXmlTags: ["a"] }),
    });
    const dialog = a.open();
    const one = dialog.ask(outer);
    const first = (await one).text;
    const fork = (await dialog.fork().say("fork").call()).text;
    const late = (await b.open().say("late").call()).text;
    return [first, fork, late, await step("x", () => (done.push("outside"), 0))];
  });
  return { tactic, model };
}

const DELEGATED = ["<a>dug both</a>", "<a>re: fork</a>", "<a>re: late</a>", 0];

Deno.test("inside of calls: forks, agents and steps stand below the key of the call", async () => {
  const journal = memoryJournal();
  const kept = journal.create(NEW_RUN);
  const done: string[] = [];
  const { tactic, model } = delegating(done, 3);
  const events = await run(tactic, { model: model(), journal: kept });
  assert.deepEqual(endOf(events).value, DELEGATED, endOf(events).error);
  assert.deepEqual(done.toSorted(), ["dig 1", "dig 2", "outside"]);
  const keys = journal.read(kept.id).steps.map(({ key }) => key.replaceAll(/:[0-9a-f]{12}/g, ""));
  const inCall = (id: string) => `dialog[a]/turn[1]/call:${id}/`;
  assert.deepEqual(
    keys.toSorted(),
    [
      "dialog[a]/turn[1]/model",
      "dialog[a]/turn[1]/call:call_1",
      `${inCall("call_1")}dialog[b]/turn[1]/model`,
      `${inCall("call_1")}fork[a]/turn[1]/model`,
      `${inCall("call_1")}fork[a]/turn[2]/model`,
      `${inCall("call_1")}step:x`,
      `${inCall("call_1")}step:x/tactic[keeps]/dialog[b]/turn[1]/model`,
      `${inCall("call_1")}step:x/tactic[keeps]/step:x`,
      "dialog[a]/turn[1]/call:call_2",
      `${inCall("call_2")}dialog[b]/turn[1]/model`,
      `${inCall("call_2")}fork[a]/turn[1]/model`,
      `${inCall("call_2")}fork[a]/turn[1]/call:call_1`,
      `${inCall("call_2")}fork[a]/turn[2]/model`,
      `${inCall("call_2")}step:x`,
      `${inCall("call_2")}step:x/tactic[keeps]/dialog[b]/turn[1]/model`,
      `${inCall("call_2")}step:x/tactic[keeps]/step:x`,
      "dialog[a]/turn[2]/model",
      "dialog[a]/fork[a]/turn[1]/model",
      "dialog[b]/turn[1]/model",
      "step:x",
    ].toSorted(),
  );
});

Deno.test("inside of calls: a record is replayed byte for byte, and no gadget runs", async () => {
  for (const delayMs of [0, 3]) {
    const { tactic, model } = delegating([], delayMs);
    const recorded = await record((options) => run(tactic, { model: model(), ...options }));
    assert.deepEqual(endOf(recorded.events).value, DELEGATED, endOf(recorded.events).error);
    assert.ok(recorded.events.some(({ type }) => type === "warning"));
    const done: string[] = [];
    await assertReplays(
      recorded,
      (options) => run(delegating(done, 1).tactic, { model: silent, ...options }),
    );
    assert.deepEqual(done, []);
  }
});

inBothJournals(
  "inside of calls: a run that dies anywhere goes on where it was, and does nothing twice",
  async (goesOn) => {
    let deaths = 0;
    for (let n = 1, isOver = false; !isOver; n++) {
      for (const isDone of [false, true]) {
        const journal = memoryJournal({ isAlive: () => false });
        const first = mortalJournal(journal.create(NEW_RUN), { n, isDone });
        const { tactic, model } = delegating([], 2);
        await run(tactic, { model: model(), journal: first });
        isOver = !first.died();
        if (isOver) break;
        deaths++;
        await pause(4);
        if (!isOpen(journal, first.id)) continue;
        const finished = journal.read(first.id).steps.filter(({ status }) => status === "finished");
        const done: string[] = [];
        const events = await goOn(journal, first.id, {
          ...goesOn,
          start: (second) => run(delegating(done, 0).tactic, { model: model(), journal: second }),
        });
        const where = `killed at operation ${n}, ${isDone ? "after" : "before"} it`;
        assert.deepEqual(
          [endOf(events).status, endOf(events).value],
          ["done", DELEGATED],
          `${where}: ${endOf(events).error}`,
        );
        for (const { key } of finished) {
          const effect = key === "step:x" ? "outside" : /call:call_([12])\/.*step:x$/.exec(key)?.[1] ?? "";
          assert.ok(!done.includes(effect) && !done.includes(`dig ${effect}`), `${where}: ${key} again`);
        }
        const starts = journal.read(first.id).steps.filter(({ status }) => status === "started");
        assert.deepEqual(starts.map(({ key }) => key).filter((key) => !key.includes("/call:")), [], where);
      }
    }
    assert.ok(deaths >= 30, String(deaths));
  },
);

Deno.test("inside of calls: a fork in a gadget of one prompt is replayed too", async () => {
  const dig = defineGadget({
    name: "dig",
    description: "Digs.",
    run: async (_input, { dialog }) => (await (dialog as Dialog).fork({ keepLast: 0 }).say("in").call()).text,
  });
  const prompt = definePrompt({ path: "p", template: "go", tools: [dig] });
  const answer = (): Model =>
    answering((last) => last === "go" ? [call("dig")] : `re: ${last.split("\n").at(-2) ?? last}`);
  const start = (model: Model) => (options: RunOptions) =>
    Array.fromAsync(runPrompt({ prompt, args: {}, agent: { name: "p", system: "S" }, model, ...options }));
  const recorded = await record(start(answer()));
  assert.equal(endOf(recorded.events).value, "re: re: in", endOf(recorded.events).error);
  assert.equal(endOf(recorded.events).usage.input, 3);
  await assertReplays(recorded, start(silent));
});

Deno.test("inside of calls: a fork in a gadget of a prompt that a call asks is replayed too", async () => {
  const dig = defineGadget({
    name: "dig",
    description: "Digs.",
    run: async (_input, { dialog }) => (await (dialog as Dialog).fork({ keepLast: 0 }).say("in").call()).text,
  });
  const { RunPrompt } = builtInGadgets;
  assert.ok(RunPrompt);
  const catalog = catalogOf(
    builtInEntries({ builtIns: { RunPrompt }, world: {} as World }).map((entry) => ({ entry })),
  );
  const registry = new PromptRegistry();
  registry.register(definePrompt({ path: "inner", template: "go", tools: [dig] }));
  const start = (model: Model) => (options: RunOptions) =>
    Array.fromAsync(
      runCalls(["!!!GADGET_START:RunPrompt:r\n!!!ARG:path\ninner\n!!!GADGET_END\n"], {
        catalog,
        containers: () =>
          Promise.resolve(promptCalls(() =>
            Promise.resolve({
              registry,
              problems: [],
              agentOf: () => ({ name: "i", system: "S" }),
              modelOf: () => model,
            })
          )),
        ...options,
      }),
    );
  const answers = answering((last) =>
    last === "go" ? [call("dig")] : `re: ${last.split("\n").at(-2) ?? last}`
  );
  const recorded = await record(start(answers));
  assert.equal(endOf(recorded.events).value, "re: re: in", JSON.stringify(recorded.events));
  await assertReplays(recorded, start(silent));
});

Deno.test("inside of calls: a dialog from outside of the call is no part of it", async () => {
  const tactic = tacticOf(async ({ agents: { a, b } }) => {
    const shared = b.open();
    const dig = defineGadget({
      name: "dig",
      description: "Digs.",
      run: async () => (await shared.say("x").call()).text,
    });
    const outer = definePrompt({ path: "outer", template: "task", tools: [dig] });
    const { state } = await a.open().ask(outer);
    return state.calls[0]?.error ?? "none";
  });
  const model = answering((_last, role) => role === "tool" ? "end" : [call("dig")]);
  assert.equal(
    endOf(await run(tactic, { model })).value,
    'agent "b": this dialog belongs to another part of the run: what a gadget or a step does inside is not done again when the run is ' +
      "resumed, so it opens or forks a dialog of its own",
  );
});

// In which order: equal content, unequal branches

/** Says the last message and how often it was asked; `last` is refused until the model is up. */
function counting(isUp = true, asked: string[] = []): Model {
  return {
    id: "test/counting",
    async *stream({ messages }) {
      const said = String(messages.at(-1)?.content);
      if (said === "last" && !isUp) throw new ModelError("killed", { code: "request" });
      await pause(1);
      asked.push(said);
      yield { type: "text", text: `${said} ${asked.filter((one) => one === said).length}` };
      yield { type: "finish", reason: "stop", usage: { input: 1, output: 1 }, model: "test/counting" };
    },
  };
}

/** Runs till its last question, which fails, and goes on with it. */
async function resumed(tactic: (isFirst: boolean) => Tactic): Promise<RunEvent[]> {
  const journal = memoryJournal({ isAlive: () => false });
  const kept = journal.create(NEW_RUN);
  const first = await run(tactic(true), { model: counting(false), journal: kept });
  assert.equal(endOf(first).error, 'agent "a": killed');
  return await run(tactic(false), { model: counting(), journal: journal.open(kept.id) });
}

const assertValue = (events: readonly RunEvent[], value: unknown): void =>
  assert.deepEqual([endOf(events).status, endOf(events).value], ["done", value], endOf(events).error);

Deno.test("order: equal dialogs of unequal branches keep their answers, though the slow branch comes first in the program", async () => {
  const tactic = tacticOf(async ({ agents: { a }, step }) => {
    const voted = Promise.withResolvers<void>(); // no time is short enough on a machine that is busy
    const branch = async (name: string, work: () => Promise<void>) => {
      await step(name, work);
      const vote = `${name} ${(await a.open().say("vote").call()).text}`;
      voted.resolve();
      return vote;
    };
    const votes = await Promise.all([branch("slow", () => voted.promise), branch("quick", () => pause(1))]);
    await a.open().say("last").call();
    return votes;
  });
  assertValue(await resumed(() => tactic), ["slow vote 2", "quick vote 1"]);
});

Deno.test("order: equal tactics and forks of unequal branches keep what they had", async () => {
  const tactic = tacticOf(async ({ agents: { a }, step, signal }) => {
    let n = 0;
    const inner = defineTactic({
      name: "inner",
      agents: [],
      call: (_same: string, context) => context.step("get", () => ++n),
    });
    const dialog = a.open();
    await dialog.say("open").call();
    const forked = Promise.withResolvers<void>();
    const branch = async (name: string, work: () => Promise<void>) => {
      await step(name, work);
      const got = await inner.run("same", { signal });
      const fork = `${name} ${got} ${(await dialog.fork().say("fork").call()).text}`;
      forked.resolve();
      return fork;
    };
    const all = await Promise.all([branch("slow", () => forked.promise), branch("quick", () => pause(1))]);
    await a.open().say("last").call();
    return all;
  });
  assertValue(await resumed(() => tactic), ["slow 2 fork 2", "quick 1 fork 1"]);
});

Deno.test("order: a branch that waits for a timer of its own keeps its answer", async () => {
  const tactic = tacticOf(async ({ agents: { a }, step }) => {
    const voted = Promise.withResolvers<void>();
    const vote = async (name: string) => {
      const said = `${name} ${(await a.open().say("vote").call()).text}`;
      voted.resolve();
      return said;
    };
    const votes = await Promise.all([
      step("slow", () => voted.promise).then(() => vote("step")),
      pause(8).then(() => vote("timer")),
    ]);
    await a.open().say("last").call();
    return votes;
  });
  assertValue(await resumed(() => tactic), ["step vote 2", "timer vote 1"]);
});

Deno.test("order: what is still to be done comes behind what was done", async () => {
  let n = 0;
  const tactic = (isFirst: boolean) =>
    tacticOf(async ({ agents: { a }, step }) => {
      const branch = async (name: string, work: () => unknown) => {
        await step(name, work);
        return `${name} ${await step("same", () => ++n)}`;
      };
      const all = await Promise.all([
        branch("open", () => isFirst ? new Promise(() => undefined) : 0),
        branch("done", () => pause(1)).then(async (done) => {
          await a.open().say("last").call();
          return done;
        }),
      ]);
      return all;
    });
  const journal = memoryJournal({ isAlive: () => false });
  const kept = journal.create(NEW_RUN);
  await run(tactic(true), { model: counting(false), journal: kept });
  const second = journal.open(kept.id);
  second.settle("step:open", "rerun");
  assertValue(await run(tactic(false), { model: counting(), journal: second }), ["open 2", "done 1"]);
});

Deno.test("order: a program that has changed goes on, and what could be either of two ends the run", async () => {
  const tactic = (isMany: boolean) => (isFirst: boolean) =>
    tacticOf(async ({ agents: { a }, step }) => {
      await step(isFirst ? "old" : "new", () => 0);
      await Promise.all([step("x", () => 1), isMany && step("x", () => 2).catch(() => 0)]);
      return (await a.open().say("last").call()).text;
    });
  const [one, many] = await Promise.all([resumed(tactic(false)), resumed(tactic(true))]);
  assertValue(one, "last 1");
  assert.match(warningsOf(one)[0] ?? "", /step:old/);
  assert.deepEqual([endOf(many).status, endOf(many).reason], ["failed", "diverged"]);
  assert.match(
    endOf(many).error ?? "",
    /^step:x(#2)? comes in another order than before the run was resumed/,
  );
});

inBothJournals("order: a step may be tried again in branches, wherever the run died", async (goesOn) => {
  /** @param tried how often, in whatever process: else no process might live to a second try */
  const tactic = (done: string[], tried: Map<string, number>) =>
    tacticOf(async ({ step, agents: { a } }) => {
      let tries = 0;
      const nextTry = (name: string): number => {
        tried.set(name, (tried.get(name) ?? 0) + 1);
        return goesOn.isStrict ? tried.get(name) ?? 0 : ++tries;
      };
      const flaky = async (name: string, ms: number) => {
        for (let i = 1;; i++) {
          try {
            return await step("try", async () => {
              await pause(ms);
              if (nextTry(name) % 2 === 1) throw new Error("no luck");
              done.push(name);
              return name;
            }, { input: name });
          } catch {
            if (i === 4) throw new Error(`${name} gave up`);
            await step("note", () => void done.push(`note ${name} ${i}`));
          }
        }
      };
      const all = await Promise.all([flaky("x", 2), flaky("y", 1), a.open().say("beside").call()]);
      return [all[0], all[1], all[2].text];
    });
  let deaths = 0;
  for (let n = 1, isOver = false; !isOver; n++) {
    for (const isDone of [false, true]) {
      const journal = memoryJournal({ isAlive: () => false });
      const first = mortalJournal(journal.create(NEW_RUN), { n, isDone });
      const done: string[] = [];
      const tried = new Map<string, number>();
      const events = await run(tactic(done, tried), { model: counting(), journal: first });
      isOver = !first.died();
      if (isOver) assertValue(events, ["x", "y", "beside 1"]);
      if (isOver) break;
      deaths++;
      await pause(6);
      if (!isOpen(journal, first.id)) continue;
      const start = (second: RunJournal) => run(tactic(done, tried), { model: counting(), journal: second });
      assertValue(await goOn(journal, first.id, { ...goesOn, start }), ["x", "y", "beside 1"]);
    }
  }
  assert.ok(deaths > 15, String(deaths));
});

inBothJournals(
  "order: wherever it died, and however long its work takes then, each branch sees again what it had seen",
  async (goesOn) => {
    const delays = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 6, maxLength: 6 });
    const tactic = (ms: readonly number[], seen: Map<string, unknown>) =>
      tacticOf(async ({ step, agents: { a } }) => {
        let n = 0;
        const saw = (what: string, value: unknown) => void seen.set(what, value);
        await Promise.all(["x", "y", "z"].map(async (name, i) => {
          saw(
            `${name} own`,
            await step("own", async () => (await pause(ms[i] ?? 0), `${name} ${++n}`), { input: name }),
          );
          const dialog = a.open();
          saw(`${name} vote`, (await dialog.say("vote").call()).text);
          saw(`${name} same`, await step("same", async () => (await pause(ms[i + 3] ?? 0), `same ${name}`)));
          saw(`${name} fork`, (await dialog.fork().say("why").call()).text);
        }));
        return seen.size;
      });
    let compared = 0;
    await fc.assert(
      fc.asyncProperty(
        delays,
        delays,
        fc.integer({ min: 4, max: 60 }),
        fc.boolean(),
        async (before, after, n, isDone) => {
          const journal = memoryJournal({ isAlive: () => false });
          const first = mortalJournal(journal.create(NEW_RUN), { n, isDone });
          const [then, now] = [new Map<string, unknown>(), new Map<string, unknown>()];
          await run(tactic(before, then), { model: counting(), journal: first });
          const seen = [...then];
          await pause(14);
          if (!first.died() || !isOpen(journal, first.id)) return;
          const kept = JSON.stringify(journal.read(first.id).steps.map(({ outcome }) => outcome));
          const start = (second: RunJournal) =>
            run(tactic(after, now), { model: counting(), journal: second });
          assertValue(await goOn(journal, first.id, { ...goesOn, start }), 12);
          for (const [what, value] of seen) {
            if (!kept.includes(JSON.stringify(value))) continue;
            assert.equal(now.get(what), value, what);
            compared++;
          }
        },
      ),
      { numRuns: goesOn.isStrict ? 20 : 100 },
    );
    assert.ok(compared > (goesOn.isStrict ? 10 : 50), String(compared));
  },
);

// What nobody waits for

Deno.test("not awaited: a step and a turn that nobody awaits are done before the run is", async () => {
  const done: string[] = [];
  const tactic = tacticOf(({ step, agents: { a } }) => {
    step("late", async () => {
      await pause(5);
      done.push("late");
    }).then(() => step("later", () => void done.push("later")));
    a.open().say("beside").call();
    return "value";
  });
  const journal = memoryJournal();
  const kept = journal.create(NEW_RUN);
  assertValue(await run(tactic, { model: counting(), journal: kept }), "value");
  assert.deepEqual(done, ["late", "later"]);
  assert.deepEqual(journal.read(kept.id).steps.map(({ status }) => status), [
    "finished",
    "finished",
    "finished",
  ]);
});

Deno.test("not awaited: what a step begins belongs to it, to its end and no longer", async () => {
  const done: string[] = [];
  let late = Promise.resolve("");
  const tactic = tacticOf(async ({ step }) => {
    await step("outer", () => {
      step("inner", async () => {
        await pause(3);
        done.push("inner");
      });
      late = pause(20).then(() => step("late", () => done.push("late"))).then(
        String,
        (error) => error.message,
      );
    });
    assert.deepEqual(done, ["inner"]);
    return await late;
  });
  const events = await run(tactic, { model: silent, journal: memoryJournal().create(NEW_RUN) });
  assertValue(
    events,
    'step "late" begins inside of step:outer, which has ended: a run that is resumed would not come to it. ' +
      "Wait for all that is begun in there",
  );
  assert.deepEqual(done, ["inner"]);
});

// Failures

Deno.test("failures: one that the tactic went on after is kept, one that ended it is not", async () => {
  const asked: string[] = [];
  const model = (isUp: boolean): Model => ({
    id: "test/m",
    async *stream({ messages }) {
      const said = String(messages.at(-1)?.content);
      asked.push(said);
      await pause(1);
      if (said === "fails" || !isUp && said === "last") throw new ModelError("down", { code: "request" });
      yield { type: "text", text: said };
      yield { type: "finish", reason: "stop", usage: { input: 1, output: 1 }, model: "test/m" };
    },
  });
  const tactic = tacticOf(async ({ agents: { a }, step }) => {
    const first = await a.open().say("fails").call().catch(({ message, code }) => `${code}: ${message}`);
    await step("noted", () => first);
    return [first, (await a.open().say("last").call()).text];
  });
  const journal = memoryJournal({ isAlive: () => false });
  const kept = journal.create(NEW_RUN);
  assert.equal(endOf(await run(tactic, { model: model(false), journal: kept })).status, "failed");
  assert.deepEqual(asked, ["fails", "last"]);
  assertValue(await run(tactic, { model: model(true), journal: journal.open(kept.id) }), [
    'provider: agent "a": down',
    "last",
  ]);
  assert.deepEqual(asked, ["fails", "last", "last"]);
});

Deno.test("failures: a turn that the tactic aborted stays aborted, and nothing of it is asked about", async () => {
  const asked: string[] = [];
  const model = (isUp: boolean): Model => ({
    id: "test/m",
    async *stream({ messages, signal }) {
      const said = String(messages.at(-1)?.content);
      asked.push(said);
      if (said === "hangs") {
        await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
      }
      if (!isUp && said === "last") throw new ModelError("down", { code: "request" });
      if (said === "task") yield { type: "call", call: { id: "", name: "hang", arguments: "{}" } };
      else yield { type: "text", text: said };
      yield { type: "finish", reason: "stop", usage: { input: 1, output: 1 }, model: "test/m" };
    },
  });
  const hang = defineGadget({
    name: "hang",
    description: "Hangs.",
    run: () => new Promise<string>(() => undefined),
  });
  const task = definePrompt({ path: "task", template: "task", tools: [hang] });
  const tactic = tacticOf(async ({ agents: { a, b }, step }) => {
    const stop = new AbortController();
    const codeOf = (turn: Promise<unknown>) => turn.then(() => "none", ({ code }) => code);
    const turns = [
      codeOf(a.open().say("hangs").call({ signal: stop.signal })),
      codeOf(b.open().ask(task, {}, { signal: stop.signal })),
    ];
    await step("wait", () => pause(10));
    stop.abort(new Error("enough"));
    const codes = await Promise.all(turns);
    return [codes, (await a.open().say("last").call()).text];
  });
  const journal = memoryJournal({ isAlive: () => false });
  const kept = journal.create(NEW_RUN);
  assert.equal(endOf(await run(tactic, { model: model(false), journal: kept })).error, 'agent "a": down');
  const open = journal.read(kept.id).steps.filter(({ status, kind }) =>
    status === "started" && kind === "gadget"
  );
  assert.deepEqual(open.map(({ key }) => key), []);
  asked.length = 0;
  assertValue(await run(tactic, { model: model(true), journal: journal.open(kept.id) }), [[
    "aborted",
    "aborted",
  ], "last"]);
  assert.deepEqual(asked, ["last"]);
});

// A step inside of another

Deno.test("shared: a step that was begun inside of another cannot be waited for outside, and no catch hides it", async () => {
  let done = 0;
  let shared: Promise<number> | undefined;
  const tactic = tacticOf(async ({ step }) => {
    const get = () => shared ??= step("fetch", () => ++done);
    const inner = await step("outer", async () => (await Promise.all([get(), get().then((n) => n)]))[1]);
    return [inner, await get().catch(() => "hidden")];
  });
  const journal = memoryJournal({ isAlive: () => false });
  const kept = journal.create(NEW_RUN);
  const end = endOf(await run(tactic, { model: silent, journal: kept }));
  assert.deepEqual([end.status, end.reason, done], ["failed", "config", 1]);
  assert.equal(
    end.error,
    'step "fetch" (step:outer/step:fetch) was begun inside of step:outer and is waited for outside of it: a run that is resumed would ' +
      "do it twice. Begin it before, or give what came of it back from there",
  );
});

Deno.test("shared: a step gives back what a step in it gives", async () => {
  const tactic = tacticOf(({ step }) => step("outer", () => step("inner", () => 1)));
  assertValue(await run(tactic, { model: silent, journal: memoryJournal().create(NEW_RUN) }), 1);
});

Deno.test("shared: a resumed run that may do twice what was done inside of a step says so", async () => {
  const tactic = (isFirst: boolean) =>
    tacticOf(async ({ step, agents: { a } }) => {
      let shared: Promise<number> | undefined;
      const get = () => shared ??= step("fetch", () => 1);
      await step("outer", () => get());
      await a.open().say("last").call();
      return isFirst ? 0 : await get();
    });
  const events = await resumed(tactic);
  assertValue(events, 1);
  assert.deepEqual(warningsOf(events), [
    "step:fetch is done now, and step:outer/step:fetch was done before the run was resumed: if both are meant to be one, it is done " +
    "twice; begin it before the step or the call that it lies in",
  ]);
});

// Records

const withTimer = (ms: number) =>
  tacticOf(async ({ step }) => {
    await step("one", () => 1);
    await pause(ms);
    return await step("two", () => 2);
  });

Deno.test("replay: a timer of the program may take longer than a replay waits for an engine", async () => {
  const { events, lines } = await record((options) => run(withTimer(150), { model: silent, ...options }));
  assertValue(events, 2);
  const replay = new Replay({ ...NEW_RUN, id: events[0]?.run ?? "" }, lines, { idleMs: 80 });
  assert.equal(JSON.stringify(await run(withTimer(150), { model: silent, replay })), JSON.stringify(events));
});

Deno.test("replay: a program that takes much longer than it did, or never goes on, is told of", async () => {
  const { events, lines } = await record((options) => run(withTimer(20), { model: silent, ...options }));
  const replay = new Replay({ ...NEW_RUN, id: events[0]?.run ?? "" }, lines, { idleMs: 40 });
  const end = endOf(await run(withTimer(200), { model: silent, replay }));
  assert.deepEqual([end.reason, end.error], [
    "diverged",
    'The record goes on with the step "step:two", and the run did not come to it',
  ]);
  await pause(200); // the program's own
});

// Agents over hosts of a test

Deno.test("a turn that gave up a wait as too long, and was gone on behind, gives it up again after a resume", async () => {
  const journal = memoryJournal({ isAlive: () => false });
  const full = new ModelError("full", { code: "rate-limit", retryAfterMs: 61_000 });
  const start = (model: Model, options: RunOptions) =>
    workRun("chat", options, async (started) => {
      const dialog = agentsOfRun(started, { keepsFailure: true })({ name: "a", system: "S" }, () => model)
        .open();
      const first = await dialog.say("one").call().then(({ text }) => text, (error: Error) => error.message);
      return `${first} / ${(await dialog.say("two").call()).text}`;
    });
  const first = journal.create({ kind: "chat", input: null });
  const down = new ModelError("down", { code: "request" });
  const told = await Array.fromAsync(start(fakeModel([full, down]), { journal: first }));
  assert.equal(endOf(told).error, 'agent "a": down');
  const model = { id: "fake/model", stream: () => assert.fail("it was asked again") };
  const events = await Array.fromAsync(start(model, { journal: journal.open(first.id) }));
  assert.equal(endOf(events).error, 'agent "a": down'); // that failure is kept too
});

Deno.test("a tactic's dialogs, forks among them, are the same dialogs after a resume", async () => {
  const journal = memoryJournal({ isAlive: () => false });
  const start = (model: Model, options: RunOptions) =>
    workRun("prompt", options, async (started) => {
      const make = agentsOfRun(started, {});
      const agent = make({ name: "a", system: "S" }, () => model);
      const one = agent.open().say("one");
      const [first] = await Promise.all([one.call(), agent.open().say("two").call()]);
      const fork = one.fork().say("more");
      return `${first.text} ${(await fork.call()).text} ${one.messages.length} ${fork.messages.length}`;
    });
  const replies: Readonly<Record<string, string>> = { one: "1", two: "2", more: "3" };
  const byQuestion = (isDead: (said: string) => boolean): Model => ({
    id: "test/m",
    stream(request) {
      const said = String(request.messages.at(-1)?.content);
      if (isDead(said)) throw new ModelError("killed", { code: "request" });
      return fakeModel([replies[said] ?? ""]).stream(request);
    },
  });
  const first = journal.create({ kind: "prompt", input: null });
  const failed = await Array.fromAsync(start(byQuestion((said) => said === "more"), { journal: first }));
  assert.equal(endOf(failed).status, "failed");
  const events = await Array.fromAsync(
    start(byQuestion((said) => said !== "more"), { journal: journal.open(first.id) }),
  );
  assert.deepEqual([endOf(events).status, endOf(events).value], ["done", "1 3 3 5"], endOf(events).error);
});

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);
const GOOD = "<a>yes</a>";

for (const what of ["model", "tools"] as const) {
  Deno.test(`hosts: a turn is aborted while its ${what} is looked up, which never ends`, async () => {
    const controller = new AbortController();
    let looks = 0;
    const look = <T>(here: typeof what, found: T): T | Promise<T> => {
      if (here !== what || looks++ > 0) return found;
      setTimeout(() => controller.abort(new Error("enough")), 0);
      return never<T>();
    };
    const work = defineGadget({ name: "work", description: "Works.", run: () => 1 });
    const model = fakeModel([GOOD]);
    const agent = makeAgent({ name: "a", system: "" }, {
      random: () => 0,
      budget: {},
      within: ({ signal }, turn) => inOwnRun({ clock: systemClock, signal }, turn),
      home: numberedHomes({
        tools: { find: () => look("tools", work), names: () => Promise.resolve([]) },
        model: () => look<Model>("model", model),
      }),
    });
    const dialog = agent.open();
    const prompt = definePrompt({ path: "p", template: "Hi", tools: ["work"] });
    await assert.rejects(dialog.ask(prompt, {}, { signal: controller.signal }), (error) => {
      assert.ok(error instanceof AgentError);
      assert.deepEqual([error.code, error.state.modelCalls], ["aborted", 0]);
      return true;
    });
    assert.equal((await dialog.call()).text, GOOD);
    assert.deepEqual(dialog.messages.map(({ role, content }) => `${role}: ${content}`), [
      "user: Hi",
      `assistant: ${GOOD}`,
    ]);
  });
}

Deno.test("a budget is the run's: dialogs of all its agents take from it", async () => {
  const model = fakeModel(["1", "2", "3", "4"]);
  const events = await Array.fromAsync(workRun("prompt", {}, async (started) => {
    const make = agentsOfRun(started, { budget: { turns: 3 } });
    const one = make({ name: "one", system: "" }, () => model).open();
    const two = make({ name: "two", system: "" }, () => model).open();
    const texts = [
      (await one.say("a").call()).text,
      (await two.say("b").call()).text,
      (await one.say("c").call()).text,
    ];
    await assert.rejects(
      two.say("d").call(),
      /^BudgetError: The run has made 3 model calls, its budget is 3$/,
    );
    return texts;
  }));
  assert.deepEqual(endOf(events).value, ["1", "2", "3"]);
  const keys = events.flatMap((event) => event.type === "step-start" ? [event.key] : []);
  assert.deepEqual(keys, ["dialog[1]/turn[1]/model", "dialog[2]/turn[1]/model", "dialog[1]/turn[2]/model"]);
});
