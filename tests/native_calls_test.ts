// A call of a provider runs only when it is known to be complete: streams as they are on the wire, cut behind every event and ended for every
// reason, in each format; and what each kind of turn makes of a call, and of an answer, that was cut.
import assert from "node:assert/strict";
import {
  type AnyGadget,
  ask,
  createAgent,
  createCatalog,
  definePrompt,
  fakeModel,
  memoryFiles,
  memoryJournal,
  type Model,
  ModelError,
  type ModelPart,
  runDocument,
  type RunEvent,
  runPrompt,
  schemaContract,
  systemClock,
  type TurnPolicy,
} from "../mod.ts";
import { openModels } from "../lib/models/open_models.ts";
import { performLlmStep } from "../lib/run/conversation/llm.ts";
import { formatOf, type WireAnswer, wireEvents, type WireFormat } from "./_provider_wire.ts";
import { stepBase, stepWork } from "./_step_work.ts";

const IDS = ["openai/m", "chat/m", "anthropic/m", "google/m", "compatible/m", "mistral/m", "groq/m", "xai/m"];

const at = (type: "openai" | "openai-compatible", more: object = {}) => ({
  type,
  baseURL: "http://wire.test/v1",
  ...more,
});

/** Models whose answers are these events, one list a request; the last one for good. */
async function modelOf(
  id: string,
  answers: (format: WireFormat) => readonly (readonly string[])[],
  { retries = 0 } = {},
) {
  let asked = 0;
  const fetched: typeof fetch = (input) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const format = formatOf(url.pathname);
    assert.ok(format, url.pathname);
    const all = answers(format);
    const events = all[Math.min(asked++, all.length - 1)] ?? [];
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const event of [": hello\n\n", ...events]) controller.enqueue(new TextEncoder().encode(event));
        controller.close();
      },
    });
    return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
  };
  const models = openModels({
    settings: {
      providers: {
        chat: at("openai", { api: "chat", apiKeyEnv: "KEY" }),
        compatible: at("openai-compatible"),
      },
    },
    fetch: fetched,
    env: (name) => name.endsWith("KEY") ? "test-key-0123456789" : undefined,
    clock: systemClock,
    files: memoryFiles(),
    retry: { retries, baseMs: 1 },
  });
  return { model: await models.find(id), asked: () => asked };
}

interface Read {
  readonly calls: readonly string[];
  readonly cut: readonly string[];
  readonly reason: string;
  readonly begun: number;
  readonly error?: string;
}

async function readOf(id: string, events: (format: WireFormat) => readonly string[]): Promise<Read> {
  const { model } = await modelOf(id, (format) => [events(format)]);
  const parts: ModelPart[] = [];
  let reason = "broken";
  let problem: string | undefined;
  try {
    for await (const part of model.stream({ messages: [{ role: "user", content: "Hi" }] })) parts.push(part);
  } catch (error) {
    assert.ok(error instanceof ModelError, String(error));
    problem = error.message;
  }
  for (const part of parts) if (part.type === "finish") reason = part.reason;
  return {
    calls: parts.flatMap((part) => part.type === "call" ? [`${part.call.name} ${part.call.arguments}`] : []),
    cut: parts.flatMap((part) => part.type === "call-cut" ? [part.name] : []),
    reason,
    ...(problem !== undefined && { error: problem }),
    begun: parts.filter(({ type }) => type === "call-start").length,
  };
}

const TWO: WireAnswer = {
  parts: [
    { text: ["I ", "look."] },
    { call: { id: "a12345678", name: "First", arguments: ['{"n":', "1}"] } },
    { call: { id: "b12345678", name: "Second", arguments: ['{"n":', "2}"] } },
  ],
};
const FIRST = 'First {"n":1}';
const SECOND = 'Second {"n":2}';

/** Mistral sends no event without a choice. */
const answerFor = (id: string, answer: WireAnswer): WireAnswer => ({
  ...answer,
  usageAtEnd: id.startsWith("mistral"),
});

/** Which event says that the answer has ended as it should. */
const END: { readonly [format in WireFormat]: RegExp } = {
  chat: /"finish_reason":"tool_calls"/,
  responses: /"response\.completed"/,
  anthropic: /"message_stop"/,
  google: /"finishReason"/,
};

for (const id of IDS) {
  Deno.test(`native calls: ${id}: a stream that ends behind any event tells complete calls only`, async () => {
    let length = Infinity;
    for (let kept = 0; kept <= length; kept++) {
      let [next, ended] = [false, false];
      const read = await readOf(id, (format) => {
        const events = wireEvents(format, answerFor(id, TWO));
        length = events.length;
        const text = events.slice(0, kept).join("");
        next = text.includes('"Second"');
        ended = END[format].test(text);
        return events.slice(0, kept);
      });
      const wanted = ended ? [FIRST, SECOND] : next ? [FIRST] : [];
      assert.deepEqual(read.calls, wanted, `${id}, ${kept} of ${length} events`);
      assert.deepEqual([read.reason, read.cut], [ended ? "calls" : "broken", []]);
    }
  });

  Deno.test(`native calls: ${id}: an answer that was cut has no call at its end`, async () => {
    for (const finish of ["length", "filter"] as const) {
      const two = await readOf(id, (format) => wireEvents(format, answerFor(id, { ...TWO, finish })));
      assert.deepEqual(two, { calls: [FIRST], cut: ["Second"], reason: finish, begun: 2 });
      const bare = { parts: [{ call: { id: "a12345678", name: "Clear", arguments: [] } }], finish };
      const none = await readOf(id, (format) => wireEvents(format, answerFor(id, bare)));
      assert.deepEqual(none, { calls: [], cut: ["Clear"], reason: finish, begun: 1 });
    }
    const good = { parts: [{ call: { id: "a12345678", name: "Clear", arguments: [] } }] };
    const { calls } = await readOf(id, (format) => wireEvents(format, answerFor(id, good)));
    assert.match(calls.join(), /^Clear( \{\})? ?$/);
  });
}

/** One call in the chat format, its arguments in these pieces. */
const chatCall = (pieces: readonly string[], finish: string | null): readonly string[] => {
  const [begin = "", ...rest] = wireEvents("chat", {
    parts: [{ call: { id: "a12345678", name: "Clear", arguments: pieces } }],
    finish: "none",
  });
  const reason = JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: finish }] });
  return [begin, ...rest, `data: ${reason}\n\n`, "data: [DONE]\n\n"];
};

Deno.test("native calls: arguments end where the provider says so, however they were cut into pieces", async () => {
  for (const id of ["compatible/m", "mistral/m", "groq/m", "chat/m"]) {
    for (const pieces of [['{"folder":"out"}', ',"pretend":true}'], ['{"folder":"out"},"pretend":true}']]) {
      const { calls } = await readOf(id, () => chatCall(pieces, "tool_calls"));
      assert.deepEqual(calls, ['Clear {"folder":"out"},"pretend":true}'], id);
    }
  }
});

Deno.test("native calls: more arguments behind the beginning of the next call break the answer", async () => {
  const delta = (index: number, id: string | undefined, text: string) =>
    `data: ${
      JSON.stringify({
        choices: [{
          index: 0,
          delta: {
            tool_calls: [{
              index,
              ...(id && { id, type: "function" }),
              function: { ...(id && { name: id }), arguments: text },
            }],
          },
          finish_reason: null,
        }],
      })
    }\n\n`;
  const late = [delta(0, "First", '{"n":1}'), delta(1, "Second", "{}"), delta(0, undefined, ',"m":2}')];
  const read = await readOf("compatible/m", () => [...late, ...chatCall([], "tool_calls").slice(-2)]);
  assert.deepEqual([read.calls, read.reason], [['First {"n":1}'], "broken"]);
  assert.match(read.error ?? "", /more arguments of First behind the beginning of the next call$/);
  const mixed = [
    delta(0, "First", ""),
    delta(1, "Second", ""),
    delta(0, undefined, '{"n":1}'),
    delta(1, undefined, '{"n":2}'),
  ];
  const both = await readOf("compatible/m", () => [...mixed, ...chatCall([], "tool_calls").slice(-2)]);
  assert.deepEqual(both.calls.toSorted().slice(-2), [FIRST, SECOND]);
});

Deno.test("native calls: reasons in the words of other providers, in unknown words, and none", async () => {
  const reasons: readonly (readonly [word: string | null, reason: string, isGiven: boolean])[] = [
    ...["stop", "STOP", "eos", "end_turn", "stop_sequence", "tool_use", "function_call", "completed"].map((
      word,
    ) => [word, "calls", true] as const),
    ...["length", "max_tokens", "MAX_TOKENS", "max_output_tokens", "model_length"].map((word) =>
      [word, "length", false] as const
    ),
    ...["content_filter", "refusal", "SAFETY"].map((word) => [word, "filter", false] as const),
    ["whatever", "other", true],
    [null, "other", true],
    ["", "other", true],
  ];
  for (const id of ["compatible/m", "groq/m", "chat/m"]) {
    for (const [word, reason, isGiven] of reasons) {
      const read = await readOf(id, () => chatCall(['{"n":', "1}"], word));
      assert.deepEqual([read.calls.length, read.reason], [isGiven ? 1 : 0, reason], `${id}: ${word}`);
      const half = await readOf(id, () => chatCall(['{"n":'], word));
      assert.deepEqual(
        [half.calls.length, half.cut.length],
        reason === "calls" ? [1, 0] : [0, 1],
        `${id}, half: ${word}`,
      );
    }
  }
});

// The kinds of turns

let runs = 0;

/** Does the worst that it can when it is given nothing. */
const clear = {
  name: "Clear",
  description: "Empties a folder.",
  input: { type: "object", properties: { folder: { type: "string", default: "." } } },
  run: () => `cleared ${++runs} times`,
} as AnyGadget;

const finish = (reason: "length" | "filter" | "other", rawReason?: string): ModelPart => ({
  type: "finish",
  reason,
  usage: { input: 1, output: 1 },
  model: "fake/model",
  ...(rawReason !== undefined && { rawReason }),
});

const BEGUN: ModelPart = { type: "call-start", id: "c1", name: "Clear" };
const CUT: readonly ModelPart[] = [BEGUN, { type: "call-cut", id: "c1", name: "Clear" }];

const withClear = (policy: Partial<TurnPolicy> = {}) => ({
  catalog: createCatalog([clear]),
  tools: ["Clear"],
  policy: { toolsMode: "native" as const, ...policy },
});

const ended = async (events: AsyncIterable<RunEvent>) => {
  const all = await Array.fromAsync(events);
  const end = all.at(-1);
  return end?.type === "run-end" ? { all, end } : assert.fail("the last event is no run-end");
};

/** Each kind of turn, from a model to the text that it ends with. */
const KINDS: Readonly<Record<string, (model: Model) => Promise<unknown>>> = {
  "ask": async (model) => (await ended(ask("Go", { model, ...withClear() }))).end.value,
  "ask, after the reply": async (model) =>
    (await ended(ask("Go", { model, ...withClear({ startCalls: "after-reply" }) }))).end.value,
  "prompt": async (model) => {
    const prompt = definePrompt({ path: "p", template: "Go.", tools: [clear] });
    return (await createAgent({ name: "a", model, system: "" }).open().ask(prompt, {})).text;
  },
  "document": async (model) => {
    const world = { root: "/project", files: memoryFiles({ "a.md": "@llm\nprompt: Go\ntools: Clear\n" }) };
    const { end } = await ended(runDocument("a.md", { world, model, gadgets: [clear] }));
    return end.document?.trimEnd().split("\n").at(-1);
  },
  "conversation": async (model) => {
    const step = {
      ...stepBase("ask"),
      kind: "llm" as const,
      prompts: [{ role: "system" as const, text: "Go." }],
      hold: false,
      tools: ["Clear"],
    };
    const tools = { find: () => clear, names: () => Promise.resolve(["Clear"]) };
    const { work, told } = stepWork(step, { models: { find: () => model }, means: { tools } });
    await performLlmStep(work);
    return told.at(-1)?.replace("say ", "");
  },
};

for (const [kind, answerOf] of Object.entries(KINDS)) {
  Deno.test(`native calls: ${kind}: a call that was cut is refused, and the model is told why`, async () => {
    runs = 0;
    const reasons: readonly (readonly [ModelPart, RegExp])[] = [
      [
        finish("length"),
        /cut off by the limit of its length\. The .* it was not run\. Call it again, with shorter arguments/,
      ],
      [finish("filter"), /cut off by a filter\. The .* so it was not run\. Call it again/],
      [finish("other", "weird"), /ended for the reason \\?"weird\\?", which is not known\. The .* not run\./],
    ];
    for (const [end, wanted] of reasons) {
      const model = fakeModel([[...CUT, end], "Done."]);
      assert.equal(await answerOf(model), "Done.");
      const [call, told] = model.requests[1]?.messages.slice(-2) ?? [];
      assert.equal(call?.role === "assistant" && call.calls?.[0]?.id, "c1");
      assert.equal(told?.role, "tool");
      assert.match(String(told?.content), wanted);
    }
    assert.equal(runs, 0);
  });
}

const ANY_SCHEMA = { type: "object", required: ["a"] } as const;

/** Each kind that holds an answer to a schema. */
const CONTRACTS: Readonly<Record<string, (model: Model) => Promise<unknown>>> = {
  "ask": (model) => ended(ask("Go", { model, contract: schemaContract(ANY_SCHEMA) })),
  "prompt": async (model) => {
    const prompt = definePrompt({ path: "p", template: "Go.", format: ANY_SCHEMA });
    await createAgent({ name: "a", model, system: "" }).open().ask(prompt, {});
  },
  "document": async (model) => {
    const text = "@llm\nprompt: Go\nschema: {type: object, required: [a]}\n";
    const world = { root: "/project", files: memoryFiles({ "a.md": text }) };
    assert.equal((await ended(runDocument("a.md", { world, model }))).end.status, "done");
  },
  "conversation": async (model) => {
    const prompts = [{ role: "system" as const, text: "Go." }];
    const step = { ...stepBase("ask"), kind: "llm" as const, prompts, hold: false, schema: ANY_SCHEMA };
    await performLlmStep(stepWork(step, { models: { find: () => model } }).work);
  },
};

for (const [kind, askWith] of Object.entries(CONTRACTS)) {
  Deno.test(`${kind}: an answer that was cut is called so when it is asked for again`, async () => {
    const model = fakeModel([[{ type: "text", text: '{"a": [1' }, finish("length")], '{"a": 1}']);
    await askWith(model);
    const told = String(model.requests[1]?.messages.at(-1)?.content);
    assert.match(told, /JSON[^]*\. The answer was cut off by the limit of its length/);
  });
}

Deno.test("prompt: an empty answer is no value of a run", async () => {
  const prompt = definePrompt({ path: "p", template: "Go." });
  const { end } = await ended(runPrompt({ prompt, args: {}, model: fakeModel([" "]) }));
  assert.deepEqual([end.status, end.reason, end.error], [
    "failed",
    "provider",
    'prompt "p": the model gave an empty answer',
  ]);
});

Deno.test("native calls: a break in a call is no answer: the step is asked again as a whole, also by ask", async () => {
  runs = 0;
  const head = chatCall([], null).slice(0, 2); // its name, and nothing of its arguments
  const half = [...head, ...chatCall(['{"fol'], null).slice(2, 3)];
  for (const broken of [head, half]) {
    const done = wireEvents("chat", { parts: [{ text: "Done." }] });
    const { model, asked } = await modelOf("compatible/m", () => [broken, broken, done], { retries: 3 });
    const { all, end } = await ended(ask("Go", { model, ...withClear() }));
    assert.deepEqual([end.status, end.value, asked(), runs], ["done", "Done.", 3, 0]);
    const errors = all.flatMap((event) => event.type === "call-error" ? [event.error] : []);
    assert.equal(errors.length, 2, "what has begun ends with a word");
    assert.match(errors[0] ?? "", /the answer broke off after \d characters?$/);
  }
});

Deno.test("native calls: a call that is resumed as cut stays so", async () => {
  runs = 0;
  const journal = memoryJournal();
  const run = journal.create({ kind: "ask", input: null });
  const first = fakeModel([[...CUT, finish("length")], new ModelError("no", { code: "request" })]);
  assert.equal((await ended(ask("Go", { model: first, journal: run, ...withClear() }))).end.status, "failed");
  const model = fakeModel(["Done."]);
  const again = journal.open(run.id);
  const { end } = await ended(ask("Go", { model, journal: again, ...withClear() }));
  assert.deepEqual([end.status, end.value, runs], ["done", "Done.", 0], end.error);
});
