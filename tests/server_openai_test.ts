// Clients of OpenAI that nobody here wrote, against our routes on a socket.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateText, jsonSchema, Output, stepCountIs, streamText, tool } from "ai";
import fc from "fast-check";
import assert from "node:assert/strict";
import OpenAI from "openai";
import { type FakeModel, fakeModel, ModelError, type ModelPart, type RunEventBody } from "../mod.ts";
import { isRecord } from "../lib/core/json.ts";
import { messageOf } from "../lib/core/source_error.ts";
import { echoModel } from "../lib/models/open_models.ts";
import { openAiRoutes } from "../lib/server/openai/openai.ts";
import { TextStreams } from "../lib/server/text_streams.ts";
import type { CatalogJson } from "../lib/service/look/look.ts";
import { ServiceError, type StartRun } from "../lib/service/service.ts";
import { type FakeRun, type FakeScript, type FakeService, fakeService } from "./_fake_service.ts";
import { sendRaw } from "./_server.ts";
import { serveFake } from "./_fake_service.ts";
import { surfaceServer, TOKEN } from "./_surface_server.ts";

const CATALOG: CatalogJson = {
  gadgets: [],
  prompts: [
    promptOf("ask/one", ["topic"]),
    promptOf("ask/two", ["topic", "tone"]),
    promptOf("ask/none", []),
  ],
  tactics: [],
  profiles: [
    {
      name: "writer",
      model: "fake/model",
      systemPrompt: null,
      system: "Be brief",
      limits: {},
      modelArgs: {},
    },
  ],
  agents: [{ file: "agents/support.agent.yml", id: "support" }, {
    file: "broken.agent.yml",
    problem: "broken",
  }],
  documents: [{
    file: "docs/plan.md",
    title: "Plan",
    description: null,
    inputs: [],
    input: {},
    operations: 1,
  }],
  calls: [],
  models: [
    { id: "fast", kind: "alias", usable: true, model: "acme/small" },
    { id: "acme/large", kind: "model", usable: false, about: "missing: ACME_KEY" },
    { id: "script/echo", kind: "offline", usable: true },
    { id: "script/FILE", kind: "form", usable: true },
  ],
  problems: [],
};

function promptOf(path: string, variables: readonly string[]): CatalogJson["prompts"][number] {
  return { path, answer: "text", tools: [], variables, input: {}, file: `${path}.prompt.md` };
}

interface Clients {
  readonly client: OpenAI;
  readonly service: FakeService;
  readonly origin: string;
}

async function withClient(script: FakeScript, work: (clients: Clients) => Promise<void>): Promise<void> {
  await using service = fakeService({
    ...script,
    look: { catalog: () => Promise.resolve(CATALOG), ...script.look },
  });
  await using server = surfaceServer(service, openAiRoutes);
  const { origin } = server;
  const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: TOKEN, maxRetries: 0, timeout: 20_000 });
  await work({ client, service, origin });
  assert.deepEqual(server.told, []);
}

const user = (content: string) => ({ role: "user" as const, content });

Deno.test("chat completions pass a request on to a configured model, with all that it says", async () => {
  const model = fakeModel(["Hello there"]);
  await withClient({ models: { fast: model } }, async ({ client }) => {
    const answer = await client.chat.completions.create({
      model: "fast",
      messages: [
        { role: "developer", content: "Be brief" },
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          ],
        },
      ],
      temperature: 0.5,
      top_p: 0.9,
      max_completion_tokens: 100,
      stop: ["END"],
      seed: 7,
      parallel_tool_calls: false,
      response_format: { type: "json_schema", json_schema: { name: "x", schema: { type: "object" } } },
    });
    assert.equal(answer.object, "chat.completion");
    assert.equal(answer.model, "fast");
    assert.deepEqual(answer.choices[0]?.message, { role: "assistant", content: "Hello there" });
    assert.equal(answer.choices[0]?.finish_reason, "stop");
    const [{ signal: _signal, ...request } = {}] = model.requests;
    assert.deepEqual(request, {
      messages: [
        { role: "system", content: "Be brief" },
        {
          role: "user",
          content: [{ type: "text", text: "What is this?" }, {
            type: "media",
            mediaType: "image/png",
            data: "AAAA",
          }],
        },
      ],
      schema: { type: "object" },
      json: true,
      temperature: 0.5,
      topP: 0.9,
      maxOutputTokens: 100,
      seed: 7,
      stop: ["END"],
      args: { parallel_tool_calls: false },
    });
  });
});

Deno.test("a streamed answer comes in pieces, with its usage at the end", async () => {
  const parts: readonly ModelPart[] = [
    { type: "text", text: "Hel" },
    { type: "text", text: "lo" },
    { type: "finish", reason: "length", usage: { input: 3, output: 2, cached: 1 }, model: "fake/model" },
  ];
  await withClient({ models: { m: fakeModel([parts]) } }, async ({ client }) => {
    const stream = await client.chat.completions.create({
      model: "m",
      messages: [user("hi")],
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await Array.fromAsync(stream);
    assert.deepEqual(chunks.map(({ choices }) => choices[0]?.delta), [
      { role: "assistant", content: "" },
      { content: "Hel" },
      { content: "lo" },
      {},
      undefined,
    ]);
    assert.equal(chunks.at(-2)?.choices[0]?.finish_reason, "length");
    assert.deepEqual(chunks.at(-1)?.usage, {
      prompt_tokens: 3,
      completion_tokens: 2,
      total_tokens: 5,
      prompt_tokens_details: { cached_tokens: 1 },
    });
    assert.equal(new Set(chunks.map(({ id }) => id)).size, 1);
  });
});

/** Calls the tool, and then says what it gave. */
function toolModel(): FakeModel {
  return fakeModel(({ messages }) => {
    const last = messages.at(-1);
    if (last?.role === "tool") return `${last.name} said ${last.content}`;
    return [
      { type: "call-start", id: "c1", name: "weather" },
      { type: "call-delta", id: "c1", text: '{"city":' },
      { type: "call-delta", id: "c1", text: '"Bonn"}' },
      { type: "call", call: { id: "c1", name: "weather", arguments: '{"city":"Bonn"}' } },
      { type: "call", call: { id: "c2", name: "weather", arguments: '{"city":"Ulm"}' } },
    ];
  });
}

const WEATHER = {
  type: "function",
  function: {
    name: "weather",
    description: "The weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
} as const;

Deno.test("tools of the client are offered, called and answered, in one piece and streamed", async () => {
  const model = toolModel();
  await withClient({ models: { m: model } }, async ({ client }) => {
    const messages = [user("How is it?")];
    const asked = { model: "m", tools: [WEATHER], tool_choice: "required" as const };
    const first = (await client.chat.completions.create({ ...asked, messages })).choices[0];
    assert.equal(first?.finish_reason, "tool_calls");
    assert.equal(first?.message.content, null);
    const calls = [
      { id: "c1", type: "function", function: { name: "weather", arguments: '{"city":"Bonn"}' } },
      { id: "c2", type: "function", function: { name: "weather", arguments: '{"city":"Ulm"}' } },
    ] as const;
    assert.deepEqual(first?.message.tool_calls, calls);
    assert.equal(model.requests[0]?.toolChoice, "required");
    assert.equal(model.requests[0]?.tools?.[0]?.name, "weather");
    const second = await client.chat.completions.create({
      model: "m",
      tools: [WEATHER],
      messages: [
        ...messages,
        { role: "assistant", content: null, tool_calls: [...calls] },
        { role: "tool", tool_call_id: "c1", content: "rain" },
      ],
    });
    assert.equal(second.choices[0]?.message.content, "weather said rain");
    const streamed = client.chat.completions.stream({ ...asked, messages });
    assert.deepEqual(
      (await streamed.finalChatCompletion()).choices[0]?.message.tool_calls?.map((call) =>
        call.type === "function" ? [call.id, call.function.name, call.function.arguments] : []
      ),
      [["c1", "weather", '{"city":"Bonn"}'], ["c2", "weather", '{"city":"Ulm"}']],
    );
  });
});

Deno.test("a call that was cut is not handed on, in one piece or streamed", async () => {
  const usage = { input: 1, output: 1 };
  for (const reason of ["length", "filter", "other"] as const) {
    const model = fakeModel(() => [
      { type: "call-start", id: "c1", name: "weather" },
      { type: "call", call: { id: "c1", name: "weather", arguments: '{"city":"Bonn"}' } },
      { type: "call-start", id: "c2", name: "weather" },
      { type: "call-delta", id: "c2", text: '{"ci' },
      { type: "call-cut", id: "c2", name: "weather" },
      { type: "finish", reason, usage, model: "fake/model" },
    ]);
    await withClient({ models: { m: model } }, async ({ client }) => {
      const asked = { model: "m", tools: [WEATHER], messages: [user("How is it?")] };
      const whole = (await client.chat.completions.create(asked)).choices[0];
      const wanted = reason === "filter" ? "content_filter" : "length";
      assert.deepEqual([whole?.message.tool_calls?.map(({ id }) => id), whole?.finish_reason], [
        ["c1"],
        wanted,
      ]);
      const chunks = await Array.fromAsync(await client.chat.completions.create({ ...asked, stream: true }));
      const calls = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
      assert.deepEqual(calls.map((call) => [call.id, call.function?.arguments]), [["c1", '{"city":"Bonn"}']]);
      assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, wanted);
    });
  }
});

Deno.test("the models are listed, and found by name", async () => {
  await withClient({}, async ({ client }) => {
    const models = await Array.fromAsync(client.models.list());
    assert.deepEqual(models.map(({ id, owned_by }) => [id, owned_by]), [
      ["orrery/agent/agents/support", "orrery"],
      ["orrery/profile/writer", "orrery"],
      ["orrery/document/docs/plan.md", "orrery"],
      ["orrery/prompt/ask/one", "orrery"],
      ["orrery/prompt/ask/two", "orrery"],
      ["orrery/prompt/ask/none", "orrery"],
      ["fast", "acme"],
      ["script/echo", "script"],
    ]);
    assert.equal((await client.models.retrieve("orrery/prompt/ask/one")).id, "orrery/prompt/ask/one");
    await assert.rejects(client.models.retrieve("orrery/prompt/ask/oen"), notFound("orrery/prompt/ask/one"));
  });
});

function notFound(near: string) {
  return (error: unknown): boolean => {
    assert(error instanceof OpenAI.NotFoundError);
    assert.equal(error.code, "model_not_found");
    assert.equal(error.param, "model");
    assert.match(error.message, new RegExp(`Did you mean "${near}"`));
    return true;
  };
}

Deno.test("what is wrong with a request is told in the form of OpenAI, with the field", async () => {
  await withClient({ models: { m: fakeModel([]) } }, async ({ client, origin }) => {
    const wrong: readonly (readonly [object, string, string])[] = [
      [{ messages: "hi" }, "messages", "invalid"],
      [{ messages: [{ role: "robot", content: "hi" }] }, "messages[0].role", "invalid"],
      [{ messages: [{ role: "user" }] }, "messages[0].content", "invalid_value"],
      [{ n: 2 }, "n", "unsupported_value"],
      [{ logprobs: true }, "logprobs", "unsupported_value"],
      [{ modalities: ["audio"] }, "modalities", "unsupported_value"],
      [{ temperature: 9 }, "temperature", "invalid"],
      [
        { tool_choice: { type: "function", function: { name: "x" } } },
        "tool_choice.function.name",
        "invalid_value",
      ],
      [
        {
          messages: [{
            role: "user",
            content: [{ type: "image_url", image_url: { url: "https://a/b.png" } }],
          }],
        },
        "messages[0].content[0].image_url.url",
        "invalid_value",
      ],
      [
        { messages: [{ role: "tool", tool_call_id: "x", content: "" }] },
        "messages[0].tool_call_id",
        "invalid_value",
      ],
    ];
    for (const [fields, param, code] of wrong) {
      const error = await client.post("/chat/completions", {
        body: { model: "m", messages: [user("hi")], ...fields },
      })
        .then(() => undefined, (thrown: unknown) => thrown);
      assert(error instanceof OpenAI.BadRequestError, JSON.stringify(fields));
      assert.deepEqual([error.param, error.code, error.type], [param, code, "invalid_request_error"]);
    }
    const asked = { model: "orrery/agent/agents/suport", messages: [user("hi")] };
    await assert.rejects(client.chat.completions.create(asked), notFound("orrery/agent/agents/support"));
    await assert.rejects(client.chat.completions.create({ ...asked, model: "fats" }), notFound("fast"));
    const stranger = new OpenAI({ baseURL: `${origin}/v1`, apiKey: "wrong", maxRetries: 0 });
    await assert.rejects(stranger.chat.completions.create(asked), (error) => {
      assert(error instanceof OpenAI.AuthenticationError);
      assert.equal(error.type, "authentication_error");
      return true;
    });
    for (const [host, line] of [["evil.example", "GET /v1/models"], ["", "POST /v1/chat/completions"]]) {
      const { port } = new URL(origin);
      const { status, body } = await sendRaw(Number(port), `${line} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      assert.equal(status, 421, body);
      assert.match(
        body,
        /^\{"error":\{"message":"found Host .*"type":"invalid_request_error","param":null,"code":"host"\}\}$/,
      );
    }
  });
});

Deno.test("what a provider could not do has the status that clients know, and the end of a stream tells it", async () => {
  const failures = {
    limit: new ModelError("slow down", { code: "rate-limit", retryAfterMs: 2500 }),
    long: new ModelError("too long", { code: "context" }),
    key: new ModelError("wrong key", { code: "auth" }),
    late: new ModelError("too late", { code: "timeout" }),
  };
  const models = Object.fromEntries(
    Object.entries(failures).map(([name, error]) => [name, fakeModel(() => error)]),
  );
  const broken = fakeModel(() => brokenOff());
  await withClient({ models: { ...models, broken } }, async ({ client }) => {
    const ask = (model: string, stream: boolean) =>
      client.chat.completions.create({ model, messages: [user("hi")], stream }).then(
        () => assert.fail("it was answered"),
        (error: unknown) => {
          assert(error instanceof OpenAI.APIError);
          return error;
        },
      );
    for (const stream of [false, true]) {
      const limited = await ask("limit", stream);
      assert.deepEqual([limited.status, limited.type], [429, "rate_limit_error"]);
      assert.equal(limited.headers?.get("retry-after"), "3");
      assert.deepEqual([(await ask("long", stream)).code, (await ask("long", stream)).status], [
        "context_length_exceeded",
        400,
      ]);
      assert.equal((await ask("key", stream)).status, 502);
      assert.equal((await ask("late", stream)).status, 504);
    }
    const stream = await client.chat.completions.create({
      model: "broken",
      messages: [user("hi")],
      stream: true,
    });
    let text = "";
    await assert.rejects(async () => {
      for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
    }, /the line broke/);
    assert.equal(text, "half");
  });
});

async function* brokenOff(): AsyncGenerator<ModelPart, undefined> {
  yield { type: "text", text: "half" };
  await Promise.resolve();
  throw new ModelError("the line broke", { code: "network" });
}

Deno.test("a reader that leaves ends the question to the model", async () => {
  const aborted = Promise.withResolvers<void>();
  const model = fakeModel(({ signal }) => endless(signal, aborted.resolve));
  await withClient({ models: { m: model } }, async ({ client }) => {
    const stream = await client.chat.completions.create({ model: "m", messages: [user("hi")], stream: true });
    for await (const { choices } of stream) if (choices[0]?.delta.content === "x") break;
    await within(aborted.promise);
  });
});

Deno.test("a client that goes away before the answer is whole ends the question to the model", async () => {
  const aborted = Promise.withResolvers<void>();
  const model = fakeModel(({ signal }) => endless(signal, aborted.resolve));
  await withClient({ models: { m: model } }, async ({ origin }) => {
    const stop = new AbortController();
    const left = assert.rejects(askWhole(origin, "m", stop.signal), { name: "AbortError" });
    await within((async () => {
      while (model.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    })());
    stop.abort();
    await left;
    await within(aborted.promise);
  });
});

/** Without `stream`. */
function askWhole(origin: string, model: string, signal: AbortSignal): Promise<Response> {
  return fetch(`${origin}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
    body: JSON.stringify({ model, messages: [user("hi")] }),
    signal,
  });
}

Deno.test("a reader that leaves while the model thinks is no failure that anybody is told of", async () => {
  const aborted = Promise.withResolvers<void>();
  const model = fakeModel(async function* ({ signal }): AsyncGenerator<ModelPart, undefined> {
    yield { type: "text", text: "x" };
    await new Promise((resolve) => signal?.addEventListener("abort", resolve));
    aborted.resolve();
    signal?.throwIfAborted();
  });
  await withClient({ models: { m: model } }, async ({ client }) => {
    const stream = await client.chat.completions.create({ model: "m", messages: [user("hi")], stream: true });
    for await (const { choices } of stream) if (choices[0]?.delta.content === "x") break;
    await within(aborted.promise);
    await new Promise((resolve) => setTimeout(resolve, 50));
  });
});

async function* endless(
  signal: AbortSignal | undefined,
  onAbort: () => void,
): AsyncGenerator<ModelPart, undefined> {
  try {
    for (;;) {
      yield { type: "text", text: "x" };
      await new Promise((resolve) => setTimeout(resolve, 5));
      signal?.throwIfAborted();
    }
  } finally {
    onAbort();
  }
}

async function within<Value>(promise: Promise<Value>, ms = 10_000): Promise<Value> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`not within ${ms} ms`)), ms);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** A run that says its value piece by piece. */
function saying(pieces: readonly string[], value = pieces.join("")): FakeRun {
  return ({ tell }) => {
    for (const text of pieces) tell({ type: "text-delta", step: "ask#1/llm", text });
    tell({ type: "usage", step: "ask#1/llm", model: "fake/model", input: 5, output: 2 });
    return { value };
  };
}

Deno.test("a profile, a document and a prompt answer with the value of their run", async () => {
  const asked: StartRun[] = [];
  const start = (request: StartRun): FakeRun => {
    asked.push(request);
    return request.kind === "file" ? saying(["working"], "the plan") : saying(["The ", "answer"]);
  };
  await withClient({ start }, async ({ client }) => {
    const ask = async (model: string, ...messages: OpenAI.ChatCompletionMessageParam[]) => {
      const { data, response } = await client.chat.completions.create({ model, messages }).withResponse();
      assert.match(response.headers.get("orrery-run") ?? "", /^run-\d+$/);
      assert.equal(data.usage?.total_tokens, 7);
      return data.choices[0]?.message.content;
    };
    const history = [user("hi"), { role: "assistant" as const, content: "hello" }, user("go on")];
    assert.equal(await ask("orrery/profile/writer", ...history), "The answer");
    assert.equal(await ask("orrery/document/docs/plan.md", user("make it short")), "the plan");
    assert.equal(await ask("orrery/prompt/ask/one", user("stars")), "The answer");
    assert.equal(await ask("orrery/prompt/ask/two", user('{"topic":"stars","tone":"dry"}')), "The answer");
    assert.equal(await ask("orrery/prompt/ask/none", user("now")), "The answer");
    assert.deepEqual(asked, [
      { kind: "ask", profile: "writer", messages: history },
      { kind: "file", file: "docs/plan.md", prompt: "make it short" },
      { kind: "prompt", path: "ask/one", input: { topic: "stars" } },
      { kind: "prompt", path: "ask/two", input: { topic: "stars", tone: "dry" } },
      { kind: "prompt", path: "ask/none", say: "now" },
    ]);
    const streamed = async (model: string) => {
      const stream = await client.chat.completions.create({ model, messages: [user("x")], stream: true });
      return (await Array.fromAsync(stream)).flatMap(({ choices }) => choices[0]?.delta.content || []);
    };
    assert.deepEqual(await streamed("orrery/profile/writer"), ["The answer"]);
    assert.deepEqual(await streamed("orrery/document/docs/plan.md"), ["the plan"]);
  });
});

Deno.test("what is run takes no tools and no history that it would forget, and says why it failed", async () => {
  const start = (request: StartRun): FakeRun | Error => {
    if (request.kind === "ask") return new ServiceError("64 runs are under way", { code: "limit" });
    return () => ({ status: "failed", error: "the provider is down", reason: "provider" });
  };
  await withClient({ start }, async ({ client }) => {
    const failing = async (
      body: object,
      status: number,
      code: string,
    ): Promise<InstanceType<typeof OpenAI.APIError>> => {
      const error = await client.post("/chat/completions", { body })
        .then(() => undefined, (thrown: unknown) => thrown);
      assert(error instanceof OpenAI.APIError);
      assert.deepEqual([error.status, error.code], [status, code]);
      return error;
    };
    const messages = [user("hi")];
    const document = { model: "orrery/document/docs/plan.md", messages };
    await failing({ ...document, tools: [WEATHER] }, 400, "tools_not_supported");
    await failing({ ...document, messages: [...messages, ...messages] }, 400, "history_not_supported");
    await failing({ ...document, response_format: { type: "json_object" } }, 400, "unsupported_value");
    assert.match((await failing(document, 502, "provider_error")).message, /Run run-1: the provider is down/);
    const limited = await failing({ model: "orrery/profile/writer", messages }, 429, "limit");
    assert.equal(limited.headers?.get("retry-after"), "1");
    assert.match(
      (await failing({ model: "orrery/prompt/ask/two", messages }, 400, "invalid_variables")).message,
      /topic, tone/,
    );
  });
});

Deno.test("requests that are passed on count like runs", async () => {
  const go = Promise.withResolvers<void>();
  const model = fakeModel(() => waiting(go.promise));
  await withClient({ models: { m: model }, limit: 1 }, async ({ client }) => {
    const ask = () => client.chat.completions.create({ model: "m", messages: [user("hi")] });
    const first = ask();
    await within((async () => {
      while (model.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    })());
    await assert.rejects(ask(), OpenAI.RateLimitError);
    go.resolve();
    assert.equal((await first).choices[0]?.message.content, "done");
    assert.equal((await ask()).choices[0]?.message.content, "done");
  });
});

async function* waiting(promise: Promise<void>): AsyncGenerator<ModelPart, undefined> {
  await promise;
  yield { type: "text", text: "done" };
}

/** What an agent says in a turn, as events. */
function says(...texts: readonly string[]): FakeRun {
  return ({ tell }) => {
    tell({ type: "step-start", key: "reply", kind: "step", name: "reply", attempt: 1 });
    for (const [index, text] of texts.entries()) {
      const pieces = text.match(/.{1,4}/gs) ?? [];
      for (const piece of pieces) tell({ type: "text-delta", step: "reply", text: piece });
      const message: RunEventBody = { type: "message", step: "reply", n: index + 1, text };
      tell(message);
    }
    return { status: "held" };
  };
}

Deno.test("an agent goes on with the conversation that the history is of", async () => {
  const turn: FakeScript["turn"] = (message, { turns }) => says(`${turns}: ${message}`, "And?");
  await withClient({ turn }, async ({ client, service }) => {
    const model = "orrery/agent/support";
    const history: OpenAI.ChatCompletionMessageParam[] = [];
    const talk = async (text: string, stream: boolean): Promise<string> => {
      history.push(user(text));
      const asked = { model, messages: history, user: "ada" };
      const answer = stream
        ? (await client.chat.completions.stream(asked).finalChatCompletion()).choices[0]?.message.content
        : (await client.chat.completions.create(asked)).choices[0]?.message.content;
      history.push({ role: "assistant", content: answer ?? "" });
      return answer ?? "";
    };
    assert.equal(await talk("hi", false), "0: hi\n\nAnd?");
    assert.equal(await talk("more", true), "1: more\n\nAnd?");
    assert.equal(await talk("last", false), "2: last\n\nAnd?");
    const begun = service.done.filter(({ what }) => what === "talks.begin");
    assert.deepEqual(begun.map((each) => each.with), [
      [{ agent: "agents/support.agent.yml", message: "hi", user: "ada" }],
    ]);
    const other = client.chat.completions.create({ model, messages: [...history, user("x")], user: "eve" });
    await assert.rejects(other, (error) => {
      assert(error instanceof OpenAI.ConflictError);
      assert.equal(error.code, "unknown_history");
      return true;
    });
    await assert.rejects(
      client.chat.completions.create({ model, messages: history.slice(0, 3), user: "ada" }),
      OpenAI.ConflictError,
    );
    const named = await client.chat.completions.create({
      model,
      messages: [user("again")],
      metadata: { conversation: "talk-1" },
    });
    assert.equal(named.choices[0]?.message.content, "3: again\n\nAnd?");
    await assert.rejects(
      client.chat.completions.create({ model, messages: [{ role: "system", content: "x" }, user("x")] }),
      /instructions of its own/,
    );
  });
});

Deno.test("a server that has begun anew finds the conversation by its log", async () => {
  await using service = fakeService({
    turn: (message) => says(`you: ${message}`),
    look: { catalog: () => Promise.resolve(CATALOG) },
  });
  const history: OpenAI.ChatCompletionMessageParam[] = [];
  for (const text of ["one", "two"]) {
    await using server = surfaceServer(service, openAiRoutes);
    const client = new OpenAI({ baseURL: `${server.origin}/v1`, apiKey: TOKEN, maxRetries: 0 });
    history.push(user(text));
    const answer = await client.chat.completions.create({
      model: "orrery/agent/agents/support",
      messages: history,
    });
    assert.equal(answer.choices[0]?.message.content, `you: ${text}`);
    history.push({ role: "assistant", content: `you: ${text}` });
  }
  assert.equal(service.done.filter(({ what }) => what === "talks.begin").length, 1);
});

Deno.test("on the wire a stream is events of data alone, without usage where none was asked for, and [DONE]", async () => {
  await withClient({ models: { "script/echo": echoModel() } }, async ({ origin }) => {
    const answer = await fetch(`${origin}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "script/echo", messages: [user("hi")], stream: true }),
    });
    assert.equal(answer.headers.get("content-type"), "text/event-stream");
    const events = (await answer.text()).split("\n\n").filter((event) => event !== "");
    for (const event of events) assert.match(event, /^data: [^\n]+$/);
    assert.equal(events.at(-1), "data: [DONE]");
    const chunks = events.slice(0, -1).map((event): unknown => JSON.parse(event.slice("data: ".length)));
    for (const chunk of chunks) {
      assert(isRecord(chunk) && chunk.object === "chat.completion.chunk", JSON.stringify(chunk));
      assert(!("usage" in chunk));
    }
  });
});

Deno.test("what stands before the routes refuses in the form of OpenAI too", async () => {
  const refused = async (origin: string, request: RequestInit): Promise<readonly unknown[]> => {
    const answer = await fetch(`${origin}/v1/chat/completions`, {
      method: "POST",
      ...request,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        "content-type": "application/json",
        ...Object.fromEntries(new Headers(request.headers)),
      },
    });
    const { error }: { readonly error: Record<string, unknown> } = await answer.json();
    assert.deepEqual(Object.keys(error), ["message", "type", "param", "code"]);
    assert.equal(typeof error.message, "string");
    return [answer.status, error.type, error.code];
  };
  await withClient({}, async ({ origin, service }) => {
    const bad = "invalid_request_error";
    assert.deepEqual(await refused(origin, { body: "{" }), [400, bad, "json"]);
    assert.deepEqual(await refused(origin, { body: "[1]" }), [400, bad, "invalid"]);
    assert.deepEqual(await refused(origin, { body: new Uint8Array([0x22, 0xff, 0x22]) }), [
      400,
      bad,
      "utf-8",
    ]);
    assert.deepEqual(await refused(origin, { body: "[".repeat(10_000) }), [400, bad, "json"]);
    assert.deepEqual(await refused(origin, { body: '{"__proto__": {}}' }), [400, bad, "invalid"]);
    assert.deepEqual(await refused(origin, { body: " ".repeat(10 * 2 ** 20 + 1) }), [413, bad, "too-large"]);
    const text = { headers: { "content-type": "text/plain" }, body: "{}" };
    assert.deepEqual(await refused(origin, text), [415, bad, "content-type"]);
    const foreign = { headers: { origin: "http://evil.example" }, body: "{}" };
    assert.deepEqual(await refused(origin, foreign), [403, "permission_error", "origin"]);
    const nobody = { headers: { authorization: "", cookie: "orrery_1=x" }, body: "{}" };
    assert.deepEqual(await refused(origin, nobody), [401, "authentication_error", "token"]);
    assert.deepEqual(service.done, []);
  });
});

Deno.test("whatever JSON is posted, the answer is a completion or an error with a type, and never our own fault", async () => {
  const message = fc.record({
    role: fc.constantFrom("user", "assistant", "tool", "system", "robot"),
    content: fc.oneof(
      fc.string(),
      fc.constant(null),
      fc.array(fc.record({ type: fc.string(), text: fc.string() })),
    ),
    tool_calls: fc.jsonValue(),
    tool_call_id: fc.jsonValue(),
  }, { requiredKeys: [] });
  const body = fc.record({
    model: fc.oneof(
      fc.constantFrom("m", "orrery/agent/support", "orrery/prompt/ask/two", "orrery/document/docs/plan.md"),
      fc.string().map((name) => `orrery/${name}`),
      fc.jsonValue(),
    ),
    messages: fc.oneof(fc.array(message, { maxLength: 3 }), fc.jsonValue()),
    stream: fc.oneof(fc.boolean(), fc.jsonValue()),
    tools: fc.jsonValue(),
    tool_choice: fc.jsonValue(),
    response_format: fc.jsonValue(),
    stop: fc.jsonValue(),
    metadata: fc.jsonValue(),
    user: fc.jsonValue(),
  }, { requiredKeys: [] });
  await withClient({ models: { m: fakeModel(() => "ok") } }, async ({ origin }) => {
    const asked = async (given: unknown): Promise<void> => {
      const answer = await fetch(`${origin}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
        body: JSON.stringify(given) ?? "",
      });
      const text = await answer.text();
      assert(answer.status < 500, `${answer.status} ${text}`);
      if (answer.status === 200) return;
      const { error }: { readonly error: Record<string, unknown> } = JSON.parse(text);
      assert(typeof error.type === "string" && typeof error.code === "string", text);
    };
    await fc.assert(fc.asyncProperty(fc.oneof(body, fc.jsonValue()), asked), { numRuns: 400 });
  });
});

Deno.test("what would change an answer and is not to be had is refused by its name", async () => {
  await withClient({ models: { m: fakeModel(() => "ok") } }, async ({ client }) => {
    const fields = {
      top_logprobs: 2,
      functions: [{ name: "a" }],
      function_call: "auto",
      audio: { voice: "alloy", format: "wav" },
      web_search_options: {},
    };
    for (const [name, value] of Object.entries(fields)) {
      await assert.rejects(
        client.post("/chat/completions", { body: { model: "m", messages: [user("hi")], [name]: value } }),
        (error) => {
          assert(error instanceof OpenAI.BadRequestError);
          assert.deepEqual([error.param, error.code], [name, "unsupported_value"]);
          return true;
        },
      );
    }
  });
});

Deno.test("an agent and a document are found by their short names, and nothing by what is none", async () => {
  await withClient({}, async ({ client }) => {
    for (const name of ["orrery/agent/support", "orrery/document/docs/plan"]) {
      assert.equal((await client.models.retrieve(name)).owned_by, "orrery");
    }
    for (const name of ["orrery/", "orrery/agent/", "orrery/__proto__/x", "orrery/toString/support"]) {
      await assert.rejects(client.models.retrieve(name), OpenAI.NotFoundError);
    }
  });
});

Deno.test("a client that asks again by itself does not do so when a run has failed, or its history is of nothing", async () => {
  const start = (): FakeRun => () => ({
    status: "failed",
    error: "the provider is down",
    reason: "provider",
  });
  await withClient({ start }, async ({ service, origin }) => {
    const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: TOKEN, maxRetries: 2, timeout: 20_000 });
    await assert.rejects(
      client.chat.completions.create({ model: "orrery/document/docs/plan.md", messages: [user("hi")] }),
      OpenAI.InternalServerError,
    );
    assert.equal(service.done.filter(({ what }) => what === "start").length, 1);
    const history = [user("a"), { role: "assistant" as const, content: "b" }, user("c")];
    await assert.rejects(
      client.chat.completions.create({ model: "orrery/agent/support", messages: history }),
      OpenAI.ConflictError,
    );
    assert.equal(service.done.filter(({ what }) => what === "talks.list").length, 1);
  });
});

Deno.test("a client that goes away ends what a profile says, and no document", async () => {
  const ended = new Map<string, boolean[]>();
  const start = (request: StartRun): FakeRun => async ({ tell, signal }) => {
    tell({ type: "text-delta", step: "ask#1/llm", text: "x" });
    const pause = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => pause.resolve());
    const timer = setTimeout(pause.resolve, request.kind === "ask" ? 20_000 : 500);
    await pause.promise;
    clearTimeout(timer);
    ended.set(request.kind, [...ended.get(request.kind) ?? [], signal.aborted]);
    return { value: "x" };
  };
  await withClient({ start }, async ({ client, service, origin }) => {
    for (const model of ["orrery/profile/writer", "orrery/document/docs/plan.md"]) {
      const stop = new AbortController();
      const timer = setTimeout(() => stop.abort(), 200);
      const asked = { model, messages: [user("hi")] };
      const read = async () => {
        const stream = await client.chat.completions.create({ ...asked, stream: true }, {
          signal: stop.signal,
        });
        for await (const { choices } of stream) if (choices[0]?.delta.content === "x") stop.abort();
      };
      const isAborted = (error: unknown) => assert(error instanceof OpenAI.APIUserAbortError, String(error));
      await read().catch(isAborted);
      clearTimeout(timer);
      await assert.rejects(askWhole(origin, model, AbortSignal.timeout(200)), { name: "TimeoutError" });
    }
    await within((async () => {
      while (service.active > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    })());
    assert.deepEqual(Object.fromEntries(ended), { ask: [true, true], file: [false, false] });
  });
});

Deno.test("a crowd that comes at once is counted before anything is waited for, and leaves no count behind", async () => {
  const go = Promise.withResolvers<void>();
  const model = fakeModel(() => waiting(go.promise));
  await withClient({ models: { m: model }, limit: 2 }, async ({ client }) => {
    const ask = (name = "m") => client.chat.completions.create({ model: name, messages: [user("hi")] });
    const all = Array.from({ length: 10 }, () => ask().then(() => 200, (error: unknown) => statusOf(error)));
    await within((async () => {
      while (model.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    })());
    await within(Promise.race(all)); // those beyond the limit wait for nothing
    go.resolve();
    assert.deepEqual((await Promise.all(all)).sort(), [200, 200, ...Array.from({ length: 8 }, () => 429)]);
    for (let n = 0; n < 3; n++) await assert.rejects(ask("nope"), OpenAI.NotFoundError);
    assert.equal((await ask()).choices[0]?.message.content, "done");
  });
});

function statusOf(error: unknown): number | undefined {
  return error instanceof OpenAI.APIError ? error.status : undefined;
}

Deno.test("a stream that finds no room leaves no count behind", async () => {
  const models = { "script/echo": echoModel() };
  await using served = serveFake({ models, limit: 2 }, {
    routes: openAiRoutes,
    token: TOKEN,
    streams: new TextStreams({ most: 0 }),
  });
  const client = new OpenAI({ baseURL: `${served.origin}/v1`, apiKey: TOKEN, maxRetries: 0 });
  const asked = { model: "script/echo", messages: [user("hi")] };
  for (let n = 0; n < 3; n++) {
    await assert.rejects(client.chat.completions.create({ ...asked, stream: true }), (error) => {
      assert.equal(statusOf(error), 503);
      return true;
    });
  }
  assert.equal((await client.chat.completions.create(asked)).choices[0]?.message.content, "ECHO[hi]");
});

Deno.test("a conversation that was removed is none that a history is of, and another user's is not named", async () => {
  let isRemoved = false;
  await withClient({ turn: (message) => says(`you: ${message}`) }, async ({ client, service }) => {
    const { open, list } = service.talks;
    Object.assign(service.talks, {
      open: async (id: string) => {
        if (isRemoved) throw new ServiceError(`There is no conversation ${id}`, { code: "not-found" });
        return await open(id);
      },
      list: async () => isRemoved ? [] : await list(),
    });
    const model = "orrery/agent/support";
    const first = await client.chat.completions.create({ model, messages: [user("hi")], user: "ada" });
    const history = [
      user("hi"),
      { role: "assistant" as const, content: first.choices[0]?.message.content ?? "" },
      user("on"),
    ];
    await assert.rejects(
      client.chat.completions.create({
        model,
        messages: [user("x")],
        user: "eve",
        metadata: { conversation: "talk-1" },
      }),
      (error) => {
        assert(error instanceof OpenAI.BadRequestError);
        assert.deepEqual([error.code, error.param], ["wrong_conversation", "metadata.conversation"]);
        return true;
      },
    );
    isRemoved = true;
    await assert.rejects(
      client.chat.completions.create({ model, messages: history, user: "ada" }),
      (error) => error instanceof OpenAI.ConflictError && error.code === "unknown_history",
    );
  });
});

Deno.test("the AI SDK's provider streams calls and usage, asks for JSON, and hears of each failure", async () => {
  const models = {
    m: toolModel(),
    json: fakeModel(() => '{"city":"Bonn"}'),
    counted: fakeModel([[
      { type: "text", text: "Hello" },
      { type: "finish", reason: "stop", usage: { input: 3, output: 2 }, model: "fake/model" },
    ]]),
    broken: fakeModel(() => brokenOff()),
    limit: fakeModel(() => new ModelError("slow down", { code: "rate-limit" })),
    endless: fakeModel(({ signal }) => endless(signal, () => aborted.resolve())),
  };
  const aborted = Promise.withResolvers<void>();
  await withClient({ models }, async ({ origin }) => {
    const baseURL = `${origin}/v1`;
    const provider = createOpenAICompatible({
      name: "orrery",
      baseURL,
      apiKey: TOKEN,
      includeUsage: true,
      supportsStructuredOutputs: true,
    });
    const maxRetries = 0;
    const schema = jsonSchema<{ city: string }>({
      type: "object",
      properties: { city: { type: "string" } },
      required: ["city"],
    });
    const weather = tool({
      description: "The weather",
      inputSchema: schema,
      execute: ({ city }) => `rain in ${city}`,
    });
    const streamed = streamText({
      model: provider("m"),
      prompt: "How is it?",
      tools: { weather },
      stopWhen: stepCountIs(3),
      maxRetries,
    });
    assert.equal((await Array.fromAsync(streamed.textStream)).join(""), "weather said rain in Ulm");
    const counted = streamText({ model: provider("counted"), prompt: "hi", maxRetries });
    assert.equal(await counted.text, "Hello");
    const { inputTokens, outputTokens } = await counted.totalUsage;
    assert.deepEqual([inputTokens, outputTokens], [3, 2]);
    const { output } = await generateText({
      model: provider("json"),
      prompt: "Where?",
      output: Output.object({ schema }),
      maxRetries,
    });
    assert.deepEqual(output, { city: "Bonn" });
    assert.equal(models.json.requests[0]?.json, true);
    assert.deepEqual(models.json.requests[0]?.schema?.required, ["city"]);
    await assert.rejects(generateText({ model: provider("limit"), prompt: "hi", maxRetries }), (error) => {
      assert(APICallError.isInstance(error));
      assert.deepEqual([error.statusCode, error.isRetryable], [429, true]);
      return true;
    });
    const stranger = createOpenAICompatible({ name: "orrery", baseURL, apiKey: "wrong" });
    await assert.rejects(generateText({ model: stranger("m"), prompt: "hi", maxRetries }), (error) => {
      assert(APICallError.isInstance(error));
      assert.deepEqual([error.statusCode, error.isRetryable], [401, false]);
      return true;
    });
    const errors: unknown[] = [];
    const half = streamText({
      model: provider("broken"),
      prompt: "hi",
      maxRetries,
      onError: ({ error }) => void errors.push(error),
    });
    let text = "";
    for await (const part of half.stream) if (part.type === "text-delta") text += part.text;
    assert.equal(text, "half");
    assert.match(errors.map(messageOf).join(), /the line broke/);
    const stop = new AbortController();
    const left = streamText({
      model: provider("endless"),
      prompt: "hi",
      maxRetries,
      abortSignal: stop.signal,
    });
    for await (const part of left.stream) if (part.type === "text-delta") stop.abort();
    await within(aborted.promise);
  });
});

Deno.test("the AI SDK's provider chats, streams and calls tools", async () => {
  await withClient({ models: { "script/echo": echoModel(), m: toolModel() } }, async ({ origin }) => {
    const provider = createOpenAICompatible({ name: "orrery", baseURL: `${origin}/v1`, apiKey: TOKEN });
    const maxRetries = 0;
    const { text } = await generateText({ model: provider("script/echo"), prompt: "hi", maxRetries });
    assert.equal(text, "ECHO[hi]");
    const streamed = streamText({ model: provider("script/echo"), prompt: "SAY:\nHello", maxRetries });
    assert.equal((await Array.fromAsync(streamed.textStream)).join(""), "Hello");
    assert.equal(await streamed.finishReason, "stop");
    const weather = tool({
      description: "The weather",
      inputSchema: jsonSchema<{ city: string }>({
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
      }),
      execute: ({ city }) => `rain in ${city}`,
    });
    const called = await generateText({
      model: provider("m"),
      prompt: "How is it?",
      tools: { weather },
      stopWhen: stepCountIs(3),
      maxRetries,
    });
    assert.equal(called.text, "weather said rain in Ulm");
    await assert.rejects(
      generateText({ model: provider("nope"), prompt: "hi", maxRetries }),
      /There is no model "nope"/,
    );
  });
});
