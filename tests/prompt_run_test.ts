// A prompt as a run: its events and how it ends, and its budgets (prompts.md 9, turn.md 2 and 3).
import assert from "node:assert/strict";
import { definePrompt, memoryJournal, type RunEvent, virtualClock } from "../mod.ts";
import { type Script } from "./_scripted_model.ts";
import { call, endOf, failure, type Given, GOOD, startPrompt, STILL } from "./_prompt_runs.ts";

/** All its events; its waits take no time. */
async function eventsOf(given: Given): Promise<RunEvent[]> {
  const clock = virtualClock();
  return await clock.run(Array.fromAsync(startPrompt({ clock, ...given })));
}

/** What a reader of the events sees, in short. */
function told(events: readonly RunEvent[]): readonly string[] {
  return events.map((event) => {
    switch (event.type) {
      case "run-start":
        return `${event.type} ${event.kind}`;
      case "run-end":
        return `${event.type} ${event.status}`;
      case "step-start":
        return `${event.type} ${event.key} ${event.attempt}`;
      case "step-end":
        return `${event.type} ${event.key}${event.error === undefined ? "" : ` ${event.error.message}`}`;
      case "call-open":
      case "call-run":
      case "call-result":
      case "call-error":
        return `${event.type} ${event.step?.replace(/model$/, "")}${event.invocationId}`;
      case "warning":
      case "text-delta":
        return `${event.type} ${event.text}`;
      default:
        return event.type;
    }
  });
}

const LONG: readonly Script[] = [
  [failure("slow down", "rate-limit", { status: 429, retryAfterMs: 7_000 })],
  ["no ", "tag"],
  ["Let me see. ", call("echo", { text: 1 }), call("fails"), call("nobody")],
  [failure("down", "server", { status: 500 })],
  [call("echo", { text: 2 })],
  [GOOD],
];

Deno.test("a run tells each of its steps: answers, calls, failures, waits", async () => {
  const events = await eventsOf({ scripts: LONG });
  assert.deepEqual(told(events), [
    "run-start prompt",
    "step-start dialog[1]/turn[1]/model 1",
    "step-end dialog[1]/turn[1]/model slow down",
    "warning slow down; trying again in 7 s",
    "step-start dialog[1]/turn[2]/model 1",
    "text-delta no ",
    "text-delta tag",
    "message",
    "usage",
    "step-end dialog[1]/turn[2]/model",
    "warning task: the answer is asked for again (1 of 3): Parsing errors: " +
    "Missing required tag <a>: provide it as <a>...</a>",
    "step-start dialog[1]/turn[3]/model 1",
    "text-delta Let me see. ",
    "message",
    "usage",
    "step-end dialog[1]/turn[3]/model",
    "call-open dialog[1]/turn[3]/call_1",
    "call-run dialog[1]/turn[3]/call_1",
    "call-log",
    "call-result dialog[1]/turn[3]/call_1",
    "call-open dialog[1]/turn[3]/call_2",
    "call-run dialog[1]/turn[3]/call_2",
    "call-open dialog[1]/turn[3]/call_3",
    "call-error dialog[1]/turn[3]/call_3",
    "call-error dialog[1]/turn[3]/call_2",
    "step-start dialog[1]/turn[4]/model 1",
    "step-end dialog[1]/turn[4]/model down",
    "warning down; trying again in 1 s",
    "step-start dialog[1]/turn[5]/model 1",
    "message",
    "usage",
    "step-end dialog[1]/turn[5]/model",
    "call-open dialog[1]/turn[5]/call_4",
    "call-run dialog[1]/turn[5]/call_4",
    "call-log",
    "call-result dialog[1]/turn[5]/call_4",
    "step-start dialog[1]/turn[6]/model 1",
    `text-delta ${GOOD}`,
    "message",
    "usage",
    "step-end dialog[1]/turn[6]/model",
    "run-end done",
  ]);
  const { status, value, usage, at } = endOf(events);
  assert.deepEqual({ status, value }, {
    status: "done",
    value: { raw: GOOD, xmlTags: { a: ["yes"] }, mdTags: {}, signalTags: {} },
  });
  assert.deepEqual(usage, { input: 40, output: 20 }); // of the four answers
  assert.equal(at, 8_000);
});

Deno.test("how a run ends that has no answer: status, reason, value and what is kept", async () => {
  const limits = { exceptionRetries: 1, interruptSteps: 1, llmRecalls: 0, rateLimitWaits: 0 };
  const bad = call("echo", { text: 1 });
  const cases: readonly {
    readonly name: string;
    readonly given: Given;
    readonly end: object;
    readonly kept: string;
  }[] = [
    {
      name: "exceptions",
      given: { scripts: [["one"], ["two"]] },
      end: {
        status: "failed",
        reason: "contract",
        value: "two",
        error: 'agent "a": no valid answer after 1 retries: Parsing errors:\n' +
          "Missing required tag <a>: provide it as <a>...</a>",
        usage: { input: 20, output: 10 },
      },
      kept: "failed",
    },
    {
      name: "interrupts",
      given: { scripts: [[bad], [bad], [bad]] },
      end: {
        status: "failed",
        error: 'agent "a": still calling tools after the limit of 1 rounds',
        usage: { input: 30, output: 15 },
      },
      kept: "failed",
    },
    {
      name: "provider",
      given: { scripts: [[failure("down", "server")]] },
      end: { status: "failed", reason: "provider", error: 'agent "a": down', usage: { input: 0, output: 0 } },
      kept: "stopped",
    },
    {
      name: "provider, refused by the policy",
      given: { scripts: [[failure("not allowed", "permission", { flag: "--allow-net=x" })]] },
      end: {
        status: "failed",
        reason: "permission",
        error: 'agent "a": not allowed',
        usage: { input: 0, output: 0 },
      },
      kept: "stopped",
    },
    {
      name: "rate_limit",
      given: { scripts: [[failure("full", "rate-limit")]] },
      end: {
        status: "failed",
        reason: "provider",
        error: 'agent "a": rate limited 1 times: full',
        usage: { input: 0, output: 0 },
      },
      kept: "stopped",
    },
    {
      name: "config",
      given: {
        scripts: [],
        gadgets: [],
        prompt: definePrompt({ path: "p", template: "x", tools: ["nobody"] }),
      },
      end: {
        status: "failed",
        reason: "config",
        error: 'agent "a": prompt "p": unknown tool "nobody"',
        usage: { input: 0, output: 0 },
      },
      kept: "failed",
    },
    {
      name: "handler",
      given: { scripts: [["one"]], handler: { onException: () => null } },
      end: {
        status: "failed",
        error: 'handler onException of prompt "task" gave up',
        usage: { input: 10, output: 5 },
      },
      kept: "failed",
    },
    {
      name: "parser",
      given: {
        scripts: [["one"]],
        prompt: definePrompt({
          path: "p",
          template: "x",
          parser: {
            parse: () => {
              throw new Error("bug");
            },
          },
        }),
      },
      end: {
        status: "failed",
        error: 'agent "a": the parser of prompt "p" failed: bug',
        usage: { input: 10, output: 5 },
      },
      kept: "failed",
    },
    {
      name: "a value that is no JSON",
      given: {
        scripts: [["one"]],
        prompt: definePrompt({ path: "p", template: "x", parser: { parse: () => new Map() } }),
      },
      end: {
        status: "failed",
        error: 'prompt "p": what its parser gives is not JSON: found a Map; the value of a run is JSON',
        usage: { input: 10, output: 5 },
      },
      kept: "failed",
    },
  ];
  for (const { name, given, end, kept } of cases) {
    const journal = memoryJournal();
    const run = journal.create({ kind: "prompt", input: null });
    const events = await eventsOf({ ...given, agent: { name: "a", system: "", limits }, journal: run });
    const { type: _type, seq: _seq, at: _at, run: _run, ...found } = endOf(events);
    assert.deepEqual(found, end, name);
    assert.equal(journal.read(run.id).summary.status, kept, name);
  }
});

Deno.test("a prompt that cannot be rendered is told before its run begins", () => {
  assert.throws(() => startPrompt({ scripts: [], args: {} }), {
    name: "PromptError",
    code: "render",
    message: 'prompt "task": missing variables: what',
  });
});

Deno.test("an interrupted run can be gone on with", async () => {
  const controller = new AbortController();
  const journal = memoryJournal({ isAlive: () => false });
  const run = journal.create({ kind: "prompt", input: null });
  const events: RunEvent[] = [];
  const scripts: readonly Script[] = [[call("echo", { text: 1 })], ["half ", 60_000, "whole"]];
  for await (const event of startPrompt({ scripts, signal: controller.signal, journal: run })) {
    events.push(event);
    if (event.type === "text-delta") controller.abort(new Error("Ctrl-C"));
  }
  const { status, reason, error } = endOf(events);
  assert.deepEqual([status, reason, error], ["stopped", "interrupted", undefined]);
  assert.equal(journal.read(run.id).summary.status, "stopped");
  const resumed = await eventsOf({
    scripts: [[GOOD]],
    gadgets: STILL,
    journal: journal.open(run.id),
  });
  assert.equal(endOf(resumed).status, "done");
  assert.deepEqual(endOf(resumed).usage, { input: 20, output: 10 });
  assert.equal(told(resumed).filter((line) => line.startsWith("call-run")).length, 1);
});

Deno.test("each budget of a run holds its next model call back, and says which it was", async () => {
  const scripts = Array.from({ length: 9 }, (_, i): Script => [call("echo", { text: i })]);
  const cases = [
    [{ turns: 2 }, "turns", "The run has made 2 model calls, its budget is 2", 2],
    [{ tokens: 40 }, "tokens", "The run has used 45 tokens, its budget is 40", 3],
    [
      { cost: 1 },
      "cost",
      "The price of this model is not known, so a budget of cost cannot be held: set models.prices in orrery.yaml",
      1,
    ],
    [{ timeMs: 0 }, "time", "The run has taken 0 s, its budget is 0 s", 0],
  ] as const;
  for (const [budget, reason, error, calls] of cases) {
    const journal = memoryJournal();
    const run = journal.create({ kind: "prompt", input: null });
    const events = await eventsOf({ scripts, budget, journal: run });
    const end = endOf(events);
    assert.deepEqual([end.status, end.reason, end.error, end.value], ["stopped", reason, error, undefined]);
    assert.equal(told(events).filter((line) => line.startsWith("step-start")).length, calls);
    assert.equal(journal.read(run.id).summary.status, "stopped");
  }
});
