// What real providers sent, read whole and in pieces: the parts must be those that the AI SDK itself makes of the same bytes.
// The streams are no part of the project; without them this file says so. And a call is told only when it is known to be complete.
import assert from "node:assert/strict";
import type { LanguageModelV4 } from "@ai-sdk/provider";
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogle } from "@ai-sdk/google";
import { createMistral } from "@ai-sdk/mistral";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import {
  type AnyGadget,
  ask,
  createCatalog,
  memoryFiles,
  ModelError,
  type ModelPart,
  systemClock,
} from "../mod.ts";
import { openModels } from "../lib/models/open_models.ts";
import { formatOf, type WireAnswer, wireEvents, type WireFormat } from "./_provider_wire.ts";

type Fetch = typeof fetch;

interface Provider {
  readonly id: string;
  sdk(fetch: Fetch): LanguageModelV4;
}

const KEY = { apiKey: "test" };
const PROVIDERS: Readonly<Record<string, Provider>> = {
  "anthropic": {
    id: "anthropic/claude-sonnet-4-5",
    sdk: (fetch) => createAnthropic({ ...KEY, fetch })("claude-sonnet-4-5"),
  },
  "google": {
    id: "google/gemini-2.5-pro",
    sdk: (fetch) => createGoogle({ ...KEY, fetch })("gemini-2.5-pro"),
  },
  "mistral": { id: "mistral/m", sdk: (fetch) => createMistral({ ...KEY, fetch })("m") },
  "openai-chat": {
    id: "local/m",
    sdk: (fetch) => createOpenAICompatible({ name: "local", baseURL: "http://local.test/v1", fetch })("m"),
  },
  "openai-responses": { id: "openai/gpt-5", sdk: (fetch) => createOpenAI({ ...KEY, fetch })("gpt-5") },
};

/** What both readings are compared by. */
interface Reading {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly (readonly [name: string, input: string])[];
  readonly usage?: { readonly input: number; readonly output: number };
  /** The finish reason of the provider, or `error`. */
  readonly end: string;
}

const folder = Deno.env.get("ORRERY_PROVIDER_STREAMS") ?? "";
const streams = Object.keys(PROVIDERS).flatMap((name) =>
  filesIn(`${folder}/${name}`).map((file) => ({ name, file }))
);

if (streams.length === 0) {
  Deno.test("provider streams", () => {
    console.log(
      `not run here: ${folder === "" ? "ORRERY_PROVIDER_STREAMS is not set" : `no streams in ${folder}`}`,
    );
  });
}

for (const { name, file } of streams) {
  Deno.test(`provider streams: ${name}/${file}`, async () => {
    const provider = PROVIDERS[name];
    assert.ok(provider);
    const record = wireText(name, await Deno.readTextFile(`${folder}/${name}/${file}`));
    const bytes = new TextEncoder().encode(record);
    const wanted = await sdkReading(provider.sdk(fetchOf(bytes, bytes.length)));
    for (const size of [bytes.length, 64, 7, 1]) {
      assert.deepEqual(
        await ourReading(provider.id, fetchOf(bytes, size)),
        wanted,
        `cut at every ${size} bytes`,
      );
    }
    await checkCuts(provider.id, { record, wanted });
    const half = await ourReading(provider.id, fetchOf(bytes.slice(0, bytes.length / 2), 64));
    assert.ok(wanted.text.startsWith(half.text), "half of it says something else");
  });
}

/** Reasons that are written in place of the stream's own, where it has one. */
const REASONS = ["length", "max_tokens", "MAX_TOKENS", "content_filter", "refusal", "SAFETY", "weird"];
const REASON = /("(?:finish_reason|stop_reason|finishReason)"\s*:\s*)"\w+"/g;

/** Cut behind each event, and ended for each reason: a call is told only when something came behind it, or the answer ended well. */
async function checkCuts(
  id: string,
  { record, wanted }: { readonly record: string; readonly wanted: Reading },
): Promise<void> {
  const events = record.split(/(?<=\n\n)/);
  // Of long streams some: what matters is near the calls, and each beginning is read whole.
  const every = Math.ceil(events.length / 150);
  for (let kept = 1; kept < events.length; kept += every) {
    const bytes = new TextEncoder().encode(events.slice(0, kept).join(""));
    const parts = await ourParts(id, fetchOf(bytes, bytes.length));
    const { calls, end } = readingOf(parts);
    assert.deepEqual(calls, wanted.calls.slice(0, calls.length), `${kept} of ${events.length}`);
    assert.ok(end !== "error" || !endsWithCall(parts), `${kept} of ${events.length}`);
  }
  for (const reason of record.search(REASON) < 0 ? [] : REASONS) {
    const bytes = new TextEncoder().encode(record.replaceAll(REASON, `$1"${reason}"`));
    const parts = await ourParts(id, fetchOf(bytes, bytes.length));
    const { calls } = readingOf(parts);
    if (reason === "weird") assert.deepEqual(calls, wanted.calls.slice(0, calls.length));
    else assert.ok(!endsWithCall(parts), `${reason}: a call at the end of an answer that was cut`);
  }
}

/** Nothing was told that had begun behind the last call. */
function endsWithCall(parts: readonly ModelPart[]): boolean {
  const told = parts.filter(({ type }) => type !== "finish" && type !== "call-delta" && type !== "call-cut");
  return told.at(-1)?.type === "call";
}

function filesIn(path: string): readonly string[] {
  if (folder === "") return [];
  try {
    return [...Deno.readDirSync(path)].map((entry) => entry.name).filter((each) => each.endsWith(".txt"))
      .toSorted();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** A line of a record is the data of one event. */
function wireText(name: string, record: string): string {
  const events = record.split("\n").filter((line) => line.trim() !== "").map((line) => {
    const type = /"type"\s*:\s*"([^"]+)"/.exec(line)?.[1];
    const isNamed = name === "anthropic" || name === "openai-responses";
    return `${isNamed && type !== undefined ? `event: ${type}\n` : ""}data: ${line}\n\n`;
  });
  return events.join("") + (name === "openai-chat" ? "data: [DONE]\n\n" : "");
}

function fetchOf(bytes: Uint8Array<ArrayBuffer>, size: number): Fetch {
  return () => {
    let at = 0;
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        if (at >= bytes.length) return controller.close();
        controller.enqueue(bytes.slice(at, at += size));
      },
    });
    return Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } }));
  };
}

async function sdkReading(model: LanguageModelV4): Promise<Reading> {
  const [texts, thoughts, calls]: [string[], string[], [string, string][]] = [[], [], []];
  let [end, usage]: [string, Reading["usage"]] = ["error", undefined];
  try {
    const { stream } = await model.doStream({
      prompt: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    });
    for await (const part of stream) {
      if (part.type === "error") throw part.error;
      if (part.type === "text-delta") texts.push(part.delta);
      if (part.type === "reasoning-delta") thoughts.push(part.delta);
      if (part.type === "tool-call" && !part.providerExecuted) {
        calls.push([part.toolName, written(part.input)]);
      }
      if (part.type === "finish") {
        const { unified, raw } = part.finishReason;
        if (unified === "interrupted") throw new Error("interrupted");
        // `stop` after calls is `calls` to us.
        end = raw ?? (unified === "stop" && calls.length > 0 ? "tool-calls" : unified);
        const [input = 0, said = 0] = [part.usage.inputTokens.total, part.usage.outputTokens.total];
        const thought = part.usage.outputTokens.reasoning ?? 0;
        usage = { input, output: thought > said ? said + thought : said };
      }
    }
  } catch {
    [end, usage] = ["error", undefined];
  }
  return { text: texts.join(""), reasoning: thoughts.join(""), calls, ...(usage && { usage }), end };
}

/** What a model wrote: a tool with text for arguments, which OpenAI calls custom, has its text wrapped as JSON by the package alone. */
function written(input: string): string {
  return input.startsWith('"') ? String(JSON.parse(input)) : input;
}

async function ourReading(id: string, fetch: Fetch): Promise<Reading> {
  return readingOf(await ourParts(id, fetch));
}

async function ourParts(id: string, fetch: Fetch): Promise<readonly ModelPart[]> {
  const models = openModels({
    settings: { providers: { local: { type: "openai-compatible", baseURL: "http://local.test/v1" } } },
    fetch,
    env: () => "test-key-0123456789",
    clock: systemClock,
    files: memoryFiles(),
    retry: { retries: 0 },
  });
  const parts: ModelPart[] = [];
  let failed = false;
  try {
    const model = await models.find(id);
    for await (const part of model.stream({ messages: [{ role: "user", content: "Hi" }] })) parts.push(part);
  } catch (error) {
    assert.ok(error instanceof ModelError, String(error));
    assert.ok(error.message.length > 20);
    failed = true;
  }
  const finish = parts.find((part) => part.type === "finish");
  assert.equal(finish === undefined, failed, "each answer ends with a finish or an error");
  return parts;
}

function readingOf(parts: readonly ModelPart[]): Reading {
  const finish = parts.find((part) => part.type === "finish");
  const calls = parts.flatMap((part) => part.type === "call" ? [part.call] : []);
  assert.equal(new Set(calls.map((call) => call.id)).size, calls.length, "a call was told twice");
  return {
    text: parts.map((part) => part.type === "text" ? part.text : "").join(""),
    reasoning: parts.map((part) => part.type === "reasoning" ? part.text : "").join(""),
    calls: calls.map((call) => [call.name, call.arguments] as const),
    ...(finish && { usage: { input: finish.usage.input, output: finish.usage.output } }),
    end: finish === undefined
      ? "error"
      : finish.rawReason ?? (finish.reason === "calls" ? "tool-calls" : finish.reason),
  };
}

// Answers as we write them, cut behind every event and ended for every reason, in each format

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

Deno.test("native calls: a break in a call is no answer: the step is asked again as a whole, also by ask", async () => {
  const clear: AnyGadget = {
    name: "Clear",
    description: "Empties a folder.",
    run: () => assert.fail("it was run"),
  };
  const head = chatCall([], null).slice(0, 2); // its name, and nothing of its arguments
  const half = [...head, ...chatCall(['{"fol'], null).slice(2, 3)];
  for (const broken of [head, half]) {
    const done = wireEvents("chat", { parts: [{ text: "Done." }] });
    const { model, asked } = await modelOf("compatible/m", () => [broken, broken, done], { retries: 3 });
    const all = await Array.fromAsync(ask("Go", {
      model,
      catalog: createCatalog([clear]),
      tools: ["Clear"],
      policy: { toolsMode: "native" },
    }));
    const end = all.at(-1);
    assert.ok(end?.type === "run-end");
    assert.deepEqual([end.status, end.value, asked()], ["done", "Done.", 3]);
    const errors = all.flatMap((event) => event.type === "call-error" ? [event.error] : []);
    assert.equal(errors.length, 2, "what has begun ends with a word");
    assert.match(errors[0] ?? "", /the answer broke off after \d characters?$/);
  }
});
