// A conversation with an agent (`agentTalk`), and prompts that a conversation asks by calls: what is told, kept, replayed and gone on with.
import assert from "node:assert/strict";
import {
  chat,
  defineGadget,
  definePrompt,
  fakeModel,
  memoryJournal,
  type Model,
  ModelError,
  type ModelPart,
  PromptRegistry,
  type RunEvent,
  tags,
  virtualClock,
  type World,
} from "../../../mod.ts";
import { builtInGadgets } from "../../../gadgets/built_in.ts";
import { builtInEntries, catalogOf } from "../../../lib/catalog/catalog.ts";
import type { RecordLine } from "../../../lib/core/journal.ts";
import { agentTalk, type AgentTalkOptions } from "../../../lib/run/agent/prompt_run.ts";
import { promptCalls } from "../../../lib/run/agent/prompt_calls.ts";
import { Replay } from "../../../lib/run/replay/replay.ts";
import { stoppableGadget, stoppableModel } from "../../../lib/service/start/stoppable.ts";
import { mortalJournal } from "../../_mortal_journal.ts";
import { goneOn, inBothJournals, strictJournal } from "../../_strict_steps.ts";

const call = (name: string, input: object = {}): ModelPart => ({
  type: "call",
  call: { id: "", name, arguments: JSON.stringify(input) },
});

const look = defineGadget({
  name: "look",
  description: "Looks.",
  input: { type: "object" },
  run: () => "seen",
});
const system = definePrompt({
  path: "system",
  template: "You answer in {tag}.",
  parser: tags({ requiredXmlTags: ["a"] }),
  tools: [look],
});

/** By the last message. */
const REPLIES: Readonly<Record<string, string | readonly ModelPart[] | ModelError>> = {
  one: "<a>1</a>",
  two: [call("look")],
  three: "no tag",
  four: new ModelError("down", { code: "request" }),
  five: "<a>5</a>",
};

function replying(): Model {
  return fakeModel(({ messages }) => {
    const last = String(messages.at(-1)?.content);
    return REPLIES[last] ?? (last.includes("seen") ? "<a>2</a>" : "still no tag");
  }, { id: "fake/agent" });
}

const SAID = ["one", "two", "three", "four", "five"];

interface Heard {
  readonly events: RunEvent[];
  /** The numbers of the messages that were asked for, and of those that were answered. */
  readonly next: number[];
  readonly answered: number[];
}

async function talking(options: Partial<AgentTalkOptions> = {}): Promise<Heard> {
  const [next, answered]: [number[], number[]] = [[], []];
  const source = {
    next: (n: number) => Promise.resolve((next.push(n), SAID[n - 1])),
    answered: (n: number) => void answered.push(n),
  };
  const agent = { name: "bot", system, limits: { exceptionRetries: 1 } };
  const events = agentTalk(source, { agent, args: { tag: "a" }, model: replying(), ...options });
  return { events: await Array.fromAsync(events), next, answered };
}

const endOf = (events: readonly RunEvent[]) => {
  const end = events.at(-1);
  return end?.type === "run-end" ? end : assert.fail("no run-end");
};

/** Of turns that have failed. */
const warnings = (events: readonly RunEvent[]): readonly string[] =>
  events.flatMap((event) => event.type === "warning" && event.text.startsWith("agent ") ? [event.text] : []);

Deno.test("a talk with an agent: each message is a turn of one dialog, and a turn that fails is told", async () => {
  const { events, next, answered } = await talking();
  assert.deepEqual([next, answered], [[1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5]]);
  assert.deepEqual(warnings(events), [
    'agent "bot": no valid answer after 1 retries: Parsing errors:\nMissing required tag <a>: provide it as <a>...</a>',
    'agent "bot": down',
  ]);
  const { status, value } = endOf(events);
  assert.deepEqual([status, value], ["done", {
    raw: "<a>5</a>",
    xmlTags: { a: ["5"] },
    mdTags: {},
    signalTags: {},
  }]);
  const keys = events.flatMap((event) => event.type === "step-start" ? [event.key] : []);
  assert.deepEqual(keys, [1, 2, 3, 4, 5, 6, 7].map((n) => `dialog[1]/turn[${n}]/model`));
});

Deno.test("what is said is never a template, and the contract of the system prompt holds to the end", async () => {
  const model = fakeModel(["<a>x</a>"]);
  const source = { next: (n: number) => Promise.resolve(n === 1 ? "{tag} {{x}}" : undefined) };
  const agent = { name: "bot", system, addedText: "{as it is}" };
  await Array.fromAsync(agentTalk(source, { agent, args: { tag: "<a>" }, model }));
  assert.deepEqual(model.requests[0]?.messages, [
    { role: "system", content: "You answer in <a>.\n\n{as it is}" },
    { role: "user", content: "{tag} {{x}}" },
  ]);
});

Deno.test("what ends a talk: a budget, values that are missing, an agent that cannot be asked", async () => {
  const budget = await talking({ budget: { turns: 2 } });
  assert.deepEqual([endOf(budget.events).status, endOf(budget.events).reason], ["stopped", "turns"]);
  assert.deepEqual(budget.answered, [1]);
  const missing = await talking({ args: {} });
  assert.deepEqual([endOf(missing.events).reason, missing.next], ["config", []]);
  assert.match(endOf(missing.events).error ?? "", /missing variables: tag/);
  const lost = definePrompt({ path: "lost", template: "x", tools: ["nowhere"] });
  const config = await talking({ agent: { name: "bot", system: lost } });
  assert.deepEqual([endOf(config.events).reason, config.next], ["config", [1]]);
  const stop = new AbortController();
  const model = fakeModel((request) => {
    if (request.messages.length > 2) stop.abort();
    return "<a>1</a>";
  });
  const interrupted = endOf((await talking({ model, signal: stop.signal })).events);
  assert.deepEqual([interrupted.status, interrupted.reason], ["stopped", "interrupted"]);
  assert.match(JSON.stringify(interrupted.value), /<a>1<\/a>/);
});

Deno.test("a talk with an agent is replayed byte for byte, and nobody is asked", async () => {
  const lines: RecordLine[] = [];
  const { events } = await talking({ recorder: { write: (line) => void lines.push(structuredClone(line)) } });
  const replay = new Replay(
    { kind: "chat", input: null, id: events[0]?.run ?? "" },
    JSON.parse(JSON.stringify(lines)),
  );
  const silent = fakeModel(() => assert.fail("the model was asked"));
  const again = await talking({ replay, model: silent });
  assert.equal(
    again.events.map((each) => JSON.stringify(each)).join("\n"),
    events.map((each) => JSON.stringify(each)).join("\n"),
  );
  assert.deepEqual([again.next, again.answered], [[], [1, 2, 3, 4, 5]]);
});

inBothJournals(
  "a talk with an agent that dies anywhere goes on where it was, failures included",
  async ({ isStrict }) => {
    const want = endOf((await talking()).events);
    let deaths = 0;
    for (let n = 1;; n++) {
      for (const isDone of [false, true]) {
        const journal = memoryJournal({ isAlive: () => false });
        const first = mortalJournal(journal.create({ kind: "chat", input: null }), { n, isDone });
        await talking({ journal: first });
        if (!first.died()) {
          assert.ok(deaths >= 40, String(deaths));
          return;
        }
        deaths++;
        if (!["running", "stopped"].includes(journal.read(first.id).summary.status)) continue;
        const { events } = await goneOn(isStrict ? strictJournal(journal) : journal, first.id, {
          settle(second) {
            const open = journal.read(first.id).steps.filter(({ status, idempotent }) =>
              status === "started" && !idempotent
            );
            for (const { key } of open) second.settle(key, "rerun");
          },
          start: (second) => talking({ journal: second }),
        });
        const end = endOf(events);
        const where = `killed at operation ${n}, ${isDone ? "after" : "before"} it`;
        assert.deepEqual([end.status, end.value], [want.status, want.value], `${where}: ${end.error}`);
        assert.equal(warnings(events).length, 2, where);
      }
    }
  },
);

Deno.test("a stopped answer fails its turn without a retry, a wait for the provider ends with it, and the talk is the same when it is gone on with", async () => {
  const stops = SAID.map(() => new AbortController());
  let n = 0;
  const turn = () => stops[n - 1]?.signal ?? new AbortController().signal;
  let asked = 0;
  const stopping = (): Model => {
    const model = replying();
    return {
      id: model.id,
      async *stream(request) {
        asked++;
        const last = request.messages.at(-1)?.content;
        if (last === "one") {
          yield { type: "text", text: "half" };
          stops[0]?.abort();
        } else if (last === "two") {
          setTimeout(() => stops[1]?.abort(), 1);
          throw new ModelError("busy", { code: "rate-limit", retryAfterMs: 60_000 });
        }
        yield* model.stream(request);
      },
    };
  };
  const talk = async (options: Partial<AgentTalkOptions>, most: number) => {
    const source = {
      next: (each: number) => Promise.resolve(each > most ? undefined : (n = each, SAID[each - 1])),
    };
    const agent = { name: "bot", system, limits: { exceptionRetries: 3 } };
    const model = stoppableModel(stopping(), turn, { whenStopped: "fails" });
    return await Array.fromAsync(
      agentTalk(source, { agent, args: { tag: "a" }, model, wake: turn, ...options }),
    );
  };
  const journal = memoryJournal({ isAlive: () => false });
  const run = journal.create({ kind: "chat", input: null });
  const began = performance.now();
  const first = await talk({ journal: run }, 2);
  assert.ok(performance.now() - began < 2_000);
  assert.deepEqual(warnings(first), [
    'agent "bot": the answer was stopped',
    'agent "bot": the answer was stopped',
  ]);
  assert.equal(asked, 2);
  n = 3;
  const second = await talk({ journal: journal.open(run.id) }, 5);
  assert.deepEqual([endOf(second).status, asked > 2], ["done", true], endOf(second).error);
});

Deno.test("a stopped answer in a conversation stops the prompt that it has called", async () => {
  const { RunPrompt } = builtInGadgets;
  assert.ok(RunPrompt);
  const entries = builtInEntries({ builtIns: { RunPrompt }, world: {} as World });
  const catalog = catalogOf(entries.map((entry) => ({ entry })));
  const stop = new AbortController();
  const hang = defineGadget({
    name: "hang",
    description: "Hangs.",
    input: { type: "object" },
    run: (_input, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("stopped in the gadget")));
        setTimeout(() => stop.abort(), 2);
      }),
  });
  const registry = new PromptRegistry();
  registry.register(definePrompt({ path: "inner", template: "Inner", tools: [hang] }));
  let turn = stop.signal;
  const inner = fakeModel(() => [call("hang")], { id: "fake/inner" });
  const containers = () =>
    Promise.resolve(promptCalls(() =>
      Promise.resolve({
        registry,
        problems: [],
        tools: {
          find: () => undefined,
          names: () => Promise.resolve([]),
          around: (gadget) => stoppableGadget(gadget, () => turn),
        },
        agentOf: () => ({ name: "inner", system: "" }),
        modelOf: () => stoppableModel(inner, () => turn, { whenStopped: "fails" }),
      })
    ));
  const model = fakeModel(
    ({ messages }) => messages.length === 1 ? [call("RunPrompt", { path: "inner" })] : "and on",
    { id: "fake/outer" },
  );
  const said = ["go", "more"];
  const source = {
    next: (n: number) => {
      if (n === 2) turn = new AbortController().signal;
      return Promise.resolve(said[n - 1]);
    },
  };
  const options = { catalog, tools: ["RunPrompt"], policy: { toolsMode: "native" as const }, containers };
  const journal = memoryJournal({ isAlive: () => false });
  const run = journal.create({ kind: "chat", input: null });
  const events = await Array.fromAsync(
    chat(source, { ...options, model: stoppableModel(model, () => turn), journal: run }),
  );
  const errors = events.flatMap((event) => event.type === "call-error" ? [event.error] : []);
  assert.deepEqual(errors, ["stopped in the gadget", 'agent "inner": the answer was stopped']);
  assert.deepEqual([endOf(events).status, endOf(events).value], ["done", "and on"]);
  said.push("again");
  const again = await Array.fromAsync(
    chat(source, { ...options, model: stoppableModel(model, () => turn), journal: journal.open(run.id) }),
  );
  assert.deepEqual([endOf(again).status, endOf(again).value], ["done", "and on"], endOf(again).error);
});

Deno.test("a conversation waits for no clock of its own", async () => {
  const clock = virtualClock();
  const { events } = await clock.run(talking({ clock }));
  assert.equal(endOf(events).status, "done");
});
