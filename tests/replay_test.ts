// A record and its replay (turn.md 3): the same events, times included, with nothing performed; and what happens when the run is another one.
import fc from "fast-check";
import assert from "node:assert/strict";
import {
  type AnyGadget,
  ask,
  chat,
  createCatalog,
  type DialogOptions,
  ModelError,
  runCalls,
  type RunEvent,
  systemClock,
} from "../mod.ts";
import type { RecordLine } from "../lib/core/journal.ts";
import { Replay } from "../lib/run/replay/replay.ts";
import type { RunOptions } from "../lib/run/run.ts";
import { type Script, scriptedModel } from "./_scripted_model.ts";

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

async function eventsOf(events: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const all: RunEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

async function record(start: (options: RunOptions) => AsyncIterable<RunEvent>): Promise<Recorded> {
  const lines: RecordLine[] = [];
  const events = await eventsOf(
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
  const replayed = await eventsOf(calls("", nothing)({ replay: replayOf(recorded) }));
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
  const replayed = await eventsOf(ask("Go", { ...options(nothing, []), replay: replayOf(recorded) }));
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
  const replayed = await eventsOf(
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
  const replayed = await eventsOf(calls("", nothing)({ replay: replayOf(recorded) }));
  assert.equal(JSON.stringify(replayed), JSON.stringify(recorded.events));
});

Deno.test("another prompt ends the replay with the difference", async () => {
  const recorded = await record((more) => ask("Go there", { ...options(gadgets), ...more }));
  const events = await eventsOf(ask("Go home", { ...options(nothing, []), replay: replayOf(recorded) }));
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
  const events = await eventsOf(calls("", nothing)({ replay: replayOf(short) }));
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
      const replayed = await eventsOf(calls("", nothing)({ replay: replayOf(recorded) }));
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
    const replayed = await eventsOf(
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
  const replayed = await eventsOf(ask("Go", { ...options([], []), replay: replayOf(recorded) }));
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
  const replayed = await eventsOf(ask("Go", { model: endless, replay: replayOf(recorded) }));
  assert.equal(JSON.stringify(replayed), JSON.stringify(recorded.events));
});
