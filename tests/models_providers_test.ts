import assert from "node:assert/strict";
import {
  memoryFiles,
  ModelError,
  type ModelPart,
  type ModelRequest,
  PermissionRefused,
  systemClock,
  virtualClock,
} from "../mod.ts";
import type { Effort } from "../lib/core/model_settings.ts";
import { hostModelFetch } from "../lib/host/http/model_fetch.ts";
import { openModels, type OpenModelsOptions } from "../lib/models/open_models.ts";
import { wireEvents } from "./_provider_wire.ts";
import { type ProviderReply, type ProviderServer, providerServer, TEST_KEY } from "./_provider_server.ts";

const IDS = [
  "openai/gpt-5",
  "chat/gpt-4o",
  "anthropic/claude-sonnet-4-5",
  "google/gemini-2.5-pro",
  "compatible/test",
];

function modelsAt(provider: ProviderServer, options: Partial<OpenModelsOptions> = {}) {
  return openModels({
    settings: provider.settings,
    env: provider.env,
    fetch,
    clock: systemClock,
    files: memoryFiles(),
    retry: { baseMs: 1 },
    ...options,
  });
}

const ASK: ModelRequest = { messages: [{ role: "user", content: "Hello" }] };

async function partsOf(
  id: string,
  { provider, request = ASK, ...options }:
    & { readonly provider: ProviderServer; readonly request?: ModelRequest }
    & Partial<OpenModelsOptions>,
): Promise<ModelPart[]> {
  const model = await modelsAt(provider, options).find(id);
  return await Array.fromAsync(model.stream(request));
}

const textIn = (parts: readonly ModelPart[]) =>
  parts.map((part) => part.type === "text" ? part.text : "").join("");
const finishOf = (parts: readonly ModelPart[]) => {
  const last = parts.at(-1);
  assert.ok(last?.type === "finish");
  assert.equal(parts.filter(({ type }) => type === "finish").length, 1);
  return last;
};

for (const id of IDS) {
  Deno.test(`models: ${id} streams text, and tells usage`, async () => {
    const usage = { input: 1000, output: 50, cached: 200 };
    await using provider = providerServer({ parts: [{ text: ["Grüße ", "aus 東京", " 🗼."] }], usage });
    const parts = await partsOf(id, { provider });
    assert.equal(textIn(parts), "Grüße aus 東京 🗼.");
    const finish = finishOf(parts);
    assert.equal(finish.reason, "stop");
    assert.equal(finish.model, id);
    const { cost, ...counts } = finish.usage;
    assert.deepEqual(counts, usage);
    assert.equal(cost === undefined, id.startsWith("compatible/") || id.startsWith("chat/"));
    assert.equal(provider.requests.length, 1);
  });
}

async function errorOf(work: Promise<unknown>): Promise<ModelError> {
  const error = await work.then(
    (value) => assert.fail(`gave ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  assert.ok(error instanceof ModelError, String(error));
  assert.ok(!Deno.inspect(error, { depth: 20 }).includes(TEST_KEY), "the key is in the error");
  return error;
}

const hostless = (error: Error, { host }: ProviderServer) => error.message.replaceAll(host, "HOST");

for (const id of IDS) {
  const isCompatible = id.startsWith("compatible/");
  const isChat = id.startsWith("chat/");
  const isGoogle = id.startsWith("google/");

  Deno.test(`models: ${id}: odd chunk borders and keep-alive comments change nothing`, async () => {
    const parts = [{ text: ["Grüße ", "aus 東京", " 🗼."] }, {
      call: { name: "Now", arguments: ['{"zone', '":"JST"}'] },
    }];
    for (const chunkBytes of [1, 7, 64]) {
      await using provider = providerServer({ parts, chunkBytes, keepAlive: true });
      const got = await partsOf(id, { provider });
      assert.equal(textIn(got), "Grüße aus 東京 🗼.");
      const calls = got.flatMap((part) => part.type === "call" ? [part.call] : []);
      assert.deepEqual(calls.map(({ name, arguments: text }) => [name, JSON.parse(text)]), [["Now", {
        zone: "JST",
      }]]);
      assert.equal(finishOf(got).reason, "calls");
    }
  });

  Deno.test(`models: ${id}: a call is told as soon as its arguments are complete, and once`, async () => {
    await using provider = providerServer({
      parts: [
        { call: { name: "First", arguments: ['{"a":', '"}"}'] } },
        { call: { name: "Second", arguments: ["{", "}"] } },
        { call: { name: "Third", arguments: '{"c":[1,2]}' } },
      ],
    });
    const parts = await partsOf(id, { provider });
    const order = parts.flatMap((part) =>
      part.type === "call-start"
        ? [`start ${part.name}`]
        : part.type === "call"
        ? [`call ${part.call.name}`]
        : []
    );
    // An empty object counts when the next call begins, or at the end.
    assert.deepEqual(
      order,
      ["First", "Second", "Third"].flatMap((name) => [`start ${name}`, `call ${name}`]),
    );
    const calls = parts.flatMap((part) => part.type === "call" ? [part.call] : []);
    assert.deepEqual(calls.map((call) => JSON.parse(call.arguments)), [{ a: "}" }, {}, { c: [1, 2] }]);
    assert.equal(new Set(calls.map((call) => call.id)).size, 3);
    const written = parts.flatMap((part) => part.type === "call-delta" ? [part] : []);
    for (const { id, arguments: text } of calls) {
      const deltas = written.filter((each) => each.id === id).map((each) => each.text).join("");
      assert.deepEqual(JSON.parse(deltas || "{}"), JSON.parse(text));
    }
  });

  Deno.test(`models: ${id}: rate limits and failures are tried again, and told`, async () => {
    const ok: ProviderReply = { parts: [{ text: "ok" }] };
    await using provider = providerServer([{ status: 429, retryAfter: "0", message: "slow down" }, {
      status: 500,
    }, ok]);
    const parts = await partsOf(id, { provider });
    assert.deepEqual(
      parts.slice(0, 2).map((part) => part.type === "retry" && [part.attempt, part.delayMs > 0]),
      [
        [1, false],
        [2, true],
      ],
    );
    assert.equal(textIn(parts), "ok");
    assert.equal(provider.requests.length, 3);
  });

  Deno.test(`models: ${id}: a wrong key is told, and never shown`, async () => {
    await using provider = providerServer({
      status: 401,
      message: `Incorrect API key provided: ${TEST_KEY}.`,
    });
    const error = await errorOf(partsOf(id, { provider }));
    assert.deepEqual([error.code, error.status], ["auth", 401]);
    const variable = isCompatible
      ? "COMPATIBLE_KEY"
      : isGoogle
      ? "GOOGLE_GENERATIVE_AI_API_KEY"
      : id.startsWith("anthropic/")
      ? "ANTHROPIC_API_KEY"
      : "OPENAI_API_KEY";
    assert.equal(
      hostless(error, provider),
      `${id} at HOST: the key was refused (401: Incorrect API key provided: [secret ${variable}].). Put a valid key into ${variable}`,
    );
    const [request] = provider.requests;
    const sent = request &&
      (request.headers.get("authorization") ?? request.headers.get("x-api-key") ??
        request.headers.get("x-goog-api-key"));
    assert.ok(sent?.endsWith(TEST_KEY));
    assert.ok(!JSON.stringify(request?.body).includes(TEST_KEY));
  });

  Deno.test(`models: ${id}: a model that is not there, and messages that are too long`, async () => {
    await using provider = providerServer([
      { status: 404, message: "no such model" },
      {
        status: 400,
        type: "context_length_exceeded",
        message: "This model's maximum context length is 8192 tokens.",
      },
    ]);
    const missing = await errorOf(partsOf(id, { provider }));
    assert.deepEqual([missing.code, missing.status], ["request", 404]);
    assert.match(
      missing.message,
      /\(404: no such model\)\. Check the model's name, and models\.providers\.\w+\.baseURL$/,
    );
    const long = await errorOf(partsOf(id, { provider }));
    assert.equal(long.code, "context");
    assert.match(
      long.message,
      /too long for this model .*Send less, or choose a model with a larger window$/,
    );
  });

  Deno.test(`models: ${id}: a page or JSON instead of a stream is told`, async () => {
    const page = "<!doctype html><html><title>Sign in</title></html>";
    await using provider = providerServer([
      { status: 200, body: page, contentType: "text/html" },
      { status: 200, body: '{"error":"no such route"}' },
      { status: 502, body: page, contentType: "text/html" },
    ]);
    const html = await errorOf(partsOf(id, { provider }));
    assert.equal(html.code, "answer");
    assert.match(
      html.message,
      /something that is no stream of events: a page of HTML titled "Sign in"\. Check models\.providers\./,
    );
    const json = await errorOf(partsOf(id, { provider }));
    assert.match(json.message, /no stream of events: no such route\. Check/);
    const gateway = await errorOf(partsOf(id, { provider, retry: { retries: 0 } }));
    assert.deepEqual([gateway.code, gateway.status], ["server", 502]);
    assert.match(gateway.message, /the provider failed \(502: a page of HTML titled "Sign in"\)$/);
  });

  Deno.test(`models: ${id}: an answer that breaks off says after how much, and is not asked for again`, async () => {
    const parts = [{ text: ["0123456789", "0123456789", "0123456789"] }];
    await using provider = providerServer([
      { parts, finish: "none" },
      { parts, breakAfterBytes: isGoogle ? 250 : isChat || isCompatible ? 500 : 700, chunkBytes: 50 },
    ]);
    const ended = await errorOf(partsOf(id, { provider }));
    assert.equal(ended.code, "network");
    assert.match(
      ended.message,
      /: the answer broke off after 30 characters$/,
    );
    const shown: ModelPart[] = [];
    const model = await modelsAt(provider).find(id);
    const broken = await errorOf((async () => {
      for await (const part of model.stream(ASK)) shown.push(part);
    })());
    assert.match(broken.message, new RegExp(`broke off after ${textIn(shown).length} characters \\(.+\\)`));
    assert.ok(textIn(shown).length >= 10, "the test breaks too early");
    assert.equal(provider.requests.length, 2);
  });

  Deno.test(`models: ${id}: an error in the middle of a stream is told`, async () => {
    await using provider = providerServer({
      parts: [{ text: "begun" }],
      streamError: { type: "overloaded_error", message: "Overloaded" },
    });
    const error = await errorOf(partsOf(id, { provider }));
    assert.equal(error.code, "rate-limit");
    assert.match(error.message, /ended its answer with an error \((\d+: )?Overloaded\)/);
    assert.equal(provider.requests.length, 1);
  });

  Deno.test(`models: ${id}: silence ends a call`, async () => {
    await using provider = providerServer([
      { parts: [{ text: "late" }], delayMs: 300 },
      { parts: [{ text: ["begun", "never"] }], hangAfterBytes: 1, chunkBytes: 900 },
    ]);
    const silence = { firstByteMs: 50, betweenMs: 60 };
    const retry = { retries: 0 };
    const first = await errorOf(partsOf(id, { provider, silence, retry }));
    assert.equal(first.code, "timeout");
    assert.match(first.message, /: no answer came for 0\.05 s$/);
    const between = await errorOf(
      partsOf(id, { provider, silence: { ...silence, firstByteMs: 5000 }, retry }),
    );
    assert.match(between.message, /: the answer stopped: nothing more came for 0\.06 s$/);
  });

  Deno.test(`models: ${id}: an abort ends the call and the request`, async () => {
    await using provider = providerServer({ parts: [{ text: ["a", "b", "c"] }], delayMs: 30 });
    const stop = new AbortController();
    const model = await modelsAt(provider).find(id);
    const error = await errorOf((async () => {
      for await (const part of model.stream({ ...ASK, signal: stop.signal })) {
        if (part.type === "text") stop.abort("enough");
      }
    })());
    assert.deepEqual([error.code, error.cause], ["aborted", "enough"]);
    const before = AbortSignal.abort("early");
    const early = await errorOf(Array.fromAsync(model.stream({ ...ASK, signal: before })));
    assert.equal(early.code, "aborted");
    assert.equal(provider.requests.length, 1);
  });

  Deno.test(`models: ${id}: a reader that stops early lets the connection go`, async () => {
    await using provider = providerServer({
      parts: [{ text: Array.from({ length: 50 }, () => "word ") }],
      delayMs: 5,
    });
    const model = await modelsAt(provider).find(id);
    for await (const part of model.stream(ASK)) if (part.type === "text") break;
  });
}

Deno.test("models: silence counts only while something is waited for, and any byte ends it", async () => {
  const clock = virtualClock();
  const events = wireEvents("chat", { parts: [{ text: ["a", "b", "c"] }] });
  const pieces = [events[0], ": still here\n\n", ": still here\n\n", ...events.slice(1)];
  const silent: typeof fetch = async (_, init) => {
    let at = 0;
    await clock.sleep(10_000, init?.signal ?? undefined);
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await clock.sleep(at === 0 ? 40_000 : at === pieces.length - 2 ? 61_000 : 59_000);
        controller.enqueue(new TextEncoder().encode(pieces[at++]));
      },
    }, { highWaterMark: 0 });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  await using provider = providerServer({ parts: [] });
  const model = await modelsAt(provider, { clock, fetch: silent, retry: { retries: 0 } }).find(
    "compatible/test",
  );
  const told: string[] = [];
  const error = await errorOf(clock.run((async () => {
    for await (const part of model.stream(ASK)) {
      if (part.type === "text") told.push(part.text);
      if (told.length === 1) await clock.sleep(300_000); // whoever reads takes his time
    }
  })()));
  assert.deepEqual([told, error.code], [["a", "b", "c"], "timeout"]);
  assert.match(error.message, /: the answer stopped: nothing more came for 60 s$/);
});

Deno.test("models: nothing answers at the address", async () => {
  const provider = providerServer({ parts: [] });
  await provider[Symbol.asyncDispose]();
  const error = await errorOf(partsOf("compatible/test", { provider, retry: { retries: 0 } }));
  assert.equal(error.code, "network");
  assert.equal(
    hostless(error, provider),
    "compatible/test at HOST: cannot connect: nothing answers there (connection refused). Check that models.providers.compatible.baseURL is right, and that the server is running",
  );
});

Deno.test("models: reasoning is told, and given back as the provider wants it", async () => {
  const reasoning = { reasoning: ["I think, ", "so I am."], signature: "c2lnbmVk" };
  await using provider = providerServer((_, nth) =>
    nth % 2 === 0 ? { parts: [{ text: "Done." }] } : {
      parts: [reasoning, { text: "Yes." }, { call: { name: "Now", arguments: "{}" } }],
      usage: { input: 9, output: 8, reasoning: 3 },
    }
  );
  for (const id of IDS) {
    const from = provider.requests.length;
    const parts = await partsOf(id, { provider, request: { ...ASK, tools: [NOW] } });
    const calls = parts.flatMap((part) => part.type === "call" ? [part.call] : []);
    const thoughts = parts.flatMap((part) => part.type === "thought" ? [part.reasoning] : []);
    if (id !== "chat/gpt-4o") {
      assert.equal(
        parts.map((part) => part.type === "reasoning" ? part.text : "").join(""),
        "I think, so I am.",
        id,
      );
      assert.equal(thoughts[0]?.text, "I think, so I am.", id);
    }
    await partsOf(id, {
      provider,
      request: {
        messages: [
          ...ASK.messages,
          { role: "assistant", content: textIn(parts), calls, reasoning: thoughts },
          ...calls.map((call) => ({ role: "tool" as const, id: call.id, name: call.name, content: "noon" })),
        ],
      },
    });
    const body = JSON.stringify(provider.requests[from + 1]?.body);
    assert.equal(
      body.includes("c2lnbmVk"),
      id.startsWith("openai/") || id.startsWith("anthropic/"),
      `${id}: ${body}`,
    );
    if (id.startsWith("google/")) assert.ok(body.includes('"thoughtSignature":"signed"'), body);
    assert.ok(body.includes("noon"), body);
  }
});

const NOW = {
  name: "Now",
  description: "Tells the time.",
  input: { type: "object", properties: { zone: { type: "string" } } },
};

Deno.test("models: thinking of one provider is not given to another", async () => {
  await using provider = providerServer({ parts: [{ text: "ok" }] });
  const thought = { text: "secret thought", metadata: { google: { thoughtSignature: "x" } } };
  const messages = [
    ...ASK.messages,
    { role: "assistant" as const, content: "a", reasoning: [thought] },
    ...ASK.messages,
  ];
  for (const id of IDS) await partsOf(id, { provider, request: { messages } });
  assert.deepEqual(
    provider.requests.map(({ body }) => JSON.stringify(body).includes("secret thought")),
    IDS.map((id) => id.startsWith("google/")),
  );
});

Deno.test("models: a request has everything that was asked for", async () => {
  await using provider = providerServer({ parts: [{ text: "{}" }] });
  const request: ModelRequest = {
    messages: [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [{ type: "text", text: "What is this?" }, {
          type: "media",
          mediaType: "image/png",
          data: "iVBORw0KGgo=",
        }],
      },
      {
        role: "assistant",
        content: "",
        calls: [{ id: "c1", name: "Now", arguments: '{"zone":"JST"}' }, {
          id: "c2",
          name: "Now",
          arguments: "",
        }],
      },
      { role: "tool", id: "c1", name: "Now", content: "noon" },
      { role: "tool", id: "c2", name: "Now", content: "night" },
      { role: "system", content: "Later word." },
      { role: "user", content: "Go on" },
    ],
    tools: [NOW],
    toolChoice: { name: "Now" },
    schema: { type: "object", properties: { a: { type: "string" } } },
    temperature: 0.5,
    maxOutputTokens: 77,
    stop: ["END"],
    seed: 7,
  };
  for (
    const id of ["chat/gpt-4o", "compatible/test", "anthropic/claude-sonnet-4-5", "google/gemini-2.5-pro"]
  ) {
    await partsOf(id, { provider, request });
    const body = provider.requests.at(-1)?.body;
    const text = JSON.stringify(body);
    for (
      const part of [
        "Be brief.",
        "What is this?",
        "iVBORw0KGgo=",
        "JST",
        "noon",
        "night",
        "Later word.",
        "Tells the time.",
        "77",
        "END",
        "0.5",
      ]
    ) {
      assert.ok(text.includes(part), `${id} lacks ${part}: ${text}`);
    }
  }
  const [chat, compatible, anthropic, google] = provider.requests.map(({ body }) => body);
  assert.deepEqual(chat.tool_choice, { type: "function", function: { name: "Now" } });
  assert.equal(chat.response_format.json_schema.strict, false);
  assert.deepEqual(chat.messages.map(({ role }: { role: string }) => role), [
    "system",
    "user",
    "assistant",
    "tool",
    "tool",
    "system",
    "user",
  ]);
  assert.equal(compatible.seed, 7);
  assert.equal(compatible.stream_options.include_usage, true);
  assert.deepEqual(anthropic.messages.map(({ role }: { role: string }) => role), [
    "user",
    "assistant",
    "user",
  ]);
  assert.deepEqual(anthropic.system.map(({ text }: { text: string }) => text), ["Be brief."]);
  assert.deepEqual(google.contents.map(({ role }: { role: string }) => role), [
    "user",
    "model",
    "user",
    "user",
    "user",
  ]);
  assert.equal(google.generationConfig.seed, 7);
});

// deno-lint-ignore no-explicit-any
type Body = any;

/** What the body of a request says of thinking. */
const THINKING:
  readonly (readonly [id: string, effort: Effort, says: (body: Body) => unknown, sent: unknown])[] = [
    ["openai/gpt-5", "high", (body) => body.reasoning.effort, "high"],
    ["chat/gpt-5", "minimal", (body) => body.reasoning_effort, "minimal"],
    ["compatible/qwen3", "low", (body) => body.reasoning_effort, "low"],
    ["compatible/qwen3", "none", (body) => body.reasoning_effort, "none"],
    ["anthropic/claude-opus-4-6", "medium", (body) => [body.thinking.type, body.output_config.effort], [
      "adaptive",
      "medium",
    ]],
    ["anthropic/claude-sonnet-4-5", "low", (body) => body.thinking, { type: "enabled", budget_tokens: 6400 }],
    ["anthropic/claude-sonnet-4-5", "none", (body) => body.thinking, { type: "disabled" }],
    ["google/gemini-3-pro-preview", "low", (body) => body.generationConfig.thinkingConfig, {
      thinkingLevel: "low",
    }],
    ["google/gemini-2.5-flash", "none", (body) => body.generationConfig.thinkingConfig, {
      thinkingBudget: 0,
    }],
    ["groq/openai/gpt-oss-120b", "high", (body) => body.reasoning_effort, "high"],
    ["mistral/mistral-small-latest", "high", (body) => body.reasoning_effort, "high"],
    ["xai/grok-4.3", "low", (body) => body.reasoning?.effort ?? body.reasoning_effort, "low"],
  ];

Deno.test("models: each provider is told in its way how hard to think", async () => {
  for (const [id, effort, says, sent] of THINKING) {
    await using provider = providerServer({ parts: [{ text: "ok" }], usageAtEnd: true });
    await partsOf(id, { provider, request: { ...ASK, effort } });
    assert.deepEqual(says(provider.requests[0]?.body), sent, `${id} ${effort}`);
  }
});

Deno.test("models: how hard to think is said by the request, else by its arguments, else by the provider's settings", async () => {
  await using provider = providerServer({ parts: [{ text: "ok" }] });
  const settings = (more: object) => ({
    providers: { ...provider.settings.providers, openai: { ...provider.settings.providers.openai, ...more } },
  });
  const cases:
    readonly (readonly [settings: object, request: Partial<ModelRequest>, sent: string | undefined])[] = [
      [{}, {}, undefined],
      [{ effort: "low" }, {}, "low"],
      [{ effort: "low" }, { args: { reasoning_effort: "medium" } }, "medium"],
      [{ effort: "low" }, { args: { reasoning: "medium" }, effort: "high" }, "high"],
      [{ options: { reasoningEffort: "low" } }, { effort: "high" }, "high"],
      [{ options: { reasoningEffort: "low" }, effort: "high" }, {}, "low"],
    ];
  for (const [more, request, sent] of cases) {
    await partsOf("openai/gpt-5", { provider, settings: settings(more), request: { ...ASK, ...request } });
    assert.equal(provider.requests.at(-1)?.body.reasoning?.effort, sent, JSON.stringify([more, request]));
  }
});

Deno.test("models: openai keeps nothing, and tools of any schema are not strict", async () => {
  await using provider = providerServer({ parts: [{ text: "ok" }] });
  await partsOf("openai/gpt-5", { provider, request: { ...ASK, tools: [NOW] } });
  const body = provider.requests[0]?.body;
  assert.deepEqual([body.store, body.include, body.tools[0].strict], [
    false,
    ["reasoning.encrypted_content"],
    false,
  ]);
});

Deno.test("models: the SDK writes nothing to the console, and looks at no variable", async () => {
  await using provider = providerServer({ parts: [{ text: "ok" }] });
  const lines: unknown[] = [];
  const methods = ["log", "info", "warn", "error"] as const;
  const before = methods.map((name) => console[name]);
  methods.forEach((name) => console[name] = (...words: unknown[]) => void lines.push(words));
  try {
    const request = { ...ASK, temperature: 1.5, topP: 0.5, seed: 1, schema: { type: "object" } };
    for (const id of IDS) await partsOf(id, { provider, request });
  } finally {
    methods.forEach((name, index) => console[name] = before[index] ?? console.log);
  }
  assert.deepEqual(lines, []);
});

Deno.test("models: settings of a provider reach the request", async () => {
  await using provider = providerServer({ parts: [{ text: "ok" }] });
  const settings = {
    providers: {
      azure: {
        type: "openai-compatible" as const,
        baseURL: `${provider.url}/v1/`,
        headers: { "api-key": "${AZURE_KEY}", "x-team": "blue" },
        queryParams: { "api-version": "1" },
        options: { reasoningEffort: "low", extra_body: { a: [1] } },
        contextTokens: 4096,
      },
    },
  };
  const model = await modelsAt(provider, { settings }).find("azure:some/model:7b");
  assert.deepEqual([model.id, model.contextTokens], ["azure/some/model:7b", 4096]);
  await Array.fromAsync(model.stream(ASK));
  const [request] = provider.requests;
  assert.deepEqual([request?.headers.get("api-key"), request?.headers.get("x-team")], [TEST_KEY, "blue"]);
  assert.equal(request?.headers.get("authorization"), null);
  assert.deepEqual([request?.body.model, request?.body.reasoning_effort, request?.body.extra_body], [
    "some/model:7b",
    "low",
    { a: [1] },
  ]);
});

Deno.test("models: Retry-After as a date, and one that is too long", async () => {
  const date = new Date(Date.now() + 3_600_000).toUTCString();
  await using provider = providerServer({ status: 429, retryAfter: date });
  const error = await errorOf(partsOf("chat/gpt-4o", { provider }));
  assert.equal(error.code, "rate-limit");
  assert.ok((error.retryAfterMs ?? 0) > 3_500_000);
  assert.match(error.message, /It asks to wait 3\d{3} s, which is longer than the 60 s that are waited for$/);
  assert.equal(provider.requests.length, 1);
});

Deno.test("models: a fallback takes over, also from a model without a key", async () => {
  await using provider = providerServer((request) =>
    request.format === "anthropic" ? { status: 500, message: "down" } : { parts: [{ text: "from chat" }] }
  );
  const settings = {
    ...provider.settings,
    aliases: { fast: "anthropic/claude-haiku-4-5", local: "chat/gpt-4o" },
    fallback: { fast: ["xai/grok-4.7", "local"] },
  };
  const env = (name: string) => name === "XAI_API_KEY" ? undefined : provider.env(name);
  const parts = await partsOf("fast", { provider, settings, env, retry: { retries: 1, baseMs: 1 } });
  assert.deepEqual(
    parts.flatMap((part) =>
      part.type === "retry" ? [[part.attempt, part.model, part.error.split(":")[0]?.slice(0, 25)]] : []
    ),
    [
      [1, undefined, "anthropic/claude-haiku-4-"],
      [1, "xai/grok-4.7", "anthropic/claude-haiku-4-"],
      [2, "chat/gpt-4o", "The model xai/grok-4.7 ne"],
    ],
  );
  assert.equal(textIn(parts), "from chat");
  assert.equal(finishOf(parts).model, "chat/gpt-4o");
});

Deno.test("models: an abort ends the call also where the connection does not hear of it", async () => {
  await using provider = providerServer({
    parts: [{ text: Array.from({ length: 20 }, () => "x") }],
    hangAfterBytes: 1_000,
  });
  const deaf: typeof fetch = (input, init) => fetch(input, { ...init, signal: null });
  const model = await modelsAt(provider, { fetch: deaf }).find("compatible/test");
  const stop = new AbortController();
  const error = await errorOf((async () => {
    for await (const part of model.stream({ ...ASK, signal: stop.signal })) {
      if (part.type === "text") setTimeout(() => stop.abort("enough"), 20); // when the next part is waited for
    }
  })());
  assert.deepEqual([error.code, error.cause], ["aborted", "enough"]);
});

Deno.test("models: no redirect is followed, and the policy is asked", async () => {
  await using provider = providerServer({ parts: [{ text: "ok" }] });
  const elsewhere = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response(null, { status: 307, headers: { location: `${provider.url}/v1/chat/completions` } }),
  );
  try {
    const baseURL = `http://127.0.0.1:${elsewhere.addr.port}/v1`;
    const settings = { providers: { moved: { type: "openai-compatible" as const, baseURL } } };
    const asked: string[] = [];
    const open = hostModelFetch({ check: ({ value }) => void asked.push(value) });
    const moved = await errorOf(
      partsOf("moved/m", { provider, settings, fetch: open, retry: { retries: 0 } }),
    );
    assert.match(moved.message, /it redirects to "http:.*", which is not followed with a key/);
    assert.deepEqual(asked, [`127.0.0.1:${elsewhere.addr.port}`]);
    assert.equal(provider.requests.length, 0);
    const closed = hostModelFetch({
      check: (request) => {
        throw new PermissionRefused("net is not allowed", { request, flag: "--allow-net=x" });
      },
    });
    const refused = await errorOf(partsOf("moved/m", { provider, settings, fetch: closed }));
    assert.deepEqual([refused.code, refused.flag], ["permission", "--allow-net=x"]);
  } finally {
    await elsewhere.shutdown();
  }
});

for (const id of ["mistral/mistral-small-latest", "groq/openai/gpt-oss-20b", "xai/grok-4.7"]) {
  Deno.test(`models: ${id} streams text and calls`, async () => {
    await using provider = providerServer({
      usageAtEnd: true,
      parts: [{ text: ["Hel", "lo"] }, {
        call: { id: "abcdefghi", name: "Now", arguments: ['{"zone":', '"JST"}'] },
      }],
    });
    const parts = await partsOf(id, { provider, request: { ...ASK, tools: [NOW] } });
    assert.equal(textIn(parts), "Hello");
    assert.deepEqual(parts.flatMap((part) => part.type === "call" ? [part.call.arguments] : []), [
      '{"zone":"JST"}',
    ]);
    assert.equal(finishOf(parts).reason, "calls");
    await using broken = providerServer({ parts: [{ text: "Hello" }], finish: "none" });
    const error = await errorOf(partsOf(id, { provider: broken }));
    assert.match(error.message, /the answer broke off after 5 characters/);
  });
}

// An error in the middle of a stream: which code, and so which exit code and advice, follows from what it says.

const TOLD = [
  { type: "rate_limit_error", message: "slow down", code: "rate-limit" },
  { type: "overloaded_error", message: "Overloaded", code: "rate-limit" },
  { type: "weird_error", message: "boom", code: "server" },
  { type: "invalid_request_error", message: "bad thing", code: "request" },
  { type: "invalid_request_error", message: "prompt is too long: 3 > 2", code: "context" },
  { type: "insufficient_quota", message: "You exceeded your current quota", code: "auth" },
] as const;

for (const model of ["compatible/test", "chat/test", "anthropic/test"]) {
  for (const { type, message, code } of TOLD) {
    Deno.test(`models: ${model}: ${type} in the middle of a stream (${message})`, async () => {
      await using server = providerServer({ parts: [{ text: "Hel" }], streamError: { type, message } });
      const error = await errorOf(partsOf(model, { provider: server }));
      assert.equal(error.code, code);
      assert.ok(
        error.message.startsWith(`${model} at ${server.host}: the provider ended its answer with an error`),
      );
      assert.ok(error.message.includes(message));
    });
  }
}
