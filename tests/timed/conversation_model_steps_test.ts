// The steps of a conversation that ask a model or call a gadget (conversations.md 2.7, 2.8, 3), each by itself.
import fc from "fast-check";
import assert from "node:assert/strict";
import { join } from "node:path";
import {
  type AnyGadget,
  type ConversationModelRequest,
  defineGadget,
  type Json,
  memoryJournal,
  type Message,
  ModelError,
  openConversation,
  type RunEvent,
  virtualClock,
} from "../../mod.ts";
import {
  agentOf,
  ask,
  chain,
  endOf,
  eventsOf,
  type StepJson,
  talk,
  told,
  turn,
} from "../_conversation_turns.ts";
import { testProject } from "../_project.ts";
import { providerServer, TEST_KEY } from "../_provider_server.ts";
import type { ProviderReply } from "../_provider_server.ts";
import { FLOWS, type MadeStep, madeStep, type StepTalkOptions } from "../_step_talk.ts";

type Fields = Readonly<Record<string, unknown>>;

const llm = (fields: Fields = {}): StepJson => ({
  id: "ask",
  llm: { prompts: [{ system: "Be kind." }], ...fields },
});
const GOALS = [
  { name: "polite", goal: "The user is polite.", examples: ["yes please"] },
  { name: "short", goal: "It is short, {{name}}." },
];
const validator = (fields: Fields = {}): StepJson => ({
  id: "check",
  validator: { goals: GOALS, ...FLOWS, ...fields },
});
const VALUES = [
  { description: "first name", target: { slot: { name: "name" } } },
  { description: "age", type: "integer", target: { slot: { name: "age", destination: "session" } } },
];
const extractor = (values: readonly Fields[] = VALUES): StepJson => ({
  id: "fill",
  extractor: { values, ...FLOWS },
});
const summarizer = (fields: Fields = {}): StepJson => ({ id: "sum", summarizer: fields });
const STORE = { store: { slot: { name: "answer" } } };

/** Text, pieces of it, the object of a form, or what goes wrong. */
type Reply = string | readonly string[] | object | Error;

/** A model that gives these replies, one a question, and what it was asked. */
function asked(...replies: readonly Reply[]) {
  const requests: ConversationModelRequest[] = [];
  return {
    requests,
    model(request: ConversationModelRequest): AsyncIterable<string> | Promise<string | object> {
      requests.push(request);
      const reply = replies[requests.length - 1];
      if (reply === undefined) return Promise.reject(new ModelError("no reply is left", { code: "request" }));
      if (reply instanceof Error) return Promise.reject(reply);
      if (!Array.isArray(reply)) return Promise.resolve(reply);
      return ReadableStream.from(reply);
    },
  };
}

const linesOf = (messages: readonly Message[] = []): readonly string[] =>
  messages.map(({ role, content }) => `${role}: ${String(content)}`);

/** Waits are as long as they are without chance. */
async function withoutChance(work: () => Promise<void>): Promise<void> {
  const random = Math.random;
  Math.random = () => 0;
  try {
    await work();
  } finally {
    Math.random = random;
  }
}

const failure = async (made: Promise<MadeStep>): Promise<string | undefined> => (await made).error;

const ADD_INPUT = {
  type: "object",
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
} as const;
const add = defineGadget({ name: "Add", description: "Adds.", input: ADD_INPUT, run: ({ a, b }) => a + b });

// llm

Deno.test("llm: prompts in order, then the memory; text streams and is one message, which is stored", async () => {
  const { model, requests } = asked(["Hel", "lo"]);
  const { told } = await madeStep(
    llm({
      prompts: [{ constant: "ROLE" }, { system: "Talk to {{name}}." }, { user: "2+2?" }, { "a-i": "4" }],
      memory: [{ selector: "all" }],
      "memory-limit": 2,
      ...STORE,
    }),
    {
      model,
      constants: { ROLE: "Be kind to {{name}}." },
      slots: { name: "{{ROLE}}" },
      log: ["assistant A", "user B", "assistant C"],
    },
  );
  assert.deepEqual(told, ["delta Hel", "delta lo", "say Hello", `set conversation.answer "Hello"`]);
  const prompts = ["system: Be kind to {{ROLE}}.", "system: Talk to {{ROLE}}.", "user: 2+2?", "assistant: 4"];
  const [request] = requests;
  assert.deepEqual(linesOf(request?.prompts), prompts);
  assert.deepEqual(linesOf(request?.memory), ["user: B", "assistant: C"]);
  assert.deepEqual(linesOf(request?.messages), [...prompts, "user: B", "assistant: C"]);
  assert.equal(request?.kind, "llm");
});

Deno.test("llm: no memory unless it is selected; constants are text, whatever they hold", async () => {
  const { model, requests } = asked("ok");
  const step = llm({ prompts: [{ constant: "N" }, { constant: "L" }] });
  await madeStep(step, { model, constants: { N: 3, L: [1, { a: "b" }] }, log: ["user hi"] });
  assert.deepEqual(linesOf(requests[0]?.memory), []);
  assert.deepEqual(linesOf(requests[0]?.prompts), ["system: 3", `system: [1,{"a":"b"}]`]);
});

Deno.test("llm: its message is told by the step, and nothing is told twice", async () => {
  const { events } = await madeStep(llm(), asked("Hello"));
  const types = events.filter((event) => !("step" in event) || event.step !== "over").map(({ type }) => type);
  assert.deepEqual(types.filter((type) => type === "message" || type === "text-delta"), [
    "text-delta",
    "message",
  ]);
  const model = events.filter((event) => "key" in event && event.key.endsWith("/model")).map(({ type }) =>
    type
  );
  assert.deepEqual(model, ["step-start", "step-end"]);
});

/** Runs an agent of this chain in a project whose only provider is the one of the test. */
async function provided(
  steps: readonly StepJson[],
  replies: Parameters<typeof providerServer>[0],
  { args = [], constants = {} }: { readonly args?: readonly string[]; readonly constants?: Fields } = {},
) {
  await using provider = providerServer(replies);
  const action = { id: "main", chain: steps };
  await using project = await testProject({
    "a.agent.yml": JSON.stringify({ version: "0.1", structure: { id: "a", constants, action } }),
  });
  const config = join(String(project.env.XDG_CONFIG_HOME), "orrery");
  await Deno.mkdir(config, { recursive: true });
  await Deno.writeTextFile(
    join(config, "config.yaml"),
    JSON.stringify({ models: { providers: { compatible: provider.settings.providers.compatible } } }),
  );
  const { code, stdout, stderr } = await project.run(["run", "a.agent.yml", ...args], {
    env: { COMPATIBLE_KEY: TEST_KEY, NAME: "gpt-x" },
  });
  return { code, stdout, stderr, bodies: provider.requests.map(({ body }) => body) };
}

const answer = (text: string): ProviderReply => ({ parts: [{ text: [text] }] });

Deno.test("what a provider is asked: the model, temperature, effort and form as the step says, 0 where it judges", async () => {
  const good = answer('{"polite": true, "short": true}');
  const flows = { success: { action: "continue" }, fail: { action: "continue" } };
  const judge = (id: string, fields: Fields = {}) => ({
    id,
    validator: { goals: GOALS, ...flows, ...fields },
  });
  const { code, stdout, stderr, bodies } = await provided(
    [
      llm(),
      {
        id: "tuned",
        llm: {
          prompts: [{ user: "x" }],
          model: "compatible/other",
          temperature: 0.5,
          "reasoning-effort": "low",
        },
      },
      { id: "env", llm: { prompts: [{ user: "x" }], model: "compatible/${env.NAME}" } },
      judge("of a constant"),
      judge("its own", { temperature: 1 }),
      { id: "sum", summarizer: {} },
    ],
    [answer("one"), answer("two"), answer("three"), good, good, answer("sum")],
    { args: ["-m", "compatible/m", "--allow-env=NAME", "-q"], constants: { VALIDATOR_TEMPERATURE: "0.7" } },
  );
  assert.deepEqual([code, stdout], [0, "one\n\ntwo\n\nthree\n"], stderr);
  assert.deepEqual(
    bodies.map(({ model, temperature, reasoning_effort: effort, response_format: form }) => [
      model,
      temperature,
      effort,
      form?.type,
    ]),
    [
      ["m", undefined, undefined, undefined],
      ["other", 0.5, "low", undefined],
      ["gpt-x", undefined, undefined, undefined],
      ["m", 0.7, undefined, bodies[3]?.response_format?.type],
      ["m", 1, undefined, bodies[3]?.response_format?.type],
      ["m", 0, undefined, undefined],
    ],
  );
  assert.match(String(bodies[3]?.response_format?.type), /^json_/);
});

Deno.test("llm: without a model, with an unknown one, with one that has no key, and with nothing to send", async () => {
  const names = ["XDG_CONFIG_HOME", "OPENAI_API_KEY"];
  const before = names.map((name) => Deno.env.get(name));
  const nowhere = await Deno.makeTempDir({ prefix: "orrery-settings-" });
  Deno.env.set("XDG_CONFIG_HOME", nowhere);
  Deno.env.delete("OPENAI_API_KEY");
  const errorOf = async (fields: Fields) =>
    endOf(await turn((await openConversation(await agentOf(llm(fields)))).start())).error;
  try {
    assert.equal(await errorOf({}), `step "ask": no model set; add "model" or configure a default`);
    assert.match(String(await errorOf({ model: "x/y" })), /^step "ask": The model provider "x" is unknown/);
    assert.match(
      String(await errorOf({ model: "openai/y" })),
      /^step "ask": .*set the variable OPENAI_API_KEY/,
    );
  } finally {
    for (const [index, name] of names.entries()) {
      const value = before[index];
      value === undefined ? Deno.env.delete(name) : Deno.env.set(name, value);
    }
    await Deno.remove(nowhere, { recursive: true });
  }
  const empty = madeStep(llm({ prompts: [], memory: [{ selector: "all" }] }), asked());
  assert.match(String(await failure(empty)), /^step "ask": there is nothing to send to the model/);
});

Deno.test("llm: an empty answer is an error, and blank text that was told is no message", async () => {
  for (const [reply, expected] of [["", []], [" \n", ["delta  \n"]]] as const) {
    const { told, error, one } = await madeStep(llm(STORE), asked(reply));
    assert.equal(error, `step "ask": the model gave an empty answer`);
    assert.deepEqual([told, one.lines], [expected, []]);
  }
});

Deno.test("llm: a stream that breaks after text is no message and not tried again", async () => {
  let asks = 0;
  const { told, error, one } = await madeStep(llm(STORE), {
    async *model() {
      asks++;
      yield "Hel";
      await Promise.resolve();
      throw new ModelError("the connection was closed", { code: "network" });
    },
  });
  assert.equal(error, `step "ask": the connection was closed`);
  assert.deepEqual([told, one.lines, asks], [["delta Hel"], [], 1]);
});

Deno.test("llm: an error of the transport is tried again once, another one is not", () =>
  withoutChance(async () => {
    const down = (code: "network" | "server" | "timeout" | "rate-limit") =>
      new ModelError(`down: ${code}`, { code });
    for (const code of ["network", "server", "timeout", "rate-limit"] as const) {
      const clock = virtualClock();
      const { told } = await clock.run(madeStep(llm(), { ...asked(down(code), "Hello"), clock }));
      assert.deepEqual(told, [`warn down: ${code}; trying again in 1 s`, "delta Hello", "say Hello"]);
      assert.equal(clock.now(), 1000);
      const twice = madeStep(llm(), { ...asked(down(code), down(code)), clock });
      assert.equal(await clock.run(failure(twice)), `step "ask": down: ${code}`);
    }
    for (const code of ["auth", "request", "context", "answer", "config", "permission"] as const) {
      const { model, requests } = asked(new ModelError("no", { code }));
      assert.equal(await failure(madeStep(llm(), { model })), `step "ask": no`);
      assert.equal(requests.length, 1, code);
    }
  }));

Deno.test("llm: the provider's own wait is kept, but none above a minute", async () => {
  const clock = virtualClock();
  const busy = (retryAfterMs: number) => new ModelError("busy", { code: "rate-limit", retryAfterMs });
  await clock.run(madeStep(llm(), { ...asked(busy(7000), "ok"), clock }));
  assert.equal(clock.now(), 7000);
  const long = madeStep(llm(), { ...asked(busy(60_001), "ok"), clock });
  assert.equal(await clock.run(failure(long)), `step "ask": busy`);
});

Deno.test("llm: a call of the model may take 60 s", () =>
  withoutChance(async () => {
    const clock = virtualClock();
    const made = madeStep(llm(), { model: () => new Promise(() => undefined), clock });
    assert.equal(await clock.run(failure(made)), `step "ask": program/model did not answer within 60 s`);
    assert.equal(clock.now(), 121_000); // it was tried twice
  }));

Deno.test("llm: what a model of a program throws is an error of the step; an abort is the abort", async () => {
  const throwing = () => {
    throw new Error("not today");
  };
  assert.equal(await failure(madeStep(llm(), { model: throwing })), `step "ask": not today`);
  const controller = new AbortController();
  const { told, events } = await madeStopped(llm(), {
    async *model({ signal }) {
      yield "so";
      controller.abort(new Error("enough"));
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
    signal: controller.signal,
  });
  assert.deepEqual([endOf(events).status, endOf(events).reason, told], ["stopped", "interrupted", [
    "delta so",
  ]]);
});

/** A step in whose turn the conversation is stopped. */
async function madeStopped(step: StepJson, options: StepTalkOptions) {
  const one = await talk(chain([step]), options);
  const events: RunEvent[] = [];
  for await (const event of one.conversation.start()) events.push(event);
  const told = events.flatMap((event) => event.type === "text-delta" ? [`delta ${event.text}`] : []);
  return { told, events };
}

Deno.test("llm: ${env.NAME} names the model, and its value is told nowhere", async () => {
  Deno.env.set("NAME_OF_A_MODEL", "gpt-x");
  try {
    const step = llm({ model: "acme/${env.NAME_OF_A_MODEL}" });
    const env = ["NAME_OF_A_MODEL"];
    const store = memoryJournal();
    const made = await madeStep(step, { ...asked("ok"), env, store });
    const seen = JSON.stringify([made.events, made.told, store.read(made.one.conversation.id)]);
    assert.doesNotMatch(seen, /gpt-x/);
    assert.match(seen, /acme\/\$\{env\.NAME_OF_A_MODEL\}/);
    const unknown = new ModelError("acme/gpt-x: no such model gpt-x (404)", { code: "request", status: 404 });
    assert.equal(
      await failure(madeStep(step, { ...asked(unknown), env })),
      `step "ask": acme/\${env.NAME_OF_A_MODEL}: no such model \${env.NAME_OF_A_MODEL} (404)`,
    );
    assert.equal(
      await failure(madeStep(step, asked("ok"))),
      `step "ask": the environment variable "NAME_OF_A_MODEL" is not allowed: add it to the option "env" of openConversation`,
    );
  } finally {
    Deno.env.delete("NAME_OF_A_MODEL");
  }
});

Deno.test("a step that is tried again has steps of its own, and a turn that is finished asks nobody again", async () => {
  const clock = virtualClock();
  const store = memoryJournal();
  const { model, requests } = asked(
    new ModelError("down", { code: "server" }),
    "Hello",
    new ModelError("no", { code: "request" }),
    "Bye",
  );
  const one = await talk(chain([llm(STORE), { id: "b", llm: { prompts: [{ user: "x" }] } }, ask("q")]), {
    store,
    model,
    clock,
  });
  assert.equal(endOf(await clock.run(one.start())).error, 'step "b": no');
  const keys = () =>
    store.read(one.conversation.id).steps
      .flatMap(({ key, kind }) => kind === "ask" ? [] : [`${kind} ${key}`]);
  const first = [
    "model main/ask/model",
    "step main/ask/wait",
    "model main/ask/turn[2]/model",
    "model main/b/model",
  ];
  assert.deepEqual(keys(), first);
  assert.deepEqual(told(await clock.run(one.retry())), ["say b: Bye", "say q: q", "hold q"]);
  assert.deepEqual(requests.map(({ step }) => step), ["ask", "ask", "b", "b"]);
});

Deno.test("a secret that a model says in pieces is masked in all that the step tells", async () => {
  const [head, tail] = [TEST_KEY.slice(0, 12), TEST_KEY.slice(12)];
  const { code, stdout, stderr } = await provided(
    [llm(STORE), { id: "again", message: { message: "{{answer}}" } }],
    { parts: [{ text: [`It is ${head}`, `${tail}, `, "you see."] }] },
    { args: ["-m", "compatible/m", "--jsonl"] },
  );
  assert.equal(code, 0, stderr);
  assert.ok(!stdout.includes(head), stdout);
  const said = "It is [secret COMPATIBLE_KEY], you see.";
  assert.deepEqual(eventsOf(printed(stdout), "message").map(({ text }) => text), [said, said]);
});

// Tools

const CALL = (id: string, name: string, input: Json) => ({
  call: { id, name, arguments: [JSON.stringify(input)] },
});

/** The events that `orrery run --jsonl` has printed. */
const printed = (stdout: string): readonly RunEvent[] =>
  stdout.trimEnd().split("\n").map((line) => JSON.parse(line));

Deno.test("llm.tools: rounds of calls; what was said before a call is no message", async () => {
  const { code, stdout, stderr, bodies } = await provided(
    [llm({ tools: ["Calculate"], ...STORE })],
    [
      {
        parts: [
          { text: ["Let me see."] },
          CALL("c1", "Calculate", { expression: "1+2" }),
          CALL("c2", "Calculate", { b: "x" }),
        ],
      },
      answer("It is 3."),
    ],
    { args: ["-m", "compatible/m", "--jsonl"] },
  );
  assert.equal(code, 0, stderr);
  const events = printed(stdout);
  assert.deepEqual(eventsOf(events, "message").map(({ text }) => text), ["It is 3."]);
  assert.deepEqual(eventsOf(events, "slot-set").map(({ value }) => value), ["It is 3."]);
  assert.deepEqual(bodies[0]?.tools.map(({ function: { name } }: { function: { name: string } }) => name), [
    "Calculate",
  ]);
  const results = bodies[1]?.messages.slice(-2).map(({ role, content }: Message) =>
    `${role}: ${String(content)}`
  );
  assert.match(
    results[0],
    /^tool: Return of calling function Calculate with arguments \{"expression":"1\+2"\}:\n---\n3\n---$/,
  );
  assert.match(results[1], /^tool: Error: invalid arguments for "Calculate":\n/);
  const keys = eventsOf(events, "step-start").flatMap(({ key, kind }) => kind === "model" ? [key] : []);
  assert.deepEqual(keys, ["main/ask/turn[1]/model", "main/ask/turn[2]/model"]);
  assert.equal(eventsOf(events, "call-result").length, 1);
});

Deno.test("llm.tools: eight calls at once, and the sixth answer gets no tools", async () => {
  const round = (round: number): ProviderReply => ({
    parts: Array.from(
      { length: 10 },
      (_, i) => CALL(`${round}-${i}`, "Wait", { seconds: 0.001 * (round * 10 + i) }),
    ),
  });
  const { code, stdout, stderr, bodies } = await provided(
    [llm({ tools: ["Wait"] })],
    [...[0, 1, 2, 3, 4].map(round), answer("done")],
    { args: ["-m", "compatible/m", "--jsonl"] },
  );
  assert.equal(code, 0, stderr);
  const events = printed(stdout);
  let [running, most] = [0, 0];
  for (const { type } of events) {
    if (type === "call-run") most = Math.max(most, ++running);
    if (type === "call-result" || type === "call-error") running--;
  }
  assert.equal(most, 8);
  assert.deepEqual(eventsOf(events, "message").map(({ text }) => text), ["done"]);
  assert.equal(eventsOf(events, "call-result").length, 50);
  assert.equal(bodies.length, 6);
  assert.equal(bodies.at(-1)?.tools, undefined);
  assert.match(bodies.at(-1)?.messages.at(-1).content, /^No more tools can be called\./);
});

Deno.test("llm.tools: a name that nobody knows", async () => {
  const made = madeStep(llm({ tools: ["Ad"] }), { ...asked(), gadgets: [add] });
  assert.equal(await failure(made), `step "ask": unknown tool "Ad". Did you mean "Add"?`);
});

// Forms

const SCHEMA = {
  type: "object",
  properties: { n: { type: "integer" } },
  required: ["n"],
  additionalProperties: false,
} as const;

Deno.test("llm.schema: the value goes to the slot unsaid; without one its JSON is said", async () => {
  const { model, requests } = asked('```json\n{ "n": 3 }\n```');
  const { told } = await madeStep(llm({ schema: SCHEMA, ...STORE }), { model });
  assert.deepEqual(told, [`set conversation.answer {"n":3}`]);
  const [request] = requests;
  assert.deepEqual(request?.schema, SCHEMA);
  assert.match(
    linesOf(request?.messages)[0] ?? "",
    /^system: Your answer is one JSON value that fits this JSON Schema/,
  );
  assert.deepEqual(linesOf(request?.prompts), ["system: Be kind."]);
  const said = async (step: StepJson, reply: Reply) =>
    (await madeStep(step, asked(reply))).told.filter((line) => !line.startsWith("delta "));
  assert.deepEqual(await said(llm({ schema: SCHEMA }), `{"n":3}`), [`say {"n":3}`]);
  assert.deepEqual(await said(llm({ schema: { type: "string" }, ...STORE }), `"hi"`), [
    "say hi",
    `set conversation.answer "hi"`,
  ]);
});

Deno.test("llm.schema: one retry with the problem named, then an error", async () => {
  const { model, requests } = asked(`{"n":"x"}`, `{"n":4}`);
  const { told } = await madeStep(llm({ schema: SCHEMA, ...STORE }), { model });
  assert.deepEqual(told, [`set conversation.answer {"n":4}`]);
  assert.deepEqual(linesOf(requests[1]?.messages).slice(-2), [
    `assistant: {"n":"x"}`,
    "user: The answer is not valid: /n: type. Answer again with the JSON only.",
  ]);
  assert.equal(
    await failure(madeStep(llm({ schema: SCHEMA }), asked("no", "never"))),
    `step "ask": the model did not answer in the requested form`,
  );
});

Deno.test("llm.prompt and run: filled arguments; text is said, a value is stored", async () => {
  const steps = (id: string, fields: Fields) => ({
    id,
    llm: { prompt: "greet", args: { who: "{{name}}", n: 1 }, ...fields },
  });
  const agent = {
    id: "main",
    chain: [
      steps("said", STORE),
      steps("value", { prompt: "judge", store: { slot: { name: "value" } } }),
      steps("shown", { prompt: "judge" }),
      { id: "doc", run: { file: "plan.md", input: "of {{name}}", target: { slot: { name: "plan" } } } },
      steps("empty", {}),
    ],
  };
  const yaml = JSON.stringify({ version: "0.1", structure: { id: "a", action: agent } });
  await using project = await testProject({
    "orrery.yaml": "prompts: { folders: [prompts] }\n",
    "prompts/greet.prompt.md": "Greet {{who}} {{n}} times.\n",
    "prompts/judge.prompt":
      "---\noutput: { format: json, schema: { ok: boolean } }\n---\nJudge {{who}}, {{n}}.\n",
    "plan.md": "@llm\nprompt: Answer.\nuse-header: none\n",
    "a.agent.yml": yaml,
    "a.conversation-test.yml": JSON.stringify({
      agent: "a.agent.yml",
      tests: [{
        name: "a",
        "slots-before": { name: ["Ana"] },
        model: {
          said: ["Hello"],
          value: ['{"ok":true}'],
          shown: ['{"ok":true}'],
          doc: ["A plan."],
          empty: [" "],
        },
        turns: [{
          expect: ["Hello", '{"ok":true}'],
          slots: { answer: "Hello", value: { ok: true }, plan: { contains: "A plan." } },
          error: { contains: 'step "empty": ' },
        }],
      }],
    }),
  });
  const { code, stdout, stderr } = await project.run(["test", "a.conversation-test.yml"]);
  assert.equal(code, 0, stdout + stderr);
});

// Validator

Deno.test("validator: instruction, prompts, the whole log, and the goals last", async () => {
  const { model, requests } = asked({ polite: true, short: { decision: false, explanation: "too long" } });
  const { told } = await madeStep(validator({ prompts: [{ system: "Be strict." }] }), {
    model,
    log: ["assistant Say it.", "user yes"],
    slots: { name: "Ana" },
  });
  assert.deepEqual(told, [
    "set conversation.polite true",
    "set conversation.short false",
    `set conversation.short_explanation "too long"`,
    "goto no",
  ]);
  const [request] = requests;
  const lines = linesOf(request?.messages);
  assert.match(lines[0] ?? "", /^system: You judge a conversation/);
  assert.deepEqual(lines.slice(1, -1), ["system: Be strict.", "assistant: Say it.", "user: yes"]);
  assert.match(lines.at(-1) ?? "", /^user: Judge the conversation above/);
  assert.match(lines.at(-1) ?? "", /- polite: The user is polite\.\n {2}Examples:\n {2}- yes please\n/);
  assert.match(lines.at(-1) ?? "", /- short: It is short, Ana\.\n/);
  assert.deepEqual(Object.keys(Object(request?.schema?.properties)), ["polite", "short"]);
  assert.deepEqual(linesOf(request?.prompts), ["system: Be strict."]);
  assert.deepEqual(linesOf(request?.memory), ["assistant: Say it.", "user: yes"]);
});

Deno.test("validator: all and any", async () => {
  const cases = [
    ["all", true, true, "yes"],
    ["all", true, false, "no"],
    ["any", true, false, "yes"],
    ["any", false, false, "no"],
  ] as const;
  for (const [type, polite, short, goto] of cases) {
    const { told } = await madeStep(validator({ type }), asked({ polite: { decision: polite }, short }));
    assert.equal(told.at(-1), `goto ${goto}`);
  }
});

Deno.test("validator: a goal without a verdict is an error at once, and nothing is written", async () => {
  const missing = [
    { other: true, short: true },
    { polite: null, short: true },
    { polite: {}, short: true },
    { polite: { decision: null, explanation: "?" }, short: true },
  ];
  for (const answer of missing) {
    const { model, requests } = asked(answer);
    const { told, error } = await madeStep(validator(), { model });
    assert.equal(error, `step "check": the model gave no verdict for goal "polite"`);
    assert.deepEqual([told, requests.length], [[], 1]);
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
    const { model, requests } = asked(misfit, { polite: true, short: true });
    const { told } = await madeStep(validator(), { model });
    assert.deepEqual(told, ["set conversation.polite true", "set conversation.short true", "goto yes"]);
    const last = linesOf(requests[1]?.messages).at(-1);
    assert.ok(last?.startsWith(`user: The answer is not valid: ${why}`), last);
    const never = asked(misfit, misfit, "not asked");
    assert.equal(
      await failure(madeStep(validator(), never)),
      `step "check": the model did not answer in the requested form`,
    );
    assert.equal(never.requests.length, 2);
  }
});

Deno.test("judges: the instruction can be replaced by a constant, and left out; a temperature that is none is told", async () => {
  const seen = async (fields: Fields, constants: Readonly<Record<string, Json>>) => {
    const { model, requests } = asked({ polite: true, short: true });
    const { told } = await madeStep(validator(fields), { model, constants });
    return { lines: linesOf(requests[0]?.messages), told };
  };
  const constants = { VALIDATOR_PREFIX: "Judge {{n}}.", VALIDATOR_TEMPERATURE: "0.7", n: 5 };
  assert.equal((await seen({}, constants)).lines[0], "system: Judge 5.");
  const skipped = await seen({ "skip-prefix": true }, constants);
  assert.equal(skipped.lines.length, 1);
  assert.match(skipped.lines[0] ?? "", /^user: Judge the conversation above/);
  assert.equal(
    (await seen({}, { VALIDATOR_TEMPERATURE: "hot" })).told[0],
    `warn constant "VALIDATOR_TEMPERATURE" must be a number from 0 to 2; 0 is taken`,
  );
});

Deno.test("judges: nothing of an answer streams, and one that broke off may be asked for again", () =>
  withoutChance(async () => {
    const clock = virtualClock();
    let asks = 0;
    const { told } = await clock.run(madeStep(validator(), {
      clock,
      async *model() {
        yield `{"polite": true,`;
        if (++asks === 1) throw new ModelError("cut", { code: "network" });
        yield `"short": true}`;
      },
    }));
    assert.deepEqual(told, [
      "warn cut; trying again in 1 s",
      "set conversation.polite true",
      "set conversation.short true",
      "goto yes",
    ]);
  }));

// Extractor

Deno.test("extractor: what is found is kept, also where other values are missing", async () => {
  const slots = { name: "old" };
  const found = async (answer: object) => await madeStep(extractor(), { ...asked(answer), slots });
  assert.deepEqual((await found({ name: "Ana", age: null })).told, [
    `set conversation.name "Ana"`,
    "goto no",
  ]);
  const second = await found({ name: " ", age: "30" });
  assert.deepEqual(second.told, ["set session.age 30", "goto no"]);
  assert.equal(second.slots["conversation.name"], "old");
  assert.deepEqual((await found({})).told, ["goto no"]);
  assert.equal((await found({ name: "Ana", age: 30 })).told.at(-1), "goto yes");
});

Deno.test("extractor: the form has a property for each value, with its type, choice, parts and examples", async () => {
  const { model, requests } = asked({ "conversation.x": "a", "session.x": [{ n: "2" }] });
  const item = {
    description: "line",
    type: "object",
    properties: { n: { description: "how many", type: "integer" } },
  };
  const { told } = await madeStep(
    extractor([
      {
        description: "one of {{what}}",
        enum: ["a", "b"],
        examples: ["an {{what}} -> a"],
        target: { slot: { name: "x" } },
      },
      {
        description: "lines",
        type: "array",
        items: item,
        target: { slot: { name: "x", destination: "session" } },
      },
    ]),
    { model, slots: { what: "letter" } },
  );
  assert.deepEqual(told, [`set conversation.x "a"`, `set session.x [{"n":2}]`, "goto yes"]);
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
  assert.deepEqual(requests[0]?.schema, schema);
  assert.ok(linesOf(requests[0]?.messages).at(-1)?.endsWith(JSON.stringify(schema)));
});

// Summarizer

Deno.test("summarizer: appends a line, or replaces; an empty one is an error", async () => {
  const run = async (fields: Fields, before: Readonly<Record<string, Json>>, reply: string) => {
    const { model, requests } = asked(reply);
    const { told, slots } = await madeStep(summarizer(fields), { model, slots: before, log: ["user hi"] });
    assert.equal(told.filter((line) => !line.startsWith("set ")).length, 0);
    return { summary: slots["conversation.summary"], lines: linesOf(requests[0]?.messages) };
  };
  const first = await run({}, {}, "A");
  assert.equal(first.summary, "A");
  assert.match(first.lines[0] ?? "", /^system: You summarize a conversation/);
  assert.deepEqual(first.lines.slice(1), ["user: hi", "user: Write the summary of the conversation above."]);
  const second = await run({ "skip-prefix": true }, { summary: "A" }, "B");
  assert.deepEqual([second.summary, second.lines], ["A\nB", ["user: hi"]]);
  assert.equal((await run({ type: "replace" }, { summary: "A" }, "C")).summary, "C");
  assert.equal(
    await failure(madeStep(summarizer(), { ...asked(" "), log: ["user hi"] })),
    `step "sum": the model gave an empty answer`,
  );
});

// Gadgets

const gadgetStep = (fields: Fields = {}): StepJson => ({
  id: "calc",
  gadget: { name: "Add", input: { a: "{{n}}", b: 2 }, target: { slot: { name: "sum" } }, ...fields },
});

Deno.test("gadget: one journaled call with filled input; slots cannot put references into it", async () => {
  const echo: AnyGadget = defineGadget({
    name: "Echo",
    description: "Echo.",
    input: { type: "object" },
    run: (input) => input,
  });
  const store = memoryJournal();
  const input = { list: ["{{n}}"], n: "{{n}}", t: "n={{n}}" };
  const { slots, events, one } = await madeStep(gadgetStep({ name: "Echo", input }), {
    gadgets: [echo],
    slots: { n: "{{results.x}}" },
    store,
  });
  const value = { list: ["{{results.x}}"], n: "{{results.x}}", t: "n={{results.x}}" };
  assert.deepEqual(slots["conversation.sum"], value);
  assert.deepEqual(eventsOf(events, "call-result").map(({ step }) => step), ["main/calc"]);
  assert.deepEqual(store.read(one.conversation.id).steps.map(({ key }) => key), [
    "turn[1]",
    "main/calc/call:calc",
  ]);
});

Deno.test("gadget: flows for success and failure; without them it goes on, or the step fails", async () => {
  const made = (step: StepJson, slots: Readonly<Record<string, Json>> = {}) =>
    madeStep(step, { gadgets: [add], slots });
  assert.deepEqual((await made(gadgetStep(), { n: 1 })).told, ["set conversation.sum 3"]);
  assert.deepEqual((await made(gadgetStep(FLOWS), { n: 1 })).told, ["set conversation.sum 3", "goto yes"]);
  const bad = await made(gadgetStep(FLOWS), { sum: "old" });
  assert.equal(bad.told.at(-1), "goto no");
  assert.equal(bad.slots["conversation.sum"], "old");
  assert.match(bad.told[0] ?? "", /^warn gadget "Add": a: /);
  assert.match(String(await failure(made(gadgetStep()))), /^step "calc": gadget "Add": a: /);
  assert.equal(
    await failure(made(gadgetStep({ input: "{{n}}" }), { n: 1 })),
    `step "calc": gadget "Add" takes a mapping as its input, found 1`,
  );
  assert.equal(
    await failure(made(gadgetStep({ name: "Ad", ...FLOWS }))),
    `step "calc": unknown gadget "Ad". Did you mean "Add"?`,
  );
});

Deno.test("gadget: a call whose end is not known is not done again, and is no failure to go on from", async () => {
  let calls = 0;
  const once = defineGadget({
    name: "Add",
    description: "Counts.",
    input: { type: "object" },
    run: () => (calls++, new Promise<string>(() => {})),
  });
  const one = await talk(chain([gadgetStep(FLOWS), ask("yes"), ask("no")]), { gadgets: [once] });
  for await (const event of one.conversation.start()) if (event.type === "call-run") break;
  assert.match(
    String(endOf(await one.retry()).error),
    /^step "calc": gadget "Add": Started before the process ended/,
  );
  assert.deepEqual([calls, one.conversation.status], [1, "failed"]);
});

// A program's own model

Deno.test("a function is a model: text, pieces or an object, with what it is asked", async () => {
  const requests: ConversationModelRequest[] = [];
  const model = (request: ConversationModelRequest) => {
    requests.push(request);
    if (request.kind === "llm") {
      return (async function* () {
        yield "Hel";
        yield "lo";
      })();
    }
    return Promise.resolve(request.kind === "validator" ? { polite: true, short: true } : "sum");
  };
  const log = ["user hi"];
  assert.deepEqual((await madeStep(llm(), { model, log })).told, ["delta Hel", "delta lo", "say Hello"]);
  assert.deepEqual((await madeStep(validator(), { model, log })).told, [
    "set conversation.polite true",
    "set conversation.short true",
    "goto yes",
  ]);
  await madeStep(summarizer(), { model });
  assert.deepEqual(requests.map(({ step, kind }) => `${kind} ${step}`), [
    "llm ask",
    "validator check",
    "summarizer sum",
  ]);
  assert.deepEqual(requests[0]?.messages, [{ role: "system", content: "Be kind." }]);
  assert.deepEqual(requests[1]?.memory, [{ role: "user", content: "hi" }]);
  assert.ok(requests[1]?.schema && requests[1].signal instanceof AbortSignal);
});

Deno.test("a function that fails or gives something else", () =>
  withoutChance(async () => {
    const clock = virtualClock();
    let asks = 0;
    const down = () => {
      asks++;
      return Promise.reject(Object.assign(new Error("overloaded"), { status: 503 }));
    };
    assert.equal(await clock.run(failure(madeStep(llm(), { model: down, clock }))), `step "ask": overloaded`);
    assert.equal(asks, 2);
    const broken = () => {
      asks++;
      throw new Error("my mistake");
    };
    assert.equal(await failure(madeStep(llm(), { model: broken })), `step "ask": my mistake`);
    assert.equal(asks, 3);
    for (const given of [undefined, 5, () => 1]) {
      assert.match(
        String(await failure(madeStep(llm(), { model: () => given as never }))),
        /^step "ask": The model "program\/model" gave no answer: expected text or an object, found /,
      );
    }
  }));

Deno.test("deltas are parts of what is said, however the answer is cut", async () => {
  await fc.assert(fc.asyncProperty(fc.array(fc.string(), { maxLength: 8 }), async (pieces) => {
    const { told, error } = await madeStep(llm(), asked(pieces));
    const whole = pieces.join("");
    if (whole.trim() === "") return void assert.match(String(error), /gave an empty answer$/);
    const deltas = told.filter((line) => line.startsWith("delta ")).map((line) => line.slice(6));
    assert.equal(deltas.join(""), whole);
    assert.equal(told.at(-1), `say ${whole}`);
  }));
});
