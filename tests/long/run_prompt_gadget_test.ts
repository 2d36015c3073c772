// The built-in gadget `RunPrompt` (calls.md 5): a prompt that is asked by a call, in steps of the run that calls.
import fc from "fast-check";
import assert from "node:assert/strict";
import {
  type AnyGadget,
  type AnyPrompt,
  ask,
  type Budget,
  type Catalog,
  createCatalog,
  defineGadget,
  definePrompt,
  fakeModel,
  type FakeReply,
  type Journal,
  memoryJournal,
  type Model,
  ModelError,
  type ModelPart,
  type ModelRequest,
  PromptRegistry,
  runCalls,
  type RunEvent,
  type RunJournal,
  runPrompt,
  tags,
  type World,
} from "../../mod.ts";
import { builtInGadgets } from "../../gadgets/built_in.ts";
import { builtInEntries, catalogOf } from "../../lib/catalog/catalog.ts";
import type { RecordLine } from "../../lib/core/journal.ts";
import { catalogTools } from "../../lib/run/turn/offered.ts";
import { type CalledPrompts, promptCalls } from "../../lib/run/agent/prompt_calls.ts";
import { Replay } from "../../lib/run/replay/replay.ts";
import type { RunOptions } from "../../lib/run/run.ts";
import { mortalJournal } from "../_mortal_journal.ts";
import { goneOn, inBothJournals, strictJournal } from "../_strict_steps.ts";
import { testProject } from "../_project.ts";

const call = (name: string, input: object = {}, id = ""): ModelPart => ({
  type: "call",
  call: { id, name, arguments: JSON.stringify(input) },
});

/** `a: path {n: 1}` as a block. */
const block = (id: string, path: string, args: Readonly<Record<string, unknown>> = {}): string => {
  const named = Object.entries(args).map(([name, value]) => `!!!ARG:args/${name}\n${value}\n`).join("");
  return `!!!GADGET_START:RunPrompt:${id}\n!!!ARG:path\n${path}\n${named}!!!GADGET_END\n`;
};

/** What prompts of a test may call, and how often they did. */
class Effects {
  readonly done: string[] = [];
  readonly gadgets: readonly AnyGadget[] = [
    defineGadget({
      name: "Once",
      description: "Does it.",
      input: { type: "object", properties: { n: {} } },
      run: async ({ n }) => {
        await new Promise((resolve) => setTimeout(resolve, 1));
        this.done.push(`once ${n}`);
        return `did ${n}`;
      },
      format: (result) => `<${result}>`,
    }),
    defineGadget({
      name: "Safe",
      description: "Looks.",
      input: { type: "object", properties: { n: {} } },
      run: ({ n }, { log }) => {
        log("looking");
        this.done.push(`safe ${n}`);
        return { n: n ?? null };
      },
    }),
  ];
}

async function catalogWith(gadgets: readonly AnyGadget[]): Promise<Catalog> {
  const { RunPrompt } = builtInGadgets;
  assert.ok(RunPrompt);
  const entries = builtInEntries({ builtIns: { RunPrompt }, world: {} as World });
  await entries[0]?.load();
  return catalogOf([...entries, ...createCatalog(gadgets).entries].map((entry) => ({ entry })));
}

const name = definePrompt({
  path: "name",
  template: "Name {thing}.",
  parser: tags({ requiredXmlTags: ["name"] }),
});
const echo = definePrompt({ path: "echo", template: "Echo {n}" });
const work = definePrompt({ path: "work", template: "Work {n}", tools: ["Once", "Safe"] });
const outer = definePrompt({ path: "outer", template: "Outer", tools: ["RunPrompt"] });
const self = definePrompt({ path: "self", template: "Self", tools: ["RunPrompt"] });
const ping = definePrompt({ path: "ping", template: "Ping", tools: ["RunPrompt"] });
const pong = definePrompt({ path: "pong", template: "Pong", tools: ["RunPrompt"] });
const json = definePrompt({
  path: "json",
  template: "As JSON",
  format: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
});
const PROMPTS: readonly AnyPrompt[] = [name, echo, work, outer, self, ping, pong, json];

/** Answers by the first message and by how many there are. */
function reply({ messages }: ModelRequest): FakeReply {
  const first = String(messages.find(({ role }) => role === "user")?.content ?? "");
  const at = `${first} ${messages.length}`;
  const n = /\d+/.exec(first)?.[0] ?? "";
  if (first.startsWith("Echo")) return `echo ${n}`;
  if (first.startsWith("Work")) {
    if (messages.length === 1) {
      return [{ type: "text", text: "I look. " }, call("Once", { n }), call("Safe", { n })];
    }
    return messages.length === 4 ? [call("Safe", { n: `${n}b` })] : `worked ${n}`;
  }
  switch (at) {
    case "Name a colour. 1":
      return "It is blue.";
    case "Name a colour. 3":
      return "<name>Blue</name>";
    case "As JSON 1":
      return '{"a": 1}';
    case "Outer 1":
      return [
        call("RunPrompt", { path: "name", args: { thing: "a colour" } }),
        call("RunPrompt", { path: "echo", args: { n: 7 } }),
      ];
    case "Outer 4":
      return "outer done";
    case "Self 1":
      return [call("RunPrompt", { path: "/self" })];
    case "Ping 1":
      return [call("RunPrompt", { path: "pong" })];
    case "Pong 1":
      return [call("RunPrompt", { path: "ping" })];
    default:
      return `${first}: ${messages.at(-1)?.content}`;
  }
}

interface Given extends RunOptions {
  readonly effects?: Effects;
  readonly prompts?: readonly AnyPrompt[];
  readonly problems?: CalledPrompts["problems"];
  readonly model?: Model;
  readonly budget?: Budget;
  readonly within?: string;
  readonly modelOf?: CalledPrompts["modelOf"];
}

/** What a run has to have. */
function containersOf(given: Given, catalog: Catalog): Pick<RunOptions, "containers"> {
  const registry = new PromptRegistry();
  for (const prompt of given.prompts ?? PROMPTS) registry.register(prompt);
  const model = given.model ?? fakeModel(reply);
  return {
    containers: () =>
      Promise.resolve(promptCalls(() =>
        Promise.resolve({
          registry,
          problems: given.problems ?? [],
          tools: catalogTools(() => Promise.resolve(catalog)),
          ...(given.budget === undefined ? {} : { budget: given.budget }),
          agentOf: ({ path }) => ({ name: path, system: "", limits: { llmRecalls: 0 } }),
          modelOf: given.modelOf ?? (() => model),
        }), { within: given.within })),
  };
}

async function callsRun(text: string, given: Given = {}): Promise<RunEvent[]> {
  const catalog = await catalogWith((given.effects ?? new Effects()).gadgets);
  return await Array.fromAsync(runCalls([text], { catalog, ...containersOf(given, catalog), ...given }));
}

type EventOf<Type extends RunEvent["type"]> = RunEvent & { readonly type: Type };

const ofType = <Type extends RunEvent["type"]>(events: readonly RunEvent[], type: Type): EventOf<Type>[] =>
  events.filter((event): event is EventOf<Type> => event.type === type);

const endOf = (events: readonly RunEvent[]): EventOf<"run-end"> =>
  ofType(events, "run-end")[0] ?? assert.fail("no run-end");

const errorsOf = (events: readonly RunEvent[]): readonly (readonly [string, string])[] =>
  ofType(events, "call-error").map(({ error, code }) => [code, error]);

Deno.test("RunPrompt in a call file: the steps stand below the key of the call, and its result is what the answer means", async () => {
  const events = await callsRun(
    block("a", "name", { thing: "a colour" }) + block("b", "echo", { n: 2 }) + block("j", "json"),
  );
  assert.deepEqual(ofType(events, "step-start").map(({ key }) => key).sort(), [
    "call:a/dialog[1]/turn[1]/model",
    "call:a/dialog[1]/turn[2]/model",
    "call:b/dialog[1]/turn[1]/model",
    "call:j/dialog[1]/turn[1]/model",
  ]);
  const results = new Map(
    ofType(events, "call-result").map(({ invocationId, result }) => [invocationId, result]),
  );
  assert.deepEqual(results.get("a"), {
    raw: "<name>Blue</name>",
    xmlTags: { name: ["Blue"] },
    mdTags: {},
    signalTags: {},
  });
  assert.deepEqual([results.get("b"), results.get("j")], ["echo 2", { a: 1 }]);
  assert.equal(endOf(events).status, "done");
  const steps = ofType(events, "text-delta").map(({ step, text }) => [step, text]);
  assert.ok(steps.some(([step, text]) => step === "call:b/dialog[1]/turn[1]/model" && text === "echo 2"));
});

Deno.test("RunPrompt: results are placeholders' values, and args take any JSON", async () => {
  const asked: string[] = [];
  const model = fakeModel(({ messages }) => {
    asked.push(String(messages[0]?.content));
    return "ok";
  });
  const prompt = definePrompt({ path: "p", template: "{a}|{b[0]}|{c}" });
  const text = block("a", "echo", { n: 5 }) +
    '!!!GADGET_START:RunPrompt:b:a\n{"path": "p", "args": {"a": "{{results.a}}!", "b": [1], "c": {"x": null}}}\n!!!GADGET_END\n';
  const events = await callsRun(text, { prompts: [echo, prompt], model });
  assert.equal(endOf(events).status, "done");
  assert.deepEqual(asked, ["Echo 5", 'ok!|1|{"x":null}']);
});

const LOOKS = { file: "prompts/x.ts", key: "x/", line: 3, message: "this module was not loaded" };
const BROKEN = { file: "prompts/sum.prompt.md", key: "sum", line: 4, message: 'unclosed "{"' };
const UNSURE = {
  file: "prompts/odd.prompt.md",
  key: "odd",
  isUnsure: true,
  line: 2,
  message: "bad",
} as const;
const AGENT = { file: "orrery.yaml", line: 1, message: 'agent "a": model is required' };

const FAILURES:
  readonly (readonly [what: string, text: string, given: Given, expected: readonly [string, string]])[] = [
    ["an unknown path", block("a", "nam"), {}, ["input", 'prompt "nam" not found. Did you mean "name"?']],
    [
      "an unknown path and files with problems of their own",
      block("a", "zzzzzz"),
      { prompts: [name], problems: [LOOKS, BROKEN, AGENT] },
      ["input", 'prompt "zzzzzz" not found. Registered: name'],
    ],
    [
      "an unknown path that may be in a module that was not loaded",
      block("a", "x/name"),
      { prompts: [name], problems: [BROKEN, LOOKS] },
      [
        "input",
        'prompt "x/name" not found. Did you mean "name"?\nprompts/x.ts:3: this module was not loaded',
      ],
    ],
    [
      "an unknown path that any of some files may define",
      block("a", "zzzzzz"),
      { prompts: [name], problems: [BROKEN, UNSURE, { ...UNSURE, line: 3 }, { ...LOOKS, key: null }] },
      [
        "input",
        'prompt "zzzzzz" not found. Registered: name\n2 files of prompts have problems and may define it: orrery list prompts shows them',
      ],
    ],
    [
      "a prompt that cannot be used",
      block("a", "sum"),
      { prompts: [name], problems: [BROKEN, { ...BROKEN, line: 5 }, LOOKS, UNSURE] },
      [
        "input",
        'prompt "sum" cannot be used:\nprompts/sum.prompt.md:4: unclosed "{"\nprompts/sum.prompt.md:5: unclosed "{"',
      ],
    ],
    [
      "a name that is near one that cannot be used",
      block("a", "summ"),
      { prompts: [name], problems: [BROKEN] },
      [
        "input",
        'prompt "summ" not found. Did you mean "sum", which cannot be used (see prompts/sum.prompt.md:4)?',
      ],
    ],
    [
      "no prompts at all",
      block("a", "name"),
      { prompts: [] },
      ["input", 'prompt "name" not found: the project has no prompts'],
    ],
    [
      "many problems",
      block("a", "sum"),
      { prompts: [], problems: [1, 2, 3, 4, 5, 6, 7].map((line) => ({ ...BROKEN, line })) },
      [
        "input",
        `prompt "sum" cannot be used:\n${
          [1, 2, 3, 4, 5].map((line) => `prompts/sum.prompt.md:${line}: unclosed "{"\n`).join("")
        }and 2 more such problems`,
      ],
    ],
    ["a path that is none", block("a", "../name"), {}, [
      "input",
      'bad prompt path "../name": "." and ".." are not allowed',
    ]],
    ["missing values", block("a", "name"), {}, ["input", 'prompt "name": missing variables: thing']],
    ["no path", "!!!GADGET_START:RunPrompt:a\n", {}, ["input", "path: missing, expected string"]],
    [
      "another argument",
      `${block("a", "name").replace("!!!GADGET_END", "!!!ARG:model\nx\n!!!GADGET_END")}`,
      {},
      ["input", "model: unknown, expected one of path, args"],
    ],
    [
      "args that are no object",
      "!!!GADGET_START:RunPrompt:a\n!!!ARG:path\nname\n!!!ARG:args\ntext\n!!!GADGET_END\n",
      {},
      ["input", 'args: expected object (as JSON, or its parts as args/NAME), found "text"'],
    ],
    [
      "a contract that is not kept",
      block("a", "name", { thing: "x" }),
      { model: fakeModel(() => "no") },
      [
        "failed",
        'agent "name": no valid answer after 3 retries: Parsing errors:\nMissing required tag <name>: provide it as <name>...</name>',
      ],
    ],
    [
      "a provider that fails",
      block("a", "echo", { n: 1 }),
      { model: fakeModel(() => new ModelError("it is down", { code: "server" })) },
      ["failed", 'agent "echo": it is down'],
    ],
    [
      "a model that is not there",
      block("a", "echo", { n: 1 }),
      { modelOf: () => Promise.reject(new ModelError("no model", { code: "config" })) },
      ["failed", 'agent "echo": no model'],
    ],
    [
      "a host that may not be reached",
      block("a", "echo", { n: 1 }),
      {
        model: fakeModel(() => new ModelError("not allowed", { code: "permission", flag: "--allow-net=x" })),
      },
      ["permission", 'agent "echo": not allowed'],
    ],
    [
      "a tool that is not there",
      block("a", "tool"),
      { prompts: [definePrompt({ path: "tool", template: "T", tools: ["Onec"] })] },
      ["failed", 'agent "tool": prompt "tool": unknown tool "Onec". Did you mean "Once"?'],
    ],
    [
      "a budget",
      block("a", "name", { thing: "a colour" }),
      { budget: { turns: 1 } },
      ["failed", "The run has made 1 model call, its budget is 1"],
    ],
  ];

for (const [what, text, given, expected] of FAILURES) {
  Deno.test(`RunPrompt fails with ${what}, and the record of that is replayed`, async () => {
    const recorded = await record((options) => callsRun(text, { ...given, ...options }));
    assert.deepEqual(errorsOf(recorded.events), [expected]);
    assert.equal(endOf(recorded.events).status, "failed");
    await assertReplays(recorded, (options) => callsRun(text, { ...given, ...STILL, ...options }));
  });
}

Deno.test("RunPrompt where a run has no prompts", async () => {
  const catalog = await catalogWith([]);
  const events = await Array.fromAsync(runCalls([block("a", "name")], { catalog }));
  assert.deepEqual(errorsOf(events), [["unavailable", "RunPrompt cannot run here: this run has no prompts"]]);
  const gadget = await catalog.maybeFind("RunPrompt")?.load();
  assert.throws(() => gadget?.run?.({} as never, {} as never), /works as a call of a run only/);
});

Deno.test("only Orrery brings containers along", () => {
  const gadget = { name: "Mine", contains: "prompt", run: () => 1 };
  assert.throws(() => createCatalog([gadget as unknown as AnyGadget]), /unknown field "contains"/);
});

Deno.test("the prompts are not opened before the first call, and once", async () => {
  const catalog = await catalogWith([]);
  let opened = 0;
  const containers = () => {
    opened++;
    const registry = new PromptRegistry();
    registry.register(echo);
    return Promise.resolve(promptCalls(async () => {
      opened += 10;
      await new Promise((resolve) => setTimeout(resolve, 5));
      const model = fakeModel(reply);
      return { registry, problems: [], agentOf: () => ({ name: "x", system: "" }), modelOf: () => model };
    }));
  };
  await Array.fromAsync(runCalls(["nothing\n"], { catalog, containers }));
  assert.equal(opened, 0);
  const text = [1, 2, 3].map((n) => block(`a${n}`, "echo", { n })).join("");
  const events = await Array.fromAsync(runCalls([text], { catalog, containers }));
  assert.deepEqual([opened, endOf(events).status], [11, "done"]);
});

Deno.test("the model is the one that the prompt names, else that of the run", async () => {
  const named = definePrompt({
    path: "named",
    template: "Echo 1",
    metadata: { dotprompt: { model: "fake/other" } },
  });
  const wanted: (string | undefined)[] = [];
  const modelOf = (name: string | undefined) => {
    wanted.push(name);
    return fakeModel(reply, { id: name ?? "fake/default" });
  };
  const events = await callsRun(block("a", "named") + block("b", "echo", { n: 1 }), {
    prompts: [named, echo],
    modelOf,
  });
  assert.deepEqual(wanted, ["fake/other", undefined]);
  assert.deepEqual(ofType(events, "step-start").map(({ name }) => name), ["fake/other", "fake/default"]);
});

Deno.test("usage of prompts counts in the run", async () => {
  const model: Model = {
    id: "fake/counting",
    async *stream() {
      yield { type: "text", text: "x" };
      yield { type: "finish", reason: "stop", usage: { input: 10, output: 3 }, model: "fake/counting" };
      await Promise.resolve();
    },
  };
  const events = await callsRun(block("a", "echo", { n: 1 }) + block("b", "echo", { n: 2 }), { model });
  assert.deepEqual(endOf(events).usage, { input: 20, output: 6 });
});

Deno.test("a prompt in itself is an error that names the chain, and so are too many in each other", async () => {
  const selfEvents = await callsRun(block("a", "self"));
  assert.deepEqual(errorsOf(selfEvents), [["failed", 'prompt "self" runs inside of itself: self -> self']]);
  assert.match(String(endOf(selfEvents).value), /^Self: Return of|^Self: Error: prompt "self" runs inside/);
  const ring = await callsRun(block("a", "ping"));
  assert.deepEqual(errorsOf(ring), [["failed", 'prompt "ping" runs inside of itself: ping -> pong -> ping']]);
  const beside = await callsRun(block("a", "echo", { n: 1 }) + block("b", "echo", { n: 2 }));
  assert.deepEqual(errorsOf(beside), []);
  const deep = Array.from(
    { length: 12 },
    (_, n) => definePrompt({ path: `p${n}`, template: `Deep ${n}`, tools: ["RunPrompt"] }),
  );
  const model = fakeModel(({ messages }) => {
    const n = Number(/\d+/.exec(String(messages[0]?.content))?.[0]);
    return messages.length === 1 ? [call("RunPrompt", { path: `p${n + 1}` })] : "up";
  });
  const events = await callsRun(block("a", "p0"), { prompts: deep, model });
  assert.deepEqual(errorsOf(events), [[
    "failed",
    "at most 8 prompts run inside each other: p0 -> p1 -> p2 -> p3 -> p4 -> p5 -> p6 -> p7 -> p8",
  ]]);
  assert.equal(endOf(events).status, "done");
});

Deno.test("the prompt that a run asks is the first of the chain", async () => {
  const catalog = await catalogWith([]);
  const events = await Array.fromAsync(runPrompt({
    prompt: self,
    args: {},
    model: fakeModel(reply),
    tools: catalogTools(() => Promise.resolve(catalog)),
    ...containersOf({ within: "self" }, catalog),
  }));
  assert.deepEqual(errorsOf(events), [["failed", 'prompt "self" runs inside of itself: self -> self']]);
});

// Records

interface Recorded {
  readonly events: readonly RunEvent[];
  readonly lines: readonly RecordLine[];
}

async function record(run: (options: RunOptions) => Promise<RunEvent[]>): Promise<Recorded> {
  const lines: RecordLine[] = [];
  const events = await run({ recorder: { write: (line) => void lines.push(structuredClone(line)) } });
  return { events, lines };
}

/** Nothing is there to be asked or called. */
const STILL: Pick<Given, "model" | "modelOf" | "effects"> = {
  modelOf: () => assert.fail("a model was looked for"),
  get effects() {
    const gadgets = new Effects().gadgets.map((gadget) => ({
      ...gadget,
      run: () => assert.fail(`${gadget.name} ran`),
    }));
    return { done: [], gadgets } as unknown as Effects;
  },
};

async function assertReplays(
  { events, lines }: Recorded,
  run: (options: RunOptions) => Promise<RunEvent[]>,
): Promise<void> {
  const id = events[0]?.run ?? assert.fail("no events");
  const replay = new Replay({ kind: "calls", input: null, id }, JSON.parse(JSON.stringify(lines)));
  const again = await run({ replay });
  assert.equal(
    again.map((event) => JSON.stringify(event)).join("\n"),
    events.map((event) => JSON.stringify(event)).join("\n"),
  );
}

const SLOW = (delays: readonly number[]): Model => {
  let asked = 0;
  const model = fakeModel(reply);
  return {
    id: model.id,
    async *stream(request) {
      await new Promise((resolve) => setTimeout(resolve, delays[asked++ % delays.length] ?? 0));
      yield* model.stream(request);
    },
  };
};

const MIXED = block("a", "work", { n: 1 }) + block("b", "work", { n: 2 }) +
  block("c", "name", { thing: "a colour" }) +
  block("d", "outer") + "!!!GADGET_START:Safe:e:a\n!!!ARG:n\n{{results.a}}\n!!!GADGET_END\n" +
  block("f", "nobody");

Deno.test("a record of prompts beside and inside each other is replayed byte for byte, whatever took how long", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 9 }),
      async (delays) => {
        const recorded = await record((options) => callsRun(MIXED, { model: SLOW(delays), ...options }));
        assert.equal(endOf(recorded.events).status, "failed"); // of "f"
        assert.equal(ofType(recorded.events, "call-result").length, 4 + 1 + 2 * 3 + 2);
        await assertReplays(recorded, (options) => callsRun(MIXED, { ...STILL, ...options }));
      },
    ),
    { numRuns: 15 },
  );
});

Deno.test("a time budget of prompts beside each other is replayed", async () => {
  const text = block("a", "work", { n: 1 }) + block("b", "work", { n: 2 });
  const budget = { timeMs: 4 };
  const recorded = await record((options) => callsRun(text, { model: SLOW([3, 1]), budget, ...options }));
  await assertReplays(recorded, (options) => callsRun(text, { budget, ...STILL, ...options }));
});

Deno.test("a record of another prompt is not replayed", async () => {
  const text = block("a", "echo", { n: 1 });
  const recorded = await record((options) => callsRun(text, options));
  const other = definePrompt({ path: "echo", template: "Echo now {n}" });
  const id = recorded.events[0]?.run ?? "";
  const replay = new Replay({ kind: "calls", input: null, id }, recorded.lines);
  const end = endOf(await callsRun(text, { ...STILL, prompts: [other], replay }));
  assert.deepEqual([end.status, end.reason], ["failed", "diverged"]);
  assert.match(
    end.error ?? "",
    /^Step "call:a\/dialog\[1\]\/turn\[1\]\/model" is not the recorded one: .*Echo now 1/,
  );
});

Deno.test("ask with RunPrompt among its tools, in blocks and in the provider's own calls", async () => {
  for (const toolsMode of ["blocks", "native"] as const) {
    const start = async (given: Given & { readonly main: Model }) => {
      const catalog = await catalogWith((given.effects ?? new Effects()).gadgets);
      return await Array.fromAsync(
        ask("Go", {
          model: given.main,
          catalog,
          tools: ["RunPrompt"],
          policy: { toolsMode },
          ...containersOf(given, catalog),
          ...given,
        }),
      );
    };
    const main = fakeModel([
      toolsMode === "blocks" ? `I ask.\n${block("w", "work", { n: 3 })}${block("x", "nobody")}` : [
        call("RunPrompt", { path: "work", args: { n: 3 } }, "w"),
        call("RunPrompt", { path: "nobody" }, "x"),
      ],
      "It is done.",
    ], { id: "fake/main" });
    const recorded = await record((options) => start({ main, ...options }));
    assert.equal(endOf(recorded.events).value, "It is done.");
    const keys = ofType(recorded.events, "step-start").map(({ key }) => key);
    assert.ok(keys.includes("turn[1]/call:w/dialog[1]/turn[2]/model"), keys.join(" "));
    assert.match(JSON.stringify(main.requests[1]?.messages), /worked 3/);
    assert.match(JSON.stringify(main.requests[1]?.messages), /prompt \\"nobody\\" not found/);
    const silent = fakeModel(() => assert.fail("asked"), { id: "fake/main" });
    await assertReplays(recorded, (options) => start({ main: silent, ...STILL, ...options }));
  }
});

// Resume

/** The user looks whether the effect of a call was done whose end is not known. */
function settleOpen(journal: Journal, run: RunJournal, { done }: Effects): readonly string[] {
  const open = journal.read(run.id).steps.filter(({ status, idempotent }) =>
    status === "started" && !idempotent
  );
  for (const { key, name, input } of open) {
    const { n } = input as { readonly n: string };
    const ok = name === "Once" ? `did ${n}` : { n };
    run.settle(key, done.includes(`${name.toLowerCase()} ${n}`) ? { outcome: { ok } } : "rerun");
  }
  return open.map(({ key }) => key);
}

inBothJournals(
  "calls of prompts that die anywhere end the same, and no finished step is done again",
  async ({ isStrict }) => {
    const text = block("a", "work", { n: 1 }) + block("c", "name", { thing: "a colour" }) +
      block("d", "outer");
    const plain = new Effects();
    const want = endOf(await callsRun(text, { effects: plain }));
    assert.equal(want.status, "done");
    assert.deepEqual([...plain.done].sort(), ["once 1", "safe 1", "safe 1b"]);
    let deaths = 0;
    for (let n = 1;; n++) {
      for (const isDone of [false, true]) {
        const effects = new Effects();
        const asked: string[] = [];
        const model: Model = {
          id: "fake/model",
          stream(request) {
            asked.push(`${request.messages[0]?.content} ${request.messages.length}`);
            return fakeModel(reply).stream(request);
          },
        };
        const journal = memoryJournal({ isAlive: () => false });
        const first = mortalJournal(journal.create({ kind: "calls", input: null }), { n, isDone });
        await callsRun(text, { journal: first, effects, model });
        await new Promise((resolve) => setTimeout(resolve, 4)); // what still ran has ended by now
        if (!first.died()) {
          assert.ok(deaths >= 30, String(deaths));
          return;
        }
        deaths++;
        const { summary, steps } = journal.read(first.id);
        if (summary.status !== "running" && summary.status !== "stopped") continue;
        const finished = steps.filter(({ status, kind }) => status === "finished" && kind === "model").length;
        const askedBefore = asked.length;
        const open: string[] = [];
        const strict = isStrict ? strictJournal(journal) : undefined;
        const events = await goneOn(strict ?? journal, first.id, {
          settle: (second) => void open.push(...settleOpen(journal, second, effects)),
          start: (second) => callsRun(text, { journal: second, effects, model }),
        });
        const where = `killed at operation ${n}, ${isDone ? "after" : "before"} it; open: ${open.join(" ")}`;
        const end = endOf(events);
        assert.deepEqual([end.status, end.value], [want.status, want.value], `${where}: ${end.error}`);
        const lost = strict?.losses.size ?? 0;
        const more = asked.length - askedBefore - (10 - finished);
        assert.ok(more >= 0 && more <= 4 * lost, `${where}: ${asked.join(", ")}`);
        for (const effect of ["once 1", "safe 1", "safe 1b"]) {
          const times = effects.done.filter((each) => each === effect).length;
          assert.ok(times === 1 || (effect.startsWith("safe") && times <= 1 + lost), `${where}: ${effect}`);
        }
        const outcomes = events.filter(({ type }) => type === "call-result" || type === "call-error")
          .map((event) => "invocationId" in event ? `${event.step} ${event.invocationId}` : "");
        assert.deepEqual(outcomes, [...new Set(outcomes)], where);
      }
    }
  },
);

Deno.test("a failure inside of a call is kept: what came after it depends on it", async () => {
  const catalog = await catalogWith([]);
  const journal = memoryJournal({ isAlive: () => false });
  const run = journal.create({ kind: "ask", input: null });
  const stop = new AbortController();
  const script = block("a", "echo", { n: 1 });
  const first = await Array.fromAsync(ask("Go", {
    model: fakeModel((request) => {
      if (request.messages.length < 3) return script;
      stop.abort();
      return "late";
    }, { id: "m" }),
    catalog,
    tools: ["RunPrompt"],
    signal: stop.signal,
    journal: run,
    ...containersOf({ model: fakeModel(() => new ModelError("down", { code: "server" })) }, catalog),
  }));
  assert.equal(endOf(first).reason, "interrupted");
  assert.deepEqual(errorsOf(first), [["failed", 'agent "echo": down']]);
  const second = await Array.fromAsync(ask("Go", {
    model: fakeModel((request) => request.messages.length < 3 ? script : "the end", { id: "m" }),
    catalog,
    tools: ["RunPrompt"],
    journal: journal.open(run.id),
    ...containersOf({ model: fakeModel(() => assert.fail("asked again")) }, catalog),
  }));
  assert.deepEqual([endOf(second).status, endOf(second).value], ["done", "the end"]);
});

Deno.test("a prompt that is another one when the run is gone on with ends the run, which stays resumable", async () => {
  const text = block("a", "echo", { n: 1 }) + block("b", "work", { n: 2 });
  const journal = memoryJournal({ isAlive: () => false });
  const { id } = journal.create({ kind: "calls", input: null });
  const stop = new AbortController();
  const model = fakeModel((request) => {
    if (request.messages.length === 4) stop.abort();
    return reply(request);
  });
  const begun = await callsRun(text, { journal: journal.open(id), model, signal: stop.signal });
  assert.equal(endOf(begun).reason, "interrupted");
  const other = definePrompt({ path: "echo", template: "Echo other {n}" });
  const changed = endOf(await callsRun(text, { journal: journal.open(id), prompts: [other, work] }));
  assert.deepEqual([changed.status, changed.reason], ["failed", "diverged"]);
  assert.match(changed.error ?? "", /call:a\/dialog\[1\]\/turn\[1\]\/model.*Echo other 1/s);
  assert.equal(journal.read(id).summary.status, "stopped");
  const back = endOf(await callsRun(text, { journal: journal.open(id) }));
  assert.deepEqual([back.status, back.value], ["done", { a: "echo 1", b: "worked 2" }]);
});

Deno.test("an interrupted run tells nothing more of what runs in its calls", async () => {
  const stop = new AbortController();
  const model: Model = {
    id: "fake/slow",
    async *stream({ signal }) {
      yield { type: "text", text: "begun" };
      setTimeout(() => stop.abort(new Error("enough")), 1);
      await new Promise((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    },
  };
  const events = await callsRun(block("a", "echo", { n: 1 }) + block("b", "echo", { n: 2 }), {
    model,
    signal: stop.signal,
  });
  assert.equal(events.at(-1)?.type, "run-end");
  assert.deepEqual(errorsOf(events).map(([code]) => code), ["abort", "abort"]);
  assert.equal(endOf(events).reason, "interrupted");
});

// The command line

const PROJECT = {
  "prompts/name.prompt.md": "---\ntags: { requiredXmlTags: [name] }\n---\nName {thing}.\n",
  "prompts/sum.prompt.md": "---\ntools: [Calculate]\n---\nWhat is {what}?\n",
  "prompts/other.prompt": "---\nmodel: script/other.yml\nconfig: { temperature: 0.1 }\n---\nHello {{who}}\n",
  "prompts/code.ts": "throw new Error('not trusted');\n",
  "model.yml":
    '- { when: "Name", text: "It is blue." }\n- { when: "Please fix", text: "<name>Blue</name>" }\n- { when: "What is", calls: [{ name: Calculate, input: { expression: "2 * 3" } }] }\n- { when: "Calculate", text: "six" }\n- { when: "", text: "more" }\n',
  "other.yml": '- text: "Other says hello"\n',
  "a.calls": `${block("a", "name", { thing: "sky" })}${block("b", "sum", { what: "2 * 3" })}${
    block("c", "other", { who: "you" })
  }`,
};

Deno.test("orrery run with RunPrompt: prompts of the project, their tools and models; record and replay", async () => {
  await using project = await testProject(PROJECT);
  const env = { ORRERY_MODEL: "script/model.yml" };
  const run = await project.run(["run", "a.calls", "--record", "r.jsonl", "--concurrency", "1"], { env });
  assert.equal(run.code, 0, run.stderr);
  const value = JSON.parse(run.stdout);
  assert.deepEqual([value.a.xmlTags, value.b, value.c], [{ name: ["Blue"] }, "six", "Other says hello"]);
  assert.doesNotMatch(run.stderr, /It is blue/);
  const events = await project.run(["run", "a.calls", "--replay", "r.jsonl", "--jsonl"]);
  assert.equal(events.code, 0, events.stderr);
  const recorded = (await project.read("r.jsonl")).trim().split("\n").map((line) => JSON.parse(line))
    .filter(({ type }) => type === "event").map(({ event }) => event);
  assert.deepEqual(events.stdout.trim().split("\n").map((line) => JSON.parse(line)), recorded);
  const trace = await project.run(["trace", await project.newest()]);
  assert.match(
    trace.stdout,
    /\n {2}call:b\n {4}dialog\[1\]\n {6}turn\[1\]\n {8}done {4}model {2}script\/model\.yml/,
  );
  assert.match(trace.stdout, /done {4}call:call_1 {2}Calculate/);
});

Deno.test("orrery run with RunPrompt: what is wrong is said, with the files that could not be taken", async () => {
  await using project = await testProject({ ...PROJECT, "b.calls": block("x", "code/task") });
  const unknown = await project.run(["run", "b.calls"]);
  assert.equal(unknown.code, 1);
  assert.match(unknown.stderr, /b\.calls:1: prompt "code\/task" not found\. Registered: name, other, sum\n/);
  assert.match(unknown.stderr, /prompts\/code\.ts:1: this module is code of the project and was not loaded/);
  const broken = await project.run(["run", "b.calls", "--trust-code"]);
  assert.match(broken.stderr, /prompts\/code\.ts:1: not trusted/);
  await using empty = await testProject({ "b.calls": block("x", "code/task") });
  const none = await empty.run(["run", "b.calls"]);
  assert.match(none.stderr, /prompt "code\/task" not found: the project has no prompts/);
});

const MODELS = {
  "prompts/greet.prompt.md": "Greet {who}",
  "prompts/other.prompt": "---\nmodel: script/other.yml\n---\nHello {{who}}\n",
  "one.yml": '- { when: "", text: "one", repeat: true }\n',
  "two.yml": '- { when: "", text: "two", repeat: true }\n',
  "other.yml": '- { when: "", text: "other", repeat: true }\n',
  "down.yml": '- error: { status: 400, message: "no such thing" }\n',
  "greet.calls": block("a", "greet", { who: "you" }),
  "both.calls": block("a", "greet", { who: "you" }) + block("b", "other", { who: "you" }),
  "now.calls": "!!!GADGET_START:Now\n",
};

Deno.test("orrery run with RunPrompt: --model is the model of the prompts that name none, --budget holds for all of them", async () => {
  await using project = await testProject(MODELS);
  const env = { ORRERY_MODEL: "script/two.yml" };
  const named = await project.run(["run", "both.calls", "-m", "script/one.yml"], { env });
  assert.equal(named.code, 0, named.stderr);
  assert.deepEqual(JSON.parse(named.stdout), { a: "one", b: "other" });
  const one = ["run", "both.calls", "-m", "script/one.yml", "--concurrency", "1"];
  const bounded = await project.run([...one, "--budget", "turns=1", "--record", "r.jsonl"]);
  assert.equal(bounded.code, 1);
  assert.match(bounded.stderr, /The run has made 1 model call, its budget is 1/);
  await project.write("one.yml", "- text: changed\n");
  const again = await project.run(["run", "both.calls", "--replay", "r.jsonl"]);
  assert.deepEqual([again.code, again.stdout], [1, bounded.stdout], again.stderr);
  assert.match(again.stderr, /The run has made 1 model call, its budget is 1/);
  const unused = await project.run(["run", "now.calls", "-m", "script/none.yml", "--budget", "turns=1"]);
  assert.equal(unused.code, 0, unused.stderr);
  const lost = await project.run(["run", "greet.calls", "-m", "script/none.yml"]);
  assert.equal(lost.code, 1);
  assert.match(lost.stderr, /greet\.calls:1: .*none\.yml/);
  const before = await project.newest();
  const wrong = await project.run(["run", "now.calls", "--budget", "turn=1"]);
  assert.equal(wrong.code, 2);
  assert.match(
    wrong.stderr,
    /^error: --budget has no "turn": .*Did you mean "turns"\?\nTry: orrery run --help\n$/,
  );
  assert.equal(await project.newest(), before);
});

Deno.test("orrery run with RunPrompt: a resumed run asks the model that the first one asked, within its budget", async () => {
  const kill =
    'export default { name: "Kill", description: "Ends.", input: { type: "object" }, idempotent: true,\n' +
    '  async run() { if (await Deno.stat("go").then(() => true, () => false)) return "went on"; Deno.exit(9); } };\n';
  await using project = await testProject({
    ...MODELS,
    "gadgets/kill.js": kill,
    "../config/orrery/config.yaml": "gadgets: { isolation: { ../../project/Kill: none } }\n", // else it ends its own process alone
    "k.calls": block("a", "greet", { who: "you" }) + "!!!GADGET_START:Kill:k:a\n!!!GADGET_END\n" +
      block("b", "greet", { who: "me" }).replace("RunPrompt:b", "RunPrompt:b:k"),
  });
  const cases = [
    { args: ["-m", "script/one.yml"], env: {}, code: 0 },
    { args: [], env: { ORRERY_MODEL: "script/one.yml" }, code: 0 },
    { args: ["-m", "script/one.yml", "--budget", "turns=1"], env: {}, code: 1 },
  ] as const;
  for (const { args, env, code } of cases) {
    await Deno.remove(`${project.folder}/go`).catch(() => undefined);
    const first = await project.run(["run", "k.calls", "--trust", "Kill", ...args], { env, alone: true });
    assert.equal(first.code, 9, first.stderr);
    await project.write("go", "");
    const second = await project.run(["resume"], { env: { ORRERY_MODEL: "script/two.yml" }, alone: true });
    assert.equal(second.code, code, second.stderr);
    if (code === 0) assert.equal(second.stdout, "one", second.stderr);
    else assert.match(second.stderr, /The run has made 1 model call, its budget is 1/);
  }
});

Deno.test("RunPrompt is among the gadgets", async () => {
  await using project = await testProject();
  const { stdout } = await project.run(["list", "gadgets"]);
  assert.match(stdout, /\nRunPrompt +built in +ready/);
  const shown = await project.run(["show", "gadget", "RunPrompt"]);
  assert.match(shown.stdout, /each call as long as what runs in it/);
  assert.match(
    shown.stdout,
    /!!!GADGET_START:RunPrompt\n!!!ARG:path\nreview\/code\n!!!ARG:args\/language\nTypeScript\n/,
  );
});
