// A record and its replay (turn.md 3): the same events, times included, with nothing performed; and what happens when the run is another one.
import fc from "fast-check";
import assert from "node:assert/strict";
import {
  type AnyGadget,
  ask,
  chat,
  createCatalog,
  type DialogOptions,
  memoryJournal,
  ModelError,
  type ModelPart,
  runCalls,
  type RunEvent,
  type RunJournal,
  systemClock,
  virtualClock,
} from "../mod.ts";
import type { RecordLine } from "../lib/core/journal.ts";
import { performEffect } from "../lib/run/effect.ts";
import { Replay } from "../lib/run/replay/replay.ts";
import type { Run, RunOptions } from "../lib/run/run.ts";
import { endingRun } from "../lib/run/work_run.ts";
import { type Script, scriptedModel } from "./_scripted_model.ts";
import { call, endOf, failure, type Given, GOOD, startPrompt, STILL } from "./_prompt_runs.ts";

const sleep = (ms: number, signal: AbortSignal): Promise<void> => systemClock.sleep(ms, signal);

const gadgets: readonly AnyGadget[] = [
  { name: "Now", description: "Now.", run: () => "now" },
  { name: "Echo", description: "Echo.", run: (input: { text?: unknown }) => input.text ?? null } as AnyGadget,
  {
    name: "Slow",
    description: "Slow.",
    run: async (input: { ms?: number }, context) => {
      context.log("half ");
      await sleep(input.ms ?? 3, context.signal);
      context.progress(1, 2);
      context.log("way");
      return { slept: true };
    },
  } as AnyGadget,
  { name: "Fails", description: "Fails.", run: () => Promise.reject(new Error("no luck")) },
  { name: "Late", description: "Late.", timeoutMs: 5, run: (_input, { signal }) => sleep(60_000, signal) },
];

const nothing: readonly AnyGadget[] = gadgets.map((gadget) => ({
  ...gadget,
  run: () => {
    throw new Error("it was performed");
  },
}));

interface Recorded {
  readonly events: readonly RunEvent[];
  readonly lines: readonly RecordLine[];
}

async function record(start: (options: RunOptions) => AsyncIterable<RunEvent>): Promise<Recorded> {
  const lines: RecordLine[] = [];
  const events = await Array.fromAsync(
    start({ recorder: { write: (line) => void lines.push(structuredClone(line)) } }),
  );
  return { events, lines };
}

/** As it comes back from a file. */
function replayOf({ events, lines }: Recorded): Replay {
  const id = events[0]?.run ?? assert.fail("no events");
  return new Replay({ kind: "test", input: null, id }, JSON.parse(JSON.stringify(lines)));
}

const calls = (text: string, all: readonly AnyGadget[]) => (options: RunOptions): AsyncIterable<RunEvent> =>
  runCalls(text.match(/[^]{1,7}/g) ?? [], { ...options, catalog: createCatalog(all), file: "x.calls" });

const TEXT = `Hello.
!!!GADGET_START:Slow:a
!!!ARG:ms
20
!!!GADGET_END
!!!GADGET_START:Slow:b
!!!GADGET_END
!!!GADGET_START:Echo:c:a,b
!!!ARG:text
{{results.a/slept}} {{results.b}}
!!!GADGET_END
!!!GADGET_START:Fails:f
!!!GADGET_END
!!!GADGET_START:Echo:g:f
!!!GADGET_END
!!!GADGET_START:Late:l
!!!GADGET_END
!!!GADGET_START:Nobody:n
!!!GADGET_END
!!!GADGET_START:Echo:p
!!!ARG:a b
x
!!!GADGET_END
Bye.`;

Deno.test("a call file: the replay tells the same events, times included, and performs nothing", async () => {
  const recorded = await record(calls(TEXT, gadgets));
  const replayed = await Array.fromAsync(calls("", nothing)({ replay: replayOf(recorded) }));
  assert.deepEqual(replayed, recorded.events);
  assert.equal(JSON.stringify(replayed), JSON.stringify(recorded.events));
});

const block = (header: string, rest = ""): string => `!!!GADGET_START:${header}\n${rest}!!!GADGET_END\n`;

const SCRIPTS: readonly Script[] = [
  [
    "Let me ",
    2,
    "see.\n",
    block("Slow:a") + block("Slow:b", "!!!ARG:ms\n9\n"),
    4,
    "and\n",
    block("Echo:c:a"),
  ],
  [block("Fails:f"), new ModelError("the line broke", { code: "network" })],
  ["All ", 1, "done."],
];

const options = (all: readonly AnyGadget[], scripts: readonly Script[] = SCRIPTS): DialogOptions => ({
  model: scriptedModel(scripts),
  catalog: createCatalog(all),
  tools: all.map(({ name }) => name),
});

Deno.test("a turn with gadgets: the replay tells the same events, asks no model and performs nothing", async () => {
  const recorded = await record((more) => ask("Go", { ...options(gadgets), ...more }));
  assert.equal(recorded.events.at(-1)?.type === "run-end" && recorded.events.at(-1), recorded.events.at(-1));
  const replayed = await Array.fromAsync(ask("Go", { ...options(nothing, []), replay: replayOf(recorded) }));
  assert.equal(JSON.stringify(replayed), JSON.stringify(recorded.events));
});

Deno.test("a chat with budgets and failures", async () => {
  const said = ["One", "Two"];
  const scripts: readonly Script[] = [["1"], [new ModelError("down", { code: "server" })]];
  const recorded = await record((more) =>
    chat({ next: (n) => Promise.resolve(said[n - 1]) }, {
      ...options([], scripts),
      budget: { timeMs: 60_000 },
      ...more,
    })
  );
  const replayed = await Array.fromAsync(
    chat({ next: () => Promise.reject(new Error("asked")) }, {
      ...options([], []),
      budget: { timeMs: 60_000 },
      replay: replayOf(recorded),
    }),
  );
  assert.equal(JSON.stringify(replayed), JSON.stringify(recorded.events));
});

Deno.test("an interrupted run is replayed up to its interruption", async () => {
  const controller = new AbortController();
  const recorded = await record((more) => {
    setTimeout(() => controller.abort(new Error("the run was interrupted")), 15);
    return calls(block("Slow:s", "!!!ARG:ms\n5000\n") + block("Echo:e:s"), gadgets)({
      ...more,
      signal: controller.signal,
    });
  });
  const replayed = await Array.fromAsync(calls("", nothing)({ replay: replayOf(recorded) }));
  assert.equal(JSON.stringify(replayed), JSON.stringify(recorded.events));
});

Deno.test("another prompt ends the replay with the difference", async () => {
  const recorded = await record((more) => ask("Go there", { ...options(gadgets), ...more }));
  const events = await Array.fromAsync(
    ask("Go home", { ...options(nothing, []), replay: replayOf(recorded) }),
  );
  const end = events.at(-1);
  assert.ok(end?.type === "run-end");
  assert.deepEqual([end.status, end.reason], ["failed", "diverged"]);
  assert.match(
    end.error ?? "",
    /Step "turn\[1\]\/model" is not the recorded one: at "\/input\/messages\/1\/content" the record has "Go there", the run now has "Go home"/,
  );
});

Deno.test("a record that ends too early, or wants what the run does not do, is said", async () => {
  const recorded = await record(calls(block("Slow:a"), gadgets));
  const short = {
    events: recorded.events,
    lines: recorded.lines.filter((line) => line.type !== "outcome" && line.type !== "event"),
  };
  const events = await Array.fromAsync(calls("", nothing)({ replay: replayOf(short) }));
  const end = events.at(-1);
  assert.ok(end?.type === "run-end" && end.reason === "diverged", JSON.stringify(end));
});

Deno.test("property: whatever calls run, with whatever times, the replay is the recording", async () => {
  const call = fc.record({
    name: fc.constantFrom("Now", "Slow", "Fails", "Echo", "Nobody"),
    ms: fc.integer({ min: 0, max: 6 }),
    needs: fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { maxLength: 6 }), async (list) => {
      const text = list.map(({ name, ms, needs }, index) =>
        block(`${name}:c${index}:${needs.map((need) => `c${need}`).join(",")}`, `!!!ARG:ms\n${ms}\n`)
      ).join("text\n");
      const recorded = await record(calls(text, gadgets));
      const replayed = await Array.fromAsync(calls("", nothing)({ replay: replayOf(recorded) }));
      assert.equal(JSON.stringify(replayed), JSON.stringify(recorded.events));
    }),
    { numRuns: 60 },
  );
});

Deno.test("calls that start when the answer has ended, and blocks that its end closes, are replayed", async () => {
  const scripts: readonly Script[] = [[block("Slow:a"), "!!!GADGET_START:Echo:b\n!!!ARG:text\nx"], ["Done."]];
  for (const startCalls of ["after-reply", "mid-stream"] as const) {
    const policy = { startCalls };
    const recorded = await record((more) => ask("Go", { ...options(gadgets, scripts), policy, ...more }));
    const replayed = await Array.fromAsync(
      ask("Go", { ...options(nothing, []), policy, replay: replayOf(recorded) }),
    );
    assert.equal(JSON.stringify(replayed), JSON.stringify(recorded.events));
  }
});

Deno.test("an answer that was interrupted is replayed up to there", async () => {
  const controller = new AbortController();
  const scripts: readonly Script[] = [["one ", 5, "two ", 5_000, "three"]];
  const recorded = await record((more) => {
    setTimeout(() => controller.abort(new Error("the run was interrupted")), 40);
    return ask("Go", { ...options([], scripts), ...more, signal: controller.signal });
  });
  const replayed = await Array.fromAsync(ask("Go", { ...options([], []), replay: replayOf(recorded) }));
  assert.equal(JSON.stringify(replayed), JSON.stringify(recorded.events));
});

Deno.test("a stream that ended without a finish is replayed as that", async () => {
  const endless = {
    id: "test/endless",
    stream: async function* () {
      yield { type: "text" as const, text: "Just text." };
    },
  };
  const recorded = await record((more) => ask("Go", { model: endless, ...more }));
  assert.ok(recorded.events.some((event) => event.type === "warning" && event.text.includes("cut off")));
  const replayed = await Array.fromAsync(ask("Go", { model: endless, replay: replayOf(recorded) }));
  assert.equal(JSON.stringify(replayed), JSON.stringify(recorded.events));
});

// Prompts

/** Its waits take no time. */
async function* startQuickly(given: Given): AsyncIterable<RunEvent> {
  const clock = virtualClock();
  yield* await clock.run(Array.fromAsync(startPrompt({ clock, ...given })));
}

const LONG: readonly Script[] = [
  [failure("slow down", "rate-limit", { status: 429, retryAfterMs: 7_000 })],
  ["no ", "tag"],
  ["Let me see. ", call("echo", { text: 1 }), call("fails"), call("nobody")],
  [failure("down", "server", { status: 500 })],
  [call("echo", { text: 2 })],
  [GOOD],
];

const recordPrompt = (given: Given): Promise<Recorded> =>
  record((options) => startQuickly({ ...options, ...given }));

async function assertPromptReplays(recorded: Recorded, given: Omit<Given, "scripts"> = {}): Promise<void> {
  const model = {
    id: "test/scripted",
    stream: () => assert.fail("the model was asked"),
  };
  const replayed = await Array.fromAsync(
    startPrompt({
      gadgets: STILL,
      random: () => 0.5,
      ...given,
      scripts: [],
      model,
      replay: replayOf(recorded),
    }),
  );
  assert.equal(
    replayed.map((event) => JSON.stringify(event)).join("\n"),
    recorded.events.map((event) => JSON.stringify(event)).join("\n"),
  );
}

Deno.test("a run with rounds, retries, failures and waits: the replay tells the same, and does nothing", async () => {
  for (const random of [() => 0, () => 0.77]) {
    const recorded = await recordPrompt({ scripts: LONG, random });
    assert.equal(endOf(recorded.events).status, "done");
    await assertPromptReplays(recorded);
  }
});

Deno.test("runs that failed, or were held back by a budget, are replayed to their end", async () => {
  const agent = { name: "a", system: "S", limits: { exceptionRetries: 1, llmRecalls: 1, interruptSteps: 1 } };
  const scripts: readonly (readonly Script[])[] = [
    [["one"], ["two"]],
    [[call("echo", { text: 1 })], [call("echo", { text: 1 })], [call("echo", { text: 1 })]],
    [[failure("down", "network")], ["half", failure("down", "network")]],
    [[failure("full", "rate-limit", { retryAfterMs: 61_000 })]],
  ];
  for (const script of scripts) {
    const recorded = await recordPrompt({ scripts: script, agent });
    assert.equal(endOf(recorded.events).status, "failed");
    await assertPromptReplays(recorded, { agent });
  }
  const budget = { turns: 2, timeMs: 60_000 };
  const recorded = await recordPrompt({ scripts: LONG, budget });
  assert.equal(endOf(recorded.events).reason, "turns");
  await assertPromptReplays(recorded, { budget });
});

Deno.test("a run that was interrupted in a wait is replayed up to there", async () => {
  const controller = new AbortController();
  const clock = virtualClock();
  const scripts: readonly Script[] = [[failure("down", "server")], [GOOD]];
  const lines: RecordLine[] = [];
  const recorder: RunOptions["recorder"] = { write: (line) => void lines.push(structuredClone(line)) };
  void clock.sleep(500).then(() => controller.abort(new Error("the run was interrupted")));
  const { signal } = controller;
  const events = await clock.run(Array.fromAsync(startPrompt({ scripts, clock, signal, recorder })));
  assert.deepEqual([endOf(events).reason, endOf(events).at], ["interrupted", 500]);
  await assertPromptReplays({ events, lines });
});

Deno.test("who stops a run that has ended adds nothing to its record, which is closed by then", async () => {
  const stop = new AbortController();
  let isClosed = false;
  const write = (): void => assert.ok(!isClosed, "written to a closed record");
  const events = await Array.fromAsync(calls(TEXT, gadgets)({ stop, recorder: { write } }));
  assert.equal(endOf(events).type, "run-end");
  isClosed = true;
  stop.abort(new Error("Ctrl-C"));
});

Deno.test("a prompt that is another one ends the replay with the difference", async () => {
  const recorded = await recordPrompt({ scripts: LONG });
  const events = await Array.fromAsync(
    startPrompt({ gadgets: STILL, scripts: [], args: { what: "that" }, replay: replayOf(recorded) }),
  );
  const { status, reason, error = "" } = endOf(events);
  assert.deepEqual([status, reason], ["failed", "diverged"]);
  assert.match(
    error,
    /at "\/input\/messages\/0\/content" the record has "Do it\.", the run now has "Do that\."/,
  );
});

Deno.test("property: whatever a model says and fails at, the replay is the recording", async () => {
  const part = fc.oneof(
    fc.constantFrom<string | ModelPart>("text ", GOOD),
    fc.record({ name: fc.constantFrom("echo", "fails", "nobody"), n: fc.nat({ max: 3 }) }).map((
      { name, n },
    ) => call(name, { text: n })),
  );
  const script = fc.tuple(
    fc.array(part, { maxLength: 4 }),
    fc.option(fc.constantFrom<ModelError["code"]>("rate-limit", "server", "network", "request"), {
      nil: undefined,
      freq: 3,
    }),
  ).map(([parts, code]): Script => code === undefined ? parts : [...parts, failure("failed", code)]);
  const agent = { name: "a", system: "S", limits: { interruptSteps: 2, exceptionRetries: 1 } };
  await fc.assert(
    fc.asyncProperty(fc.array(script, { minLength: 1, maxLength: 8 }), async (scripts) => {
      const recorded = await recordPrompt({ scripts, agent, random: Math.random });
      await assertPromptReplays(recorded, { agent, random: Math.random });
    }),
    { numRuns: 60 },
  );
});

// Steps that only read: many in a row are one commit, and nothing else begins, or is told, before they are kept (turn.md 3).

/** A journal that says what is asked of it, in its order. */
function noting(journal: RunJournal): { readonly journal: RunJournal; readonly asked: string[] } {
  const asked: string[] = [];
  const noted = new Proxy(journal, {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: readonly unknown[]) => {
        if (name === "commit") asked.push("commit");
        return value.apply(target, args);
      };
    },
  });
  return { journal: noted, asked };
}

async function effect(run: Run, key: string, kind: "read" | "write"): Promise<void> {
  await performEffect(run, {
    key,
    kind,
    name: key,
    input: null,
    isIdempotent: true,
    isSilent: kind === "read",
    perform: () => new Promise((resolve) => setTimeout(() => resolve(key), 1)),
  });
}

Deno.test("read steps: many in a row are few commits, and all of them are kept before anything else begins", async () => {
  const all = memoryJournal({ isAlive: () => false });
  const { journal, asked } = noting(all.create({ kind: "test", input: null }));
  const kept: number[] = [];
  const finished = () => all.read(journal.id).steps.filter(({ status }) => status === "finished").length;
  const events: RunEvent[] = [];
  const work = endingRun("document", { journal, file: "x.md" }, async (run) => {
    await effect(run, "write-0", "write"); // behind the opening of the run
    for (let n = 0; n < 100; n++) await effect(run, `read-${n}`, "read");
    const before = asked.length;
    await performEffect(run, {
      key: "write-1",
      kind: "write",
      name: "x",
      input: null,
      isIdempotent: false,
      perform: () => {
        kept.push(finished(), asked.length - before);
        return Promise.resolve(null);
      },
    });
    await effect(run, "read-last", "read");
    return { status: "done" };
  });
  for await (const event of work) events.push(event);
  assert.equal(kept[0], 101, "every read is kept when the command begins");
  assert.ok(asked.length < 40, `${asked.length} commits`);
  assert.equal(finished(), 103);
});

Deno.test("read steps: one behind another step waits for it to be kept", async () => {
  const all = memoryJournal({ isAlive: () => false });
  const { journal } = noting(all.create({ kind: "test", input: null }));
  const seen: string[][] = [];
  const work = endingRun("document", { journal, file: "x.md" }, async (run) => {
    await effect(run, "read-0", "read");
    await effect(run, "write-0", "write");
    await performEffect(run, {
      key: "read-1",
      kind: "read",
      name: "x",
      input: null,
      isIdempotent: true,
      perform: () => {
        seen.push(
          all.read(journal.id).steps.filter(({ status }) => status === "finished").map(({ key }) => key),
        );
        return Promise.resolve(null);
      },
    });
    return { status: "done" };
  });
  for await (const _event of work);
  assert.deepEqual(seen, [["read-0", "write-0"]]);
});
