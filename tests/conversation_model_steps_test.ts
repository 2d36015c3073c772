// The steps of a conversation that ask a model, call a gadget or run a file (conversations.md 2.7, 2.8, 3), each by itself.
import fc from "fast-check";
import assert from "node:assert/strict";
import {
  type AgentStep,
  type AnyGadget,
  type ConversationModelRequest,
  defineGadget,
  type Journal,
  type Json,
  memoryJournal,
  type Model,
  ModelError,
  type ModelPart,
  PermissionRefused,
  type StepOf,
  virtualClock,
} from "../mod.ts";
import type { RecordLine } from "../lib/core/journal.ts";
import { textOf } from "../lib/core/message.ts";
import { createSecrets } from "../lib/journal/secrets.ts";
import { modelOfFunction } from "../lib/project/model_of_function.ts";
import { BudgetError } from "../lib/run/budget.ts";
import { performGadget } from "../lib/run/conversation/gadget.ts";
import {
  performExtractor,
  performRunFile,
  performSummarizer,
  performValidator,
} from "../lib/run/conversation/leaf.ts";
import { performLlmStep } from "../lib/run/conversation/llm.ts";
import { type ConversationModels, ConversationStepError } from "../lib/run/conversation/work.ts";
import type { ToolSource } from "../lib/run/turn/offered.ts";
import { Replay } from "../lib/run/replay/replay.ts";
import type { RunOptions } from "../lib/run/run.ts";
import { type ScriptedModels, scriptedModels, type ScriptedReply } from "./_conversation.ts";
import { type StepAtWork, stepBase, stepWork, type StepWorkOptions } from "./_step_work.ts";

const llm = (fields: Partial<StepOf<"llm">> = {}): StepOf<"llm"> => ({
  ...stepBase("ask"),
  kind: "llm",
  prompts: [{ role: "system", text: "Be kind." }],
  hold: false,
  ...fields,
});

const JUDGE = { prompts: [], skipPrefix: false } as const;
const FLOWS = { success: { goto: "yes" }, fail: { goto: "no" } } as const;

const validator = (fields: Partial<StepOf<"validator">> = {}): StepOf<"validator"> => ({
  ...stepBase("check"),
  ...JUDGE,
  ...FLOWS,
  kind: "validator",
  goals: [{ name: "polite", goal: "The user is polite.", examples: ["yes please"] }, {
    name: "short",
    goal: "It is short, {{name}}.",
    examples: [],
  }],
  type: "all",
  ...fields,
});

const extractor = (fields: Partial<StepOf<"extractor">> = {}): StepOf<"extractor"> => ({
  ...stepBase("fill"),
  ...JUDGE,
  ...FLOWS,
  kind: "extractor",
  values: [
    {
      description: "first name",
      type: "string",
      examples: [],
      target: { destination: "conversation", name: "name" },
    },
    { description: "age", type: "integer", examples: [], target: { destination: "session", name: "age" } },
  ],
  ...fields,
});

const summarizer = (fields: Partial<StepOf<"summarizer">> = {}): StepOf<"summarizer"> => ({
  ...stepBase("sum"),
  ...JUDGE,
  kind: "summarizer",
  type: "append",
  ...fields,
});

const SUMMARY = { destination: "conversation", name: "summary" } as const;
const STORE = { destination: "conversation", name: "answer" } as const;

const text = (said: string): ModelPart => ({ type: "text", text: said });
const call = (id: string, name: string, input: unknown): ModelPart => ({
  type: "call",
  call: { id, name, arguments: JSON.stringify(input) },
});

const errorOf = async (work: Promise<unknown>): Promise<Error> =>
  await work.then(() => assert.fail("it did not fail"), (error: unknown) => {
    assert.ok(error instanceof Error);
    return error;
  });

async function failure(work: Promise<unknown>): Promise<string> {
  const error = await errorOf(work);
  assert.ok(error instanceof ConversationStepError, `${error.name}: ${error.message}`);
  return error.message;
}

const asked = (replies: readonly ScriptedReply[], step = "ask"): ScriptedModels =>
  scriptedModels({ [step]: replies });

const linesOf = (models: ScriptedModels, n = -1): readonly string[] =>
  (models.seen.questions.at(n)?.request.messages ?? []).map((message) =>
    `${message.role}: ${textOf(message)}`
  );

const toolsOf = (...gadgets: readonly AnyGadget[]): ToolSource => ({
  find: (name) => gadgets.find((gadget) => gadget.name === name),
  names: () => Promise.resolve(gadgets.map(({ name }) => name)),
});

const ADD_INPUT = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
} as const;
const add = defineGadget({ name: "Add", description: "Adds.", input: ADD_INPUT, run: ({ a, b }) => a + b });

// llm

Deno.test("llm: prompts in order, then the memory; text streams and is one message, which is stored", async () => {
  const models = asked([[text("Hel"), text("lo")]]);
  const { work, told } = stepWork(
    llm({
      prompts: [
        { role: "constant", name: "ROLE" },
        { role: "system", text: "Talk to {{name}}." },
        { role: "user", text: "2+2?" },
        { role: "assistant", text: "4" },
      ],
      memory: [{ selector: "all" }],
      memoryLimit: 2,
      store: STORE,
      hold: true,
    }),
    {
      models,
      constants: { ROLE: "Be kind to {{name}}." },
      slots: { "conversation.name": "{{ROLE}}" },
      log: ["assistant other: A", "user other: B", "assistant ask: C"],
    },
  );
  assert.deepEqual(await performLlmStep(work), { kind: "next", isHeld: true });
  assert.deepEqual(told, ["delta Hel", "delta lo", "say Hello", `set conversation.answer "Hello"`]);
  const prompts = ["system: Be kind to {{ROLE}}.", "system: Talk to {{ROLE}}.", "user: 2+2?", "assistant: 4"];
  assert.deepEqual(models.seen.prompts("ask"), prompts);
  assert.deepEqual(models.seen.memory("ask"), ["user: B", "assistant: C"]);
  assert.deepEqual(linesOf(models), [...prompts, "user: B", "assistant: C"]);
  const [question] = models.seen.questions;
  assert.equal(question?.kind, "llm");
  assert.equal(question?.request.temperature, undefined);
  assert.equal(question?.request.args, undefined);
  assert.equal(question?.request.retries, 0);
});

Deno.test("llm: no memory unless it is selected; temperature, effort and model as the step says", async () => {
  const models = asked(["ok"]);
  const step = llm({ model: "openai/gpt-x", temperature: 0.5, effort: "low" });
  const { work } = stepWork(step, { models, log: ["user other: hi"] });
  await performLlmStep(work);
  assert.deepEqual(models.seen.memory("ask"), []);
  const [question] = models.seen.questions;
  assert.equal(question?.model, "openai/gpt-x");
  assert.equal(question?.request.temperature, 0.5);
  assert.deepEqual(question?.request.args, { reasoningEffort: "low" });
});

Deno.test("llm: constants are text, whatever they hold; one that is not there is left out with a warning", async () => {
  const models = asked(["ok"]);
  const names = ["N", "L", "GONE", "toString"];
  const step = llm({ prompts: names.map((name) => ({ role: "constant", name })) });
  const { work, told } = stepWork(step, { models, constants: { N: 3, L: [1, { a: "b" }] } });
  await performLlmStep(work);
  assert.deepEqual(models.seen.prompts("ask"), ["system: 3", `system: [1,{"a":"b"}]`]);
  assert.deepEqual(told.slice(0, 2), [
    `warn there is no constant "GONE"; its prompt is left out`,
    `warn there is no constant "toString"; its prompt is left out`,
  ]);
});

Deno.test("llm: its message is told by the step, not by the question", async () => {
  const { work, events } = stepWork(llm(), { models: asked(["Hello"]) });
  await performLlmStep(work);
  const types = (await events()).map(({ type }) => type);
  assert.deepEqual(types, ["run-start", "step-start", "usage", "step-end", "run-end"]);
});

Deno.test("llm: without a model, with an unknown one, and with nothing to send", async () => {
  const without: ConversationModels = { find: () => undefined };
  assert.equal(
    await failure(performLlmStep(stepWork(llm(), { models: without }).work)),
    `step "ask": no model set; add "model" or configure a default`,
  );
  assert.equal(
    await failure(performLlmStep(stepWork(llm({ model: "x/y" }), { models: without }).work)),
    `step "ask": there is no model "x/y"`,
  );
  const refusing: ConversationModels = {
    find: () => Promise.reject(new ModelError("Set OPENAI_API_KEY", { code: "config" })),
  };
  const error = await errorOf(performLlmStep(stepWork(llm(), { models: refusing }).work));
  assert.equal(error.message, `step "ask": Set OPENAI_API_KEY`);
  assert.ok(error.cause instanceof ModelError && error.cause.code === "config");
  const empty = stepWork(llm({ prompts: [], memory: [{ selector: "all" }] }), { models: asked([]) });
  assert.match(
    await failure(performLlmStep(empty.work)),
    /^step "ask": there is nothing to send to the model/,
  );
});

Deno.test("llm: an empty answer is an error, and blank text that was told is taken back", async () => {
  for (const [reply, expected] of [["", []], [" \n", ["delta  \n", "discard"]]] as const) {
    const { work, told } = stepWork(llm({ store: STORE }), { models: asked([reply]) });
    assert.equal(await failure(performLlmStep(work)), `step "ask": the model gave an empty answer`);
    assert.deepEqual(told, expected);
  }
});

Deno.test("llm: a stream that breaks after text is discarded and not tried again", async () => {
  const broken: Model = {
    id: "test/broken",
    async *stream() {
      yield text("Hel");
      await Promise.resolve();
      throw new ModelError("the connection was closed", { code: "network" });
    },
  };
  const { work, told } = stepWork(llm({ store: STORE }), { models: { find: () => broken } });
  assert.equal(await failure(performLlmStep(work)), `step "ask": the connection was closed`);
  assert.deepEqual(told, ["delta Hel", "discard"]);
});

Deno.test("llm: an error of the transport is tried again once, another one is not", async () => {
  const down = (code: "network" | "server" | "timeout" | "rate-limit") =>
    new ModelError(`down: ${code}`, { code });
  for (const code of ["network", "server", "timeout", "rate-limit"] as const) {
    const clock = virtualClock();
    const { work, told } = stepWork(llm(), { models: asked([down(code), "Hello"]), run: { clock } });
    assert.deepEqual(await clock.run(performLlmStep(work)), { kind: "next", isHeld: false });
    assert.deepEqual(told, [`warn down: ${code}; trying again in 1 s`, "delta Hello", "say Hello"]);
    assert.equal(clock.now(), 1000);
    const twice = stepWork(llm(), { models: asked([down(code), down(code)]), run: { clock } });
    assert.equal(await clock.run(failure(performLlmStep(twice.work))), `step "ask": down: ${code}`);
  }
  for (const code of ["auth", "request", "context", "answer", "config", "permission"] as const) {
    const models = asked([new ModelError("no", { code })]);
    assert.equal(await failure(performLlmStep(stepWork(llm(), { models }).work)), `step "ask": no`);
    assert.equal(models.seen.questions.length, 1, code);
  }
});

Deno.test("llm: the provider's own wait is kept, but none above a minute", async () => {
  const clock = virtualClock();
  const busy = (retryAfterMs: number) => new ModelError("busy", { code: "rate-limit", retryAfterMs });
  await clock.run(
    performLlmStep(stepWork(llm(), { models: asked([busy(7000), "ok"]), run: { clock } }).work),
  );
  assert.equal(clock.now(), 7000);
  const models = asked([busy(60_001), "ok"]);
  assert.equal(
    await clock.run(failure(performLlmStep(stepWork(llm(), { models, run: { clock } }).work))),
    `step "ask": busy`,
  );
});

Deno.test("llm: a call of the model may take 60 s, or as long as is set", async () => {
  const hanging: Model = {
    id: "test/hangs",
    // deno-lint-ignore require-yield
    async *stream() {
      await new Promise(() => undefined);
    },
  };
  for (const [means, ms] of [[{}, 60_000], [{ timeoutMs: 500 }, 500]] as const) {
    const clock = virtualClock();
    const { work } = stepWork(llm(), { models: { find: () => hanging }, run: { clock }, means });
    const message = await clock.run(failure(performLlmStep(work)));
    assert.equal(message, `step "ask": test/hangs did not answer within ${ms / 1000} s`);
    assert.equal(clock.now(), 2 * ms + 1000); // it was tried twice
  }
});

Deno.test("llm: what a model of a program throws is an error of the step; an abort is the abort", async () => {
  const throwing: Model = {
    id: "test/throws",
    stream: () => {
      throw new Error("not today");
    },
  };
  assert.equal(
    await failure(performLlmStep(stepWork(llm(), { models: { find: () => throwing } }).work)),
    `step "ask": not today`,
  );
  const controller = new AbortController();
  const hanging: Model = {
    id: "test/hangs",
    async *stream({ signal }) {
      yield text("so");
      controller.abort(new Error("enough"));
      await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    },
  };
  const { work, told } = stepWork(llm(), {
    models: { find: () => hanging },
    run: { signal: controller.signal },
  });
  assert.equal((await errorOf(performLlmStep(work))).message, "enough");
  assert.deepEqual(told, ["delta so"]);
});

Deno.test("llm: a budget that is reached is no failure of the step", async () => {
  const { work } = stepWork(llm(), { models: asked(["ok"]), means: { budget: { turns: 0 } } });
  assert.ok(await errorOf(performLlmStep(work)) instanceof BudgetError);
});

Deno.test("llm: ${env.NAME} names the model, and its value is told nowhere", async () => {
  const named: string[] = [];
  const models: ConversationModels = {
    find(name) {
      named.push(String(name));
      return {
        id: String(name),
        async *stream() {
          yield { type: "retry", attempt: 1, delayMs: 0, error: "gpt-x is slow", model: "acme/gpt-x" };
          yield text("ok");
          yield { type: "finish", reason: "length", usage: { input: 1, output: 1 }, model: "acme/gpt-x" };
        },
      };
    },
  };
  const means = { env: (name: string) => Promise.resolve(name === "NAME" ? "gpt-x" : "") };
  const step = llm({ model: "acme/${env.NAME}" });
  const { work, told, events } = stepWork(step, { models, means });
  await performLlmStep(work);
  assert.deepEqual(named, ["acme/gpt-x"]);
  const seen = JSON.stringify([await events(), told]);
  assert.doesNotMatch(seen, /gpt-x/);
  assert.match(seen, /acme\/\$\{env\.NAME\}/);

  const failing: ConversationModels = {
    find(name) {
      throw new ModelError(`unknown model "${name}"`, { code: "config" });
    },
  };
  assert.equal(
    await failure(performLlmStep(stepWork(step, { models: failing, means }).work)),
    `step "ask": unknown model "acme/\${env.NAME}"`,
  );
  const broken: ConversationModels = {
    find: (name) => ({
      id: String(name),
      stream: () => {
        throw new ModelError(`${name}: no such model gpt-x (404)`, { code: "request", status: 404 });
      },
    }),
  };
  assert.equal(
    await failure(performLlmStep(stepWork(step, { models: broken, means }).work)),
    `step "ask": acme/\${env.NAME}: no such model \${env.NAME} (404)`,
  );
  const refused = { env: () => Promise.reject(new Error("allow it with --allow-env=NAME")) };
  assert.equal(
    await failure(performLlmStep(stepWork(step, { models: failing, means: refused }).work)),
    `step "ask": allow it with --allow-env=NAME`,
  );
  const flag = "--allow-env=NAME";
  const denied = {
    env: () => Promise.reject(new PermissionRefused("no", { request: { kind: "env", value: "NAME" }, flag })),
  };
  const { cause } = await errorOf(performLlmStep(stepWork(step, { models: failing, means: denied }).work));
  assert.ok(cause instanceof ModelError && cause.code === "permission" && cause.flag === flag);
});

// A journal

function newRun(journal: Journal): string {
  const run = journal.create({ kind: "conversation", input: null });
  run.release("stopped");
  return run.id;
}

const resumable = (replies: readonly ScriptedReply[], step: StepOf<"llm"> = llm({ store: STORE })) => {
  const journal = memoryJournal();
  const id = newRun(journal);
  const go = (models: ScriptedModels, options: StepWorkOptions = {}) =>
    stepWork(step, { ...options, models, run: { journal: journal.open(id), ...options.run } });
  return { journal, id, go, models: asked(replies) };
};

Deno.test("a resumed step says the same again, and asks nobody", async () => {
  const { journal, id, go, models } = resumable([[text("Hel"), text("lo")]]);
  const first = go(models);
  await performLlmStep(first.work);
  first.work.run.end({ status: "stopped" });
  assert.deepEqual(journal.read(id).steps.map(({ key, kind }) => `${kind} ${key}`), ["model main/ask/model"]);

  const nobody = asked([]);
  const second = go(nobody);
  assert.deepEqual(await performLlmStep(second.work), { kind: "next", isHeld: false });
  assert.deepEqual(second.told, ["delta Hello", "say Hello", `set conversation.answer "Hello"`]);
  assert.deepEqual(nobody.seen.questions, []);
  second.work.run.end({ status: "done" });
});

Deno.test("a resumed step goes on behind what failed, and asks again what was not answered", async () => {
  const clock = virtualClock();
  const down = new ModelError("down", { code: "server" });
  const { journal, id, go, models } = resumable([down, "Hello"]);
  const first = go(models, { run: { clock } });
  await clock.run(performLlmStep(first.work));
  first.work.run.end({ status: "stopped" });
  const keys = ["model main/ask/model", "step main/ask/wait", "model main/ask/turn[2]/model"];
  assert.deepEqual(journal.read(id).steps.map(({ key, kind }) => `${kind} ${key}`), keys);
  const second = go(asked([]), { run: { clock } });
  await clock.run(performLlmStep(second.work));
  assert.equal(second.told.at(-2), "say Hello");

  const broken = resumable([new ModelError("no", { code: "request" })]);
  const failing = broken.go(broken.models);
  await failure(performLlmStep(failing.work));
  failing.work.run.end({ status: "stopped" });
  const again = broken.go(asked(["Hello"]));
  await performLlmStep(again.work);
  assert.deepEqual(again.told.slice(0, 2), ["delta Hello", "say Hello"]);
});

// A record

async function recorded(
  perform: (options: StepWorkOptions) => Promise<StepAtWork<AgentStep>>,
  options: StepWorkOptions,
): Promise<void> {
  const lines: RecordLine[] = [];
  const start = async (run: RunOptions, models: ConversationModels) => {
    const at = await perform({ ...options, models, run });
    return { told: [...at.told], events: await at.events() };
  };
  const recorder = { write: (line: RecordLine) => void lines.push(structuredClone(line)) };
  const clock = virtualClock();
  const models = options.models ?? asked([]);
  const first = await clock.run(start({ recorder, clock }, models));
  const replay = new Replay(
    { kind: "conversation", input: null, id: first.events[0]?.run ?? "" },
    JSON.parse(JSON.stringify(lines)),
  );
  const find = () => assert.fail("a model was looked for");
  assert.deepEqual(await start({ replay }, { find }), first);
}

Deno.test("a step is replayed from its record, without models, variables and gadgets", async () => {
  const down = new ModelError("down", { code: "server" });
  const models = asked([down, [text("See:"), call("c1", "Add", { a: 1, b: 2 })], "It is 3."]);
  let isReplay = false;
  const once = <Value>(value: Value): Value => isReplay ? assert.fail("the world was asked") : value;
  const tools: ToolSource = { find: () => once(add), names: () => once(Promise.resolve([])) };
  await recorded(async (options) => {
    const at = stepWork(llm({ tools: ["Add"], model: "${env.M}" }), options);
    await performLlmStep(at.work);
    isReplay = true;
    return at;
  }, { models, means: { tools, env: () => once("acme/secret") } });
  const judges = scriptedModels({ check: ["no", { polite: true, short: true }] });
  await recorded(async (options) => {
    const at = stepWork(validator(), options);
    await performValidator(at.work);
    return at;
  }, { models: judges });
});

Deno.test("a secret that a model says in pieces is masked in all that the step tells and keeps", async () => {
  const secrets = createSecrets();
  secrets.add("KEY", "hunter2-hunter2");
  const models = asked([[text("It is hunter2-"), text("hunter2, "), text("you see.")]]);
  const { work, told } = stepWork(llm({ store: STORE }), { models, run: { secrets } });
  await performLlmStep(work);
  assert.doesNotMatch(told.join("\n"), /hunter2/);
  assert.equal(told.at(-2), "say It is [secret KEY], you see.");
});

// Tools

Deno.test("llm.tools: rounds of calls; what was said before a call is taken back", async () => {
  const models = asked([
    [text("Let me see."), call("c1", "Add", { a: 1, b: 2 }), call("c2", "Add", { a: 3, b: "x" })],
    "It is 3.",
  ]);
  const { work, told, events } = stepWork(llm({ tools: ["Add"], store: STORE }), {
    models,
    means: { tools: toolsOf(add) },
  });
  await performLlmStep(work);
  const said = ["delta It is 3.", "say It is 3.", `set conversation.answer "It is 3."`];
  assert.deepEqual(told, ["delta Let me see.", "discard", ...said]);
  assert.deepEqual(models.seen.questions[0]?.request.tools?.map(({ name }) => name), ["Add"]);
  const last = linesOf(models);
  assert.match(
    last[2] ?? "",
    /^tool: Return of calling function Add with arguments \{"a":1,"b":2\}:\n---\n3\n---$/,
  );
  assert.match(last[3] ?? "", /^tool: Error: invalid arguments for "Add":\n/);
  const all = await events();
  const keys = all.flatMap((event) => event.type === "step-start" ? [event.key] : []);
  assert.deepEqual(keys, ["main/ask/turn[1]/model", "main/ask/turn[2]/model"]);
  assert.equal(all.filter(({ type }) => type === "call-result").length, 1);
});

Deno.test("llm.tools: eight calls at once, and the sixth answer gets no tools", async () => {
  let running = 0;
  let most = 0;
  const wait = defineGadget({
    name: "Wait",
    description: "Waits.",
    input: { type: "object", properties: { n: { type: "number" } } },
    async run() {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
      return "ok";
    },
  });
  const rounds = [0, 1, 2, 3, 4].map((round) =>
    Array.from({ length: 10 }, (_, i) => call(`${round}-${i}`, "Wait", { n: round * 10 + i }))
  );
  const models = asked([...rounds, "done"]);
  const { work, told } = stepWork(llm({ tools: ["Wait"] }), { models, means: { tools: toolsOf(wait) } });
  await performLlmStep(work);
  assert.equal(most, 8);
  assert.deepEqual(told, ["delta done", "say done"]);
  assert.equal(models.seen.questions.length, 6);
  assert.equal(models.seen.questions.at(-1)?.request.tools, undefined);
  assert.match(linesOf(models).at(-1) ?? "", /^user: No more tools can be called\./);
});

Deno.test("llm.tools: a resumed round asks for nothing twice and calls nothing twice", async () => {
  let calls = 0;
  const once = defineGadget({ name: "Once", description: "Counts.", run: () => ++calls });
  const step = llm({ tools: ["Once"] });
  const { go, models } = resumable(
    [[call("c1", "Once", {})], new ModelError("no", { code: "request" })],
    step,
  );
  const means = { tools: toolsOf(once) };
  const first = go(models, { means });
  await failure(performLlmStep(first.work));
  first.work.run.end({ status: "stopped" });
  const rest = asked(["the answer of before", "done"]);
  const second = go(rest, { means });
  await performLlmStep(second.work);
  assert.deepEqual(rest.seen.questions.map(({ request }) => request.messages.length), [3]);
  assert.equal(calls, 1);
  assert.deepEqual(second.told, ["delta done", "say done"]);
});

Deno.test("llm.tools: a name that nobody knows, and one that cannot be had", async () => {
  const unknown = stepWork(llm({ tools: ["Ad"] }), { models: asked([]), means: { tools: toolsOf(add) } });
  assert.equal(
    await failure(performLlmStep(unknown.work)),
    `step "ask": unknown tool "Ad". Did you mean "Add"?`,
  );
  const tools: ToolSource = {
    find: () => Promise.reject(new Error(`Gadget "Add" is not trusted`)),
    names: () => Promise.resolve([]),
  };
  const refused = stepWork(llm({ tools: ["Add"] }), { models: asked([]), means: { tools } });
  assert.equal(
    await failure(performLlmStep(refused.work)),
    `step "ask": tool "Add": Gadget "Add" is not trusted`,
  );
});

// Forms

const SCHEMA = {
  type: "object",
  properties: { n: { type: "integer" } },
  required: ["n"],
  additionalProperties: false,
} as const;

Deno.test("llm.schema: the value goes to the slot unsaid; without one its JSON is said", async () => {
  const models = asked(['```json\n{ "n": 3 }\n```']);
  const { work, told } = stepWork(llm({ schema: SCHEMA, store: STORE }), { models });
  await performLlmStep(work);
  assert.deepEqual(told, [`set conversation.answer {"n":3}`]);
  const request = models.seen.questions[0]?.request;
  assert.deepEqual(request?.schema, SCHEMA);
  assert.equal(request?.json, true);
  assert.match(linesOf(models)[0] ?? "", /^system: Your answer is one JSON value that fits this JSON Schema/);
  assert.deepEqual(models.seen.prompts("ask"), ["system: Be kind."]);

  const unstored = stepWork(llm({ schema: SCHEMA }), { models: asked([`{"n":3}`]) });
  await performLlmStep(unstored.work);
  assert.deepEqual(unstored.told, [`say {"n":3}`]);
  const textual = stepWork(llm({ schema: { type: "string" }, store: STORE }), { models: asked([`"hi"`]) });
  await performLlmStep(textual.work);
  assert.deepEqual(textual.told, ["say hi", `set conversation.answer "hi"`]);
});

Deno.test("llm.schema: one retry with the problem named, then an error; a schema that is none is told", async () => {
  const models = asked([`{"n":"x"}`, `{"n":4}`]);
  const { work, told } = stepWork(llm({ schema: SCHEMA, store: STORE }), { models });
  await performLlmStep(work);
  assert.deepEqual(told, [`set conversation.answer {"n":4}`]);
  assert.deepEqual(linesOf(models).slice(-2), [
    `assistant: {"n":"x"}`,
    "user: The answer is not valid: /n: type. Answer again with the JSON only.",
  ]);
  const never = stepWork(llm({ schema: SCHEMA }), { models: asked(["no", "never"]) });
  assert.equal(
    await failure(performLlmStep(never.work)),
    `step "ask": the model did not answer in the requested form`,
  );
  const wrong = stepWork(llm({ schema: { type: "text" } }), { models: asked([]) });
  assert.match(await failure(performLlmStep(wrong.work)), /^step "ask": schema type: /);
});

Deno.test("llm.prompt: a prompt is asked with filled arguments; text is said, a value is stored", async () => {
  const given: Json[] = [];
  const answering = (value: Json, fields: Partial<StepOf<"llm">> = {}) =>
    stepWork(llm({ prompts: [], prompt: { path: "a/b", args: { who: "{{name}}", n: 1 } }, ...fields }), {
      slots: { "conversation.name": ["Ana"] },
      means: {
        askPrompt(path, { args, work }) {
          given.push([path, args, work.key]);
          return Promise.resolve(value);
        },
      },
    });
  const said = answering("Hello", { store: STORE });
  await performLlmStep(said.work);
  assert.deepEqual(given, [["a/b", { who: ["Ana"], n: 1 }, "main/ask"]]);
  assert.deepEqual(said.told, ["say Hello", `set conversation.answer "Hello"`]);
  const stored = answering({ ok: true }, { store: STORE });
  await performLlmStep(stored.work);
  assert.deepEqual(stored.told, [`set conversation.answer {"ok":true}`]);
  const unstored = answering({ ok: true });
  await performLlmStep(unstored.work);
  assert.deepEqual(unstored.told, [`say {"ok":true}`]);
  assert.equal(
    await failure(performLlmStep(answering("").work)),
    `step "ask": the model gave an empty answer`,
  );
});

// Validator

Deno.test("validator: instruction, prompts, the whole log, and the goals last; temperature 0", async () => {
  const models = scriptedModels({
    check: [{ polite: true, short: { decision: false, explanation: "too long" } }],
  });
  const step = validator({ prompts: [{ role: "system", text: "Be strict." }] });
  const { work, told } = stepWork(step, {
    models,
    log: ["assistant other: Say it.", "user other: yes"],
    slots: { "conversation.name": "Ana" },
  });
  assert.deepEqual(await performValidator(work), { kind: "flow", flow: { goto: "no" } });
  assert.deepEqual(told, [
    "set conversation.polite true",
    "set conversation.short false",
    `set conversation.short_explanation "too long"`,
  ]);
  const lines = linesOf(models);
  assert.match(lines[0] ?? "", /^system: You judge a conversation/);
  assert.deepEqual(lines.slice(1, -1), ["system: Be strict.", "assistant: Say it.", "user: yes"]);
  assert.match(lines.at(-1) ?? "", /^user: Judge the conversation above/);
  assert.match(lines.at(-1) ?? "", /- polite: The user is polite\.\n {2}Examples:\n {2}- yes please\n/);
  assert.match(lines.at(-1) ?? "", /- short: It is short, Ana\.\n/);
  const [question] = models.seen.questions;
  assert.equal(question?.request.temperature, 0);
  assert.equal(question?.request.json, true);
  assert.deepEqual(Object.keys(Object(question?.request.schema?.properties)), ["polite", "short"]);
  assert.deepEqual(question?.prompts, ["system: Be strict."]);
  assert.deepEqual(question?.memory, ["assistant: Say it.", "user: yes"]);
});

Deno.test("validator: all and any", async () => {
  const cases = [["all", true, true, "yes"], ["all", true, false, "no"], ["any", true, false, "yes"], [
    "any",
    false,
    false,
    "no",
  ]] as const;
  for (const [type, polite, short, goto] of cases) {
    const models = scriptedModels({ check: [{ polite: { decision: polite }, short }] });
    const { work } = stepWork(validator({ type }), { models });
    assert.deepEqual(await performValidator(work), { kind: "flow", flow: { goto } });
  }
});

Deno.test("validator: a goal without a verdict is an error at once, and nothing is written", async () => {
  const missing = [{ other: true, short: true }, { polite: null, short: true }, { polite: {}, short: true }, {
    polite: { decision: null, explanation: "?" },
    short: true,
  }];
  for (const answer of missing) {
    const models = scriptedModels({ check: [answer] });
    const { work, told } = stepWork(validator(), { models });
    assert.equal(
      await failure(performValidator(work)),
      `step "check": the model gave no verdict for goal "polite"`,
    );
    assert.deepEqual(told, []);
    assert.equal(models.seen.questions.length, 1);
  }
});

Deno.test("judges: an answer of another form is asked for once more, with the problem named", async () => {
  const misfits = [
    ["sure", "it is not JSON"],
    ["", "it is not JSON"],
    ["[1]", "/: type"],
    [{ polite: "yes", short: true }, `"polite" is not an object with "decision"`],
    [{ polite: { decision: "true" }, short: true }, `"polite" is not an object with "decision"`],
    [{ polite: [true], short: true }, `"polite" is not an object with "decision"`],
  ] as const;
  for (const [misfit, why] of misfits) {
    const models = scriptedModels({ check: [misfit, { polite: true, short: true }] });
    const { work, told } = stepWork(validator(), { models });
    assert.deepEqual(await performValidator(work), { kind: "flow", flow: { goto: "yes" } });
    assert.ok(
      linesOf(models).at(-1)?.startsWith(`user: The answer is not valid: ${why}`),
      linesOf(models).at(-1),
    );
    assert.equal(told.length, 2);
    const never = scriptedModels({ check: [misfit, misfit, "not asked"] });
    assert.equal(
      await failure(performValidator(stepWork(validator(), { models: never }).work)),
      `step "check": the model did not answer in the requested form`,
    );
    assert.equal(never.seen.questions.length, 2);
  }
});

Deno.test("judges: the instruction and the temperature can be replaced by constants, and left out", async () => {
  const good = { polite: true, short: true };
  const seen = async (fields: Partial<StepOf<"validator">>, constants: Readonly<Record<string, Json>>) => {
    const models = scriptedModels({ check: [good] });
    const { work, told } = stepWork(validator(fields), { models, constants });
    await performValidator(work);
    return { lines: linesOf(models), told, request: models.seen.questions[0]?.request };
  };
  const constants = { VALIDATOR_PREFIX: "Judge {{n}}.", VALIDATOR_TEMPERATURE: "0.7", n: 5 };
  const replaced = await seen({}, constants);
  assert.equal(replaced.lines[0], "system: Judge 5.");
  assert.equal(replaced.request?.temperature, 0.7);
  assert.equal((await seen({ temperature: 1 }, constants)).request?.temperature, 1);
  const skipped = await seen({ skipPrefix: true }, constants);
  assert.equal(skipped.lines.length, 1);
  assert.match(skipped.lines[0] ?? "", /^user: Judge the conversation above/);
  const wrong = await seen({}, { VALIDATOR_TEMPERATURE: "hot" });
  assert.equal(wrong.request?.temperature, 0);
  assert.equal(
    wrong.told[0],
    `warn constant "VALIDATOR_TEMPERATURE" must be a number from 0 to 2; 0 is taken`,
  );
});

Deno.test("judges: nothing of an answer streams, and one that broke off may be asked for again", async () => {
  const clock = virtualClock();
  let asks = 0;
  const model: Model = {
    id: "test/breaks",
    async *stream() {
      yield text(`{"polite": true,`);
      if (++asks === 1) throw new ModelError("cut", { code: "network" });
      yield text(`"short": true}`);
    },
  };
  const { work, told } = stepWork(validator(), { models: { find: () => model }, run: { clock } });
  assert.deepEqual(await clock.run(performValidator(work)), { kind: "flow", flow: { goto: "yes" } });
  assert.deepEqual(told.filter((line) => /^(delta|say|discard)/.test(line)), []);
});

// Extractor

Deno.test("extractor: what is found is kept, also where other values are missing", async () => {
  const models = scriptedModels({ fill: [{ name: "Ana", age: null }, { name: " ", age: "30" }, {}] });
  const slots = { "conversation.name": "old" };
  const first = stepWork(extractor(), { models, slots });
  assert.deepEqual(await performExtractor(first.work), { kind: "flow", flow: { goto: "no" } });
  assert.deepEqual(first.told, [`set conversation.name "Ana"`]);
  const second = stepWork(extractor(), { models, slots });
  assert.deepEqual(await performExtractor(second.work), { kind: "flow", flow: { goto: "no" } });
  assert.deepEqual(second.told, ["set session.age 30"]);
  assert.equal(second.slots.get("conversation.name"), "old");
  const third = stepWork(extractor(), { models, slots });
  assert.deepEqual(await performExtractor(third.work), { kind: "flow", flow: { goto: "no" } });
  assert.deepEqual(third.told, []);
  const all = stepWork(extractor(), { models: scriptedModels({ fill: [{ name: "Ana", age: 30 }] }) });
  assert.deepEqual(await performExtractor(all.work), { kind: "flow", flow: { goto: "yes" } });
});

Deno.test("extractor: the form has a property for each value, with its type, choice, parts and examples", async () => {
  const models = scriptedModels({ fill: [{ "conversation.x": "a", "session.x": [{ n: "2" }] }] });
  const { work, told } = stepWork(
    extractor({
      values: [
        {
          description: "one of {{what}}",
          type: "string",
          enum: ["a", "b"],
          examples: ["an {{what}} -> a"],
          target: { destination: "conversation", name: "x" },
        },
        {
          description: "lines",
          type: "array",
          items: {
            description: "line",
            type: "object",
            properties: { n: { description: "how many", type: "integer", examples: [] } },
            examples: [],
          },
          examples: [],
          target: { destination: "session", name: "x" },
        },
      ],
    }),
    { models, slots: { "conversation.what": "letter" } },
  );
  assert.deepEqual(await performExtractor(work), { kind: "flow", flow: { goto: "yes" } });
  assert.deepEqual(told, [`set conversation.x "a"`, `set session.x [{"n":2}]`]);
  const schema = {
    type: "object",
    properties: {
      "conversation.x": {
        type: "string",
        description: "one of letter\nExamples:\n- an letter -> a",
        enum: ["a", "b"],
      },
      "session.x": {
        type: "array",
        description: "lines",
        items: {
          type: "object",
          properties: { n: { type: "integer", description: "how many" } },
          additionalProperties: false,
          description: "line",
        },
      },
    },
    additionalProperties: false,
  };
  assert.deepEqual(models.seen.questions[0]?.request.schema, schema);
  assert.ok(linesOf(models).at(-1)?.endsWith(JSON.stringify(schema)));
});

// Summarizer

Deno.test("summarizer: appends a line, or replaces; an empty one is an error", async () => {
  const models = scriptedModels({ sum: ["A", "B", "C", " "] });
  const run = async (fields: Partial<StepOf<"summarizer">>, before: Readonly<Record<string, Json>>) => {
    const at = stepWork(summarizer(fields), { models, slots: before, log: ["user other: hi"] });
    assert.deepEqual(await performSummarizer(at.work), { kind: "next" });
    assert.equal(at.told.filter((line) => !line.startsWith("set ")).length, 0);
    return at.work.slot(SUMMARY);
  };
  assert.equal(await run({}, {}), "A");
  assert.match(linesOf(models)[0] ?? "", /^system: You summarize a conversation/);
  assert.deepEqual(linesOf(models).slice(1), [
    "user: hi",
    "user: Write the summary of the conversation above.",
  ]);
  assert.equal(models.seen.questions[0]?.request.temperature, 0);
  assert.equal(await run({ skipPrefix: true }, { "conversation.summary": "A" }), "A\nB");
  assert.deepEqual(linesOf(models), ["user: hi"]);
  assert.equal(await run({ type: "replace" }, { "conversation.summary": "A" }), "C");
  const empty = stepWork(summarizer(), { models });
  assert.equal(await failure(performSummarizer(empty.work)), `step "sum": the model gave an empty answer`);
});

// Gadget and run

const gadgetStep = (fields: Partial<StepOf<"gadget">> = {}): StepOf<"gadget"> => ({
  ...stepBase("calc"),
  kind: "gadget",
  name: "Add",
  input: { a: "{{n}}", b: 2 },
  target: { destination: "conversation", name: "sum" },
  ...fields,
});

Deno.test("gadget: one journaled call with filled input; slots cannot put references into it", async () => {
  const echo = defineGadget({
    name: "Echo",
    description: "Echo.",
    input: { type: "object" },
    run: (input) => input,
  });
  const journal = memoryJournal();
  const id = newRun(journal);
  const step = gadgetStep({ name: "Echo", input: { list: ["{{n}}"], n: "{{n}}", t: "n={{n}}" } });
  const at = stepWork(step, {
    means: { tools: toolsOf(echo) },
    slots: { "conversation.n": "{{results.x}}" },
    run: { journal: journal.open(id) },
  });
  assert.deepEqual(await performGadget(at.work), { kind: "next" });
  const value = { list: ["{{results.x}}"], n: "{{results.x}}", t: "n={{results.x}}" };
  assert.deepEqual(at.slots.get("conversation.sum"), value);
  const events = await at.events();
  const result = events.find((event) => event.type === "call-result");
  assert.equal(result?.type === "call-result" && result.step, "main/calc");
  assert.deepEqual(journal.read(id).steps.map(({ key }) => key), ["main/calc/call:calc"]);
});

Deno.test("gadget: flows for success and failure; without them it goes on, or the step fails", async () => {
  const means = { tools: toolsOf(add) };
  const good = { "conversation.n": 1 };
  const plain = stepWork(gadgetStep(), { means, slots: good });
  assert.deepEqual(await performGadget(plain.work), { kind: "next" });
  assert.equal(plain.slots.get("conversation.sum"), 3);
  const flows = stepWork(gadgetStep(FLOWS), { means, slots: good });
  assert.deepEqual(await performGadget(flows.work), { kind: "flow", flow: { goto: "yes" } });
  const bad = stepWork(gadgetStep(FLOWS), { means, slots: { "conversation.sum": "old" } });
  assert.deepEqual(await performGadget(bad.work), { kind: "flow", flow: { goto: "no" } });
  assert.equal(bad.slots.get("conversation.sum"), "old");
  assert.match(bad.told[0] ?? "", /^warn gadget "Add": a: /);
  assert.match(
    await failure(performGadget(stepWork(gadgetStep(), { means }).work)),
    /^step "calc": gadget "Add": a: /,
  );
  assert.equal(
    await failure(performGadget(stepWork(gadgetStep({ input: "{{n}}" }), { means, slots: good }).work)),
    `step "calc": gadget "Add" takes a mapping as its input, found 1`,
  );
  assert.equal(
    await failure(performGadget(stepWork(gadgetStep({ name: "Ad", ...FLOWS }), { means }).work)),
    `step "calc": unknown gadget "Ad". Did you mean "Add"?`,
  );
});

Deno.test("gadget: a call whose end is not known is not done again, and is no failure to go on from", async () => {
  let calls = 0;
  const once = defineGadget({
    name: "Add",
    description: "Counts.",
    input: { type: "object" },
    run: () => ++calls,
  });
  const journal = memoryJournal();
  const id = newRun(journal);
  const begun = journal.open(id);
  const input = { a: "", b: 2 };
  begun.begin({ key: "main/calc/call:calc", kind: "gadget", name: "Add", input, idempotent: false });
  begun.release("stopped");
  const at = stepWork(gadgetStep(FLOWS), {
    means: { tools: toolsOf(once) },
    run: { journal: journal.open(id) },
  });
  assert.match(
    await failure(performGadget(at.work)),
    /^step "calc": gadget "Add": Started before the process ended/,
  );
  assert.equal(calls, 0);
});

Deno.test("run: a file as a part of the run, its text to the slot", async () => {
  const given: Json[] = [];
  const step: StepOf<"run"> = {
    ...stepBase("doc"),
    kind: "run",
    file: "{{n}}.md",
    input: { q: "{{n}}" },
    target: STORE,
  };
  const at = stepWork(step, {
    slots: { "conversation.n": 7 },
    means: {
      runFile(file, { input = null, keyPrefix }) {
        given.push([file, input, keyPrefix]);
        return Promise.resolve("the text");
      },
    },
  });
  assert.deepEqual(await performRunFile(at.work), { kind: "next" });
  assert.deepEqual(given, [["{{n}}.md", { q: 7 }, "main/doc/"]]);
  assert.deepEqual(at.told, [`set conversation.answer "the text"`]);
  const failing = stepWork({ ...step, input: null }, {
    means: { runFile: () => Promise.reject(new Error("a.md: no such file")) },
  });
  assert.equal((await errorOf(performRunFile(failing.work))).message, "a.md: no such file");
});

// A program's own model

Deno.test("a function is a model: text, pieces or an object, with what it is asked", async () => {
  const requests: ConversationModelRequest[] = [];
  const models = modelOfFunction((request) => {
    requests.push(request);
    if (request.kind === "llm") {
      return (async function* () {
        yield "Hel";
        yield "lo";
      })();
    }
    return Promise.resolve(request.kind === "validator" ? { polite: true, short: true } : "sum");
  });
  const said = stepWork(llm(), { models, log: ["user other: hi"] });
  await performLlmStep(said.work);
  assert.deepEqual(said.told, ["delta Hel", "delta lo", "say Hello"]);
  const judged = stepWork(validator(), { models, log: ["user other: hi"] });
  assert.deepEqual(await performValidator(judged.work), { kind: "flow", flow: { goto: "yes" } });
  assert.deepEqual(judged.told, ["set conversation.polite true", "set conversation.short true"]);
  await performSummarizer(stepWork(summarizer(), { models }).work);
  assert.deepEqual(requests.map(({ step, kind }) => `${kind} ${step}`), [
    "llm ask",
    "validator check",
    "summarizer sum",
  ]);
  assert.deepEqual(requests[0]?.messages, [{ role: "system", content: "Be kind." }]);
  assert.deepEqual(requests[1]?.memory, [{ role: "user", content: "hi" }]);
  assert.ok(requests[1]?.schema && requests[1].signal instanceof AbortSignal);
});

Deno.test("a function that fails or gives something else", async () => {
  const clock = virtualClock();
  let asks = 0;
  const down = modelOfFunction(() => {
    asks++;
    return Promise.reject(Object.assign(new Error("overloaded"), { status: 503 }));
  });
  const work = performLlmStep(stepWork(llm(), { models: down, run: { clock } }).work);
  assert.equal(await clock.run(failure(work)), `step "ask": overloaded`);
  assert.equal(asks, 2);
  const broken = modelOfFunction(() => {
    asks++;
    throw new Error("my mistake");
  });
  assert.equal(
    await failure(performLlmStep(stepWork(llm(), { models: broken }).work)),
    `step "ask": my mistake`,
  );
  assert.equal(asks, 3);
  for (const given of [undefined, 5, () => 1]) {
    const models = modelOfFunction(() => given as never);
    assert.match(
      await failure(performLlmStep(stepWork(llm(), { models }).work)),
      /^step "ask": The model "program\/model" gave no answer: expected text or an object, found /,
    );
  }
});

Deno.test("deltas are parts of what is said, however the answer is cut", async () => {
  await fc.assert(fc.asyncProperty(fc.array(fc.string(), { maxLength: 8 }), async (pieces) => {
    const { work, told } = stepWork(llm(), { models: asked([pieces.map(text)]) });
    const whole = pieces.join("");
    if (whole.trim() === "") return void await failure(performLlmStep(work));
    await performLlmStep(work);
    const deltas = told.filter((line) => line.startsWith("delta ")).map((line) => line.slice(6));
    assert.equal(deltas.join(""), whole);
    assert.equal(told.at(-1), `say ${whole}`);
  }));
});
