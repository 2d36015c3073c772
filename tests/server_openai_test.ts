// Clients of OpenAI that nobody here wrote, against a server over a real project; what is passed on is seen by a provider of the test.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateText, jsonSchema, Output, stepCountIs, streamText, tool } from "ai";
import fc from "fast-check";
import assert from "node:assert/strict";
import OpenAI from "openai";
import { runOf } from "./_http_runs.ts";
import { testProject } from "./_project.ts";
import {
  type ProviderReply,
  type ProviderRequest,
  type ProviderServer,
  providerServer,
  TEST_KEY,
} from "./_provider_server.ts";
import { served, type ServedHere } from "./_served_project.ts";
import { sendRaw, TOKEN } from "./_server.ts";
import { tries } from "./_thorough.ts";
import { until } from "./_waiting.ts";

const FILES = {
  "orrery.yaml": `models: { default: script/echo }
agents:
  - { name: writer, model: script/echo, system: Be brief }
  - { name: slow, model: script/slow.yml, system: Be brief }
  - { name: down, model: script/down.yml, system: Be brief, limits: { llmRecalls: 0 } }
`,
  "prompts/ask/one.prompt.md": "Tell of {topic}",
  "prompts/ask/two.prompt.md": "Tell of {topic}, {tone}",
  "prompts/ask/none.prompt.md": "Tell.",
  "docs/plan.md": "# Plan\n\nThe plan.\n\n@return\nblock: plan\n",
  "docs/down.md": "---\nmodel: script/down.yml\n---\n# Plan\n\n@llm\nprompt: Go\n",
  "docs/slow.md": "---\nmodel: script/slow.yml\n---\n# Plan\n\n@llm\nprompt: Go\n",
  "agents/support.agent.yml": `version: "0.1"
structure:
  id: support
  action:
    id: main
    chain:
      - { id: turn?, message: { message: "And?", hold: true } }
      - { id: reply, llm: { prompts: [ { user: "Reply." } ] } }
      - { id: again, flow: { action: repeat } }
`,
  "broken.agent.yml": "structure: 5\n",
  "down.yml": "- { error: { message: the provider is down, retryAfterMs: 1 }, repeat: true }\n",
  "slow.yml": `- { chunks: ${
    JSON.stringify(Array.from({ length: 10 }, () => "x"))
  }, delayMs: 60, repeat: true }\n`,
  "limit.yml": "- { error: { status: 429, message: slow down, retryAfterMs: 90000 }, repeat: true }\n",
  "long.yml": "- { error: { status: 400, message: maximum context length }, repeat: true }\n",
  "key.yml": "- { error: { status: 401, message: wrong key }, repeat: true }\n",
  "late.yml": "- { error: { status: 408, message: too late, retryAfterMs: 1 }, repeat: true }\n",
};

interface Clients {
  readonly client: OpenAI;
  readonly server: ServedHere;
  readonly origin: string;
  /** What `compatible/NAME` asks, and `m`, which is `compatible/m`. */
  readonly provider: ProviderServer;
}

type Replies = (request: ProviderRequest, nth: number) => ProviderReply;

const OK: ProviderReply = { parts: [{ text: "ok" }] };

async function withClient(
  work: (clients: Clients) => Promise<void>,
  { replies = () => OK, settings = "" }: { readonly replies?: Replies; readonly settings?: string } = {},
): Promise<void> {
  await using provider = providerServer(replies);
  await using project = await testProject({
    ...FILES,
    "orrery.yaml": FILES["orrery.yaml"] + settings,
    "../config/orrery/config.yaml": JSON.stringify({
      models: { ...provider.settings, aliases: { m: "compatible/m" } },
    }),
  });
  Object.assign(project.env, { COMPATIBLE_KEY: TEST_KEY, OPENAI_API_KEY: TEST_KEY });
  await using server = await served(project, ["--quiet"]);
  const { origin } = server;
  const client = new OpenAI({ baseURL: `${origin}/v1`, apiKey: TOKEN, maxRetries: 0, timeout: 20_000 });
  await work({ client, server, origin, provider });
  assert.equal(server.told(), "");
}

const user = (content: string) => ({ role: "user" as const, content });

Deno.test("chat completions pass a request on to a configured model, with all that it says", async () => {
  await withClient(async ({ client, provider }) => {
    const asked = {
      messages: [
        { role: "developer" as const, content: "Be brief" },
        {
          role: "user" as const,
          content: [
            { type: "text" as const, text: "What is this?" },
            { type: "image_url" as const, image_url: { url: "data:image/png;base64,AAAA" } },
          ],
        },
      ],
      temperature: 0.5,
      top_p: 0.9,
      max_completion_tokens: 100,
      stop: ["END"],
      seed: 7,
      parallel_tool_calls: false,
    };
    const answer = await client.chat.completions.create({ model: "m", ...asked });
    assert.equal(answer.object, "chat.completion");
    assert.equal(answer.model, "m");
    assert.deepEqual(answer.choices[0]?.message, { role: "assistant", content: "Hello there" });
    assert.equal(answer.choices[0]?.finish_reason, "stop");
    const { max_completion_tokens, messages: [, question], ...same } = asked;
    assert.deepEqual(provider.requests[0]?.body, {
      ...same,
      model: "m",
      max_tokens: max_completion_tokens,
      messages: [{ role: "system", content: "Be brief" }, question],
      stream: true,
      stream_options: { include_usage: true },
    });
    const schema = { type: "object", properties: {}, additionalProperties: false };
    await client.chat.completions.create({
      model: "chat/test",
      messages: [user("x")],
      response_format: { type: "json_schema", json_schema: { name: "x", schema } },
    });
    const { response_format: format } = provider.requests[1]?.body;
    assert.equal(format.type, "json_schema");
    assert.deepEqual(format.json_schema.schema, schema);
  }, { replies: () => ({ parts: [{ text: "Hello there" }] }) });
});

Deno.test("a streamed answer comes in pieces, with its usage at the end", async () => {
  const replies: Replies = () => ({
    parts: [{ text: ["Hel", "lo"] }],
    finish: "length",
    usage: { input: 3, output: 2, cached: 1 },
    delayMs: 10,
  });
  await withClient(async ({ client }) => {
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
  }, { replies });
});

/** Calls the tool, and then says what it gave. */
const toolReplies: Replies = ({ body }) => {
  const last = body.messages.at(-1);
  if (last.role === "tool") return { parts: [{ text: `it said ${last.content}` }] };
  return {
    parts: [
      { call: { id: "c1", name: "weather", arguments: ['{"city":', '"Bonn"}'] } },
      { call: { id: "c2", name: "weather", arguments: '{"city":"Ulm"}' } },
    ],
  };
};

const WEATHER = {
  type: "function",
  function: {
    name: "weather",
    description: "The weather",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
} as const;

Deno.test("tools of the client are offered, called and answered, in one piece and streamed", async () => {
  await withClient(async ({ client, provider }) => {
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
    assert.equal(provider.requests[0]?.body.tool_choice, "required");
    assert.deepEqual(provider.requests[0]?.body.tools, [WEATHER]);
    const second = await client.chat.completions.create({
      model: "m",
      tools: [WEATHER],
      messages: [
        ...messages,
        { role: "assistant", content: null, tool_calls: [...calls] },
        { role: "tool", tool_call_id: "c1", content: "rain" },
      ],
    });
    assert.equal(second.choices[0]?.message.content, "it said rain");
    const streamed = client.chat.completions.stream({ ...asked, messages });
    assert.deepEqual(
      (await streamed.finalChatCompletion()).choices[0]?.message.tool_calls?.map((call) =>
        call.type === "function" ? [call.id, call.function.name, call.function.arguments] : []
      ),
      [["c1", "weather", '{"city":"Bonn"}'], ["c2", "weather", '{"city":"Ulm"}']],
    );
  }, { replies: toolReplies });
});

Deno.test("a call that was cut is not handed on, in one piece or streamed", async () => {
  for (const finish of ["length", "filter"] as const) {
    const replies: Replies = () => ({
      parts: [
        { call: { id: "c1", name: "weather", arguments: '{"city":"Bonn"}' } },
        { call: { id: "c2", name: "weather", arguments: '{"ci' } },
      ],
      finish,
    });
    await withClient(async ({ client }) => {
      const asked = { model: "m", tools: [WEATHER], messages: [user("How is it?")] };
      const whole = (await client.chat.completions.create(asked)).choices[0];
      const wanted = finish === "filter" ? "content_filter" : "length";
      assert.deepEqual([whole?.message.tool_calls?.map(({ id }) => id), whole?.finish_reason], [
        ["c1"],
        wanted,
      ]);
      const chunks = await Array.fromAsync(await client.chat.completions.create({ ...asked, stream: true }));
      const calls = chunks.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? []);
      assert.deepEqual(calls.map((call) => [call.id, call.function?.arguments]), [["c1", '{"city":"Bonn"}']]);
      assert.equal(chunks.at(-1)?.choices[0]?.finish_reason, wanted);
    }, { replies });
  }
});

Deno.test("the models are listed, and found by their names and their short ones, and nothing by what is none", async () => {
  await withClient(async ({ client }) => {
    const models = await Array.fromAsync(client.models.list());
    const own = models.filter(({ id }) => !id.startsWith("openai/")); // those of a key that is set
    assert.deepEqual(own.map(({ id, owned_by }) => [id, owned_by]), [
      ["orrery/agent/agents/support", "orrery"],
      ["orrery/profile/writer", "orrery"],
      ["orrery/profile/slow", "orrery"],
      ["orrery/profile/down", "orrery"],
      ["orrery/document/docs/down.md", "orrery"],
      ["orrery/document/docs/plan.md", "orrery"],
      ["orrery/document/docs/slow.md", "orrery"],
      ["orrery/prompt/ask/none", "orrery"],
      ["orrery/prompt/ask/one", "orrery"],
      ["orrery/prompt/ask/two", "orrery"],
      ["m", "compatible"],
      ["script/echo", "script"],
    ]);
    assert.equal((await client.models.retrieve("orrery/prompt/ask/one")).id, "orrery/prompt/ask/one");
    await assert.rejects(client.models.retrieve("orrery/prompt/ask/oen"), notFound("orrery/prompt/ask/one"));
    for (const name of ["orrery/agent/support", "orrery/document/docs/plan"]) {
      assert.equal((await client.models.retrieve(name)).owned_by, "orrery");
    }
    for (const name of ["orrery/", "orrery/agent/", "orrery/__proto__/x", "orrery/toString/support"]) {
      await assert.rejects(client.models.retrieve(name), OpenAI.NotFoundError);
    }
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
  await withClient(async ({ client, origin }) => {
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
    await assert.rejects(
      client.chat.completions.create({ ...asked, model: "scrpt/echo" }),
      notFound("script"),
    );
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
  const replies: Replies = () => ({
    parts: [{ text: "half" }, { text: "x".repeat(500) }],
    breakAfterBytes: 400,
  });
  await withClient(async ({ client }) => {
    const ask = (name: string, stream: boolean) =>
      client.chat.completions.create({ model: `script/${name}.yml`, messages: [user("hi")], stream }).then(
        () => assert.fail("it was answered"),
        (error: unknown) => {
          assert(error instanceof OpenAI.APIError);
          return error;
        },
      );
    for (const stream of [false, true]) {
      const limited = await ask("limit", stream);
      assert.deepEqual([limited.status, limited.type], [429, "rate_limit_error"]);
      assert.equal(limited.headers?.get("retry-after"), "90");
      const long = await ask("long", stream);
      assert.deepEqual([long.code, long.status], ["context_length_exceeded", 400]);
      assert.equal((await ask("key", stream)).status, 502);
    }
    assert.equal((await ask("late", false)).status, 502);
    const asked = { model: "m", messages: [user("hi")], stream: true as const };
    const stream = await client.chat.completions.create(asked);
    let text = "";
    await assert.rejects(async () => {
      for await (const { choices } of stream) text += choices[0]?.delta.content ?? "";
    }, OpenAI.APIError);
    assert.equal(text, "half");
  }, { replies });
});

/** Says one piece after the other for a long time. */
const ENDLESS: ProviderReply = { parts: [{ text: Array.from({ length: 4_000 }, () => "x") }], delayMs: 5 };

/** Speaks once, and thinks for ever. */
const THINKING: ProviderReply = {
  parts: [{ text: Array.from({ length: 20 }, () => "x") }],
  hangAfterBytes: 1_000,
};

Deno.test("a client that goes away ends the question to the model: in a stream, before its answer is whole, while the model thinks", async () => {
  const replies: Replies = ({ body }) => body.model === "thinking" ? THINKING : ENDLESS;
  await withClient(async ({ client, origin, provider }) => {
    // The only room there is is free again, each time.
    const isFree = async (): Promise<boolean> =>
      await client.chat.completions.create({ model: "script/echo", messages: [user("hi")] })
        .then(() => true, (error: unknown) => statusOf(error) !== 429);
    for (const model of ["compatible/endless", "compatible/thinking"]) {
      const asked = { model, messages: [user("hi")], stream: true as const };
      const stream = await client.chat.completions.create(asked);
      for await (const { choices } of stream) if (choices[0]?.delta.content?.startsWith("x")) break;
      await until(isFree);
    }
    const stop = new AbortController();
    const left = assert.rejects(askWhole(origin, "m", stop.signal), { name: "AbortError" });
    await until(() => provider.requests.length === 3);
    stop.abort();
    await left;
    await until(isFree);
  }, { replies, settings: "limits: { runs: 1 }\n" });
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

Deno.test("a profile, a document and a prompt answer with the value of their run", async () => {
  await withClient(async ({ client, server }) => {
    const ask = async (model: string, ...messages: OpenAI.ChatCompletionMessageParam[]) => {
      const { data, response } = await client.chat.completions.create({ model, messages }).withResponse();
      const run = await runOf(server, response.headers.get("orrery-run") ?? "");
      assert.equal(run.status, "done");
      assert.equal(typeof data.usage?.total_tokens, "number");
      return [run.kind, data.choices[0]?.message.content];
    };
    const history = [user("hi"), { role: "assistant" as const, content: "hello" }, user("go on")];
    assert.deepEqual(await ask("orrery/profile/writer", ...history), ["prompt", "ECHO[go on]"]);
    assert.deepEqual(await ask("orrery/document/docs/plan.md", user("make it short")), [
      "document",
      "# Plan\n\nThe plan.",
    ]);
    assert.deepEqual(await ask("orrery/prompt/ask/one", user("stars")), ["prompt", "ECHO[Tell of stars]"]);
    assert.deepEqual(await ask("orrery/prompt/ask/two", user('{"topic":"stars","tone":"dry"}')), [
      "prompt",
      "ECHO[Tell of stars, dry]",
    ]);
    assert.deepEqual(await ask("orrery/prompt/ask/none", user("now")), ["prompt", "ECHO[now]"]);
    const streamed = async (model: string) => {
      const stream = await client.chat.completions.create({
        model,
        messages: [user("x")],
        stream: true,
        stream_options: { include_usage: true },
      });
      const chunks = await Array.fromAsync(stream);
      assert.equal(typeof chunks.at(-1)?.usage?.total_tokens, "number");
      assert.equal(chunks.at(-2)?.choices[0]?.finish_reason, "stop");
      return chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("");
    };
    assert.equal(await streamed("orrery/profile/writer"), "ECHO[x]");
    assert.equal(await streamed("orrery/document/docs/plan.md"), "# Plan\n\nThe plan.");
  });
});

Deno.test("what is run takes no tools and no history that it would forget, says why it failed, and is not run again by the client itself", async () => {
  await withClient(async ({ client, origin, server }) => {
    const failing = async (
      body: object,
      status: number,
      code: string,
    ): Promise<InstanceType<typeof OpenAI.APIError>> => {
      const error = await client.post("/chat/completions", { body })
        .then(() => undefined, (thrown: unknown) => thrown);
      assert(error instanceof OpenAI.APIError);
      assert.deepEqual([error.status, error.code], [status, code], error.message);
      return error;
    };
    const messages = [user("hi")];
    const document = { model: "orrery/document/docs/down.md", messages };
    await failing({ ...document, tools: [WEATHER] }, 400, "tools_not_supported");
    await failing({ ...document, messages: [...messages, ...messages] }, 400, "history_not_supported");
    await failing({ ...document, response_format: { type: "json_object" } }, 400, "unsupported_value");
    const why = /Run \w{12}: .*the provider is down/;
    assert.match((await failing(document, 422, "run_failed")).message, why);
    const profile = { model: "orrery/profile/down", messages };
    assert.match((await failing(profile, 502, "provider_error")).message, why);
    assert.match(
      (await failing({ model: "orrery/prompt/ask/two", messages }, 400, "invalid_variables")).message,
      /topic, tone/,
    );
    await failing(
      { model: "orrery/prompt/ask/one", messages: [user('{"topik": "x"}')] },
      400,
      "invalid",
    );
    const again = new OpenAI({ baseURL: `${origin}/v1`, apiKey: TOKEN, maxRetries: 2, timeout: 20_000 });
    await assert.rejects(again.chat.completions.create(profile), OpenAI.InternalServerError);
    const history = [user("a"), { role: "assistant" as const, content: "b" }, user("c")];
    await assert.rejects(
      again.chat.completions.create({ model: "orrery/agent/support", messages: history }),
      OpenAI.ConflictError,
    );
    const { body: { runs } } = await server.json("/v1/runs");
    assert.ok(Array.isArray(runs) && runs.length === 3, "each was run once");
  });
});

Deno.test("requests that are passed on count like runs, a crowd before anything is waited for, and none leaves its count behind", async () => {
  const replies: Replies = ({ body }) => body.model === "m" ? { ...OK, delayMs: 100 } : OK;
  await withClient(async ({ client }) => {
    const ask = (name = "m") => client.chat.completions.create({ model: name, messages: [user("hi")] });
    const all = Array.from({ length: 10 }, () => ask().then(() => 200, (error: unknown) => statusOf(error)));
    assert.equal(await Promise.race(all), 429); // those beyond the limit wait for nothing
    assert.deepEqual((await Promise.all(all)).sort(), [200, 200, ...Array.from({ length: 8 }, () => 429)]);
    for (let n = 0; n < 3; n++) await assert.rejects(ask("nope"), OpenAI.NotFoundError);
    assert.equal((await ask()).choices[0]?.message.content, "ok");
    const slow = [1, 2].map(() =>
      client.chat.completions.create({ model: "orrery/profile/slow", messages: [user("hi")] })
    );
    await new Promise((resolve) => setTimeout(resolve, 150));
    await assert.rejects(
      client.chat.completions.create({ model: "orrery/profile/writer", messages: [user("hi")] }),
      (error) => error instanceof OpenAI.RateLimitError && error.headers.get("retry-after") === "1",
    );
    await Promise.all(slow);
  }, { replies, settings: "limits: { runs: 2 }\n" });
});

function statusOf(error: unknown): number | undefined {
  return error instanceof OpenAI.APIError ? error.status : undefined;
}

Deno.test("an agent goes on with the conversation that the history is of, also in a server that has begun anew", async () => {
  await using project = await testProject(FILES);
  const model = "orrery/agent/support";
  const history: OpenAI.ChatCompletionMessageParam[] = [];
  const clientOf = ({ origin }: ServedHere) =>
    new OpenAI({ baseURL: `${origin}/v1`, apiKey: TOKEN, maxRetries: 0, timeout: 20_000 });
  const talk = async (
    client: OpenAI,
    { text, stream }: { text: string; stream: boolean },
  ): Promise<string> => {
    history.push(user(text));
    const asked = { model, messages: history, user: "ada" };
    const answer = stream
      ? (await client.chat.completions.stream(asked).finalChatCompletion()).choices[0]?.message.content
      : (await client.chat.completions.create(asked)).choices[0]?.message.content;
    history.push({ role: "assistant", content: answer ?? "" });
    return answer ?? "";
  };
  const said = "ECHO[Reply.]\n\nAnd?";
  const conversations = async ({ json }: ServedHere): Promise<readonly Readonly<Record<string, unknown>>[]> =>
    (await json("/v1/conversations")).body.conversations as never;
  {
    await using server = await served(project);
    const client = clientOf(server);
    assert.match(await talk(client, { text: "hi", stream: false }), /ECHO\[Reply\.\]\n\nAnd\?$/);
    assert.equal(await talk(client, { text: "more", stream: true }), said);
  }
  await using server = await served(project);
  const client = clientOf(server);
  assert.equal(await talk(client, { text: "last", stream: false }), said);
  const [begun, ...others] = await conversations(server);
  assert.deepEqual([begun?.agent, begun?.user, others], ["agents/support.agent.yml", "ada", []]);
  const id = String(begun?.id);
  const conflict = (code: string) => (error: unknown): boolean =>
    error instanceof OpenAI.ConflictError && error.code === code;
  await assert.rejects(
    client.chat.completions.create({ model, messages: [...history, user("x")], user: "eve" }),
    conflict("unknown_history"),
  );
  await assert.rejects(
    client.chat.completions.create({ model, messages: history.slice(0, 3), user: "ada" }),
    OpenAI.ConflictError,
  );
  const named = (who: string) =>
    client.chat.completions.create({
      model,
      messages: [user("again")],
      user: who,
      metadata: { conversation: id },
    }).withResponse();
  await assert.rejects(named("eve"), (error) => {
    assert(error instanceof OpenAI.BadRequestError);
    assert.deepEqual([error.code, error.param], ["wrong_conversation", "metadata.conversation"]);
    return true;
  });
  const { data, response } = await named("ada");
  assert.equal(data.choices[0]?.message.content, said);
  assert.equal(response.headers.get("orrery-conversation"), id);
  await assert.rejects(
    client.chat.completions.create({ model, messages: [{ role: "system", content: "x" }, user("x")] }),
    /instructions of its own/,
  );
  // One that was removed is none that a history is of.
  history.push(user("again"), { role: "assistant", content: said });
  assert.equal((await server.ask(`/v1/runs/${id}`, { method: "DELETE" })).status, 204);
  await assert.rejects(
    client.chat.completions.create({ model, messages: [...history, user("on")], user: "ada" }),
    conflict("unknown_history"),
  );
});

Deno.test("on the wire a stream is events of data alone, without usage where none was asked for, and [DONE]", async () => {
  await withClient(async ({ origin }) => {
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
      assert(
        typeof chunk === "object" && chunk !== null && "object" in chunk &&
          chunk.object === "chat.completion.chunk",
        JSON.stringify(chunk),
      );
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
  await withClient(async ({ origin, server }) => {
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
    assert.deepEqual(await refused(origin, { body: " ".repeat(30 * 2 ** 20 + 1) }), [413, bad, "too-large"]);
    const text = { headers: { "content-type": "text/plain" }, body: "{}" };
    assert.deepEqual(await refused(origin, text), [415, bad, "content-type"]);
    const foreign = { headers: { origin: "http://evil.example" }, body: "{}" };
    assert.deepEqual(await refused(origin, foreign), [403, "permission_error", "origin"]);
    const nobody = { headers: { authorization: "", cookie: "orrery_1=x" }, body: "{}" };
    assert.deepEqual(await refused(origin, nobody), [401, "authentication_error", "token"]);
    assert.deepEqual((await server.json("/v1/runs")).body.runs, []);
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
  await withClient(async ({ origin }) => {
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
    await fc.assert(fc.asyncProperty(fc.oneof(body, fc.jsonValue()), asked), { numRuns: tries(200, 400) });
  });
});

Deno.test("what would change an answer and is not to be had is refused by its name", async () => {
  await withClient(async ({ client }) => {
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

Deno.test("a client that goes away ends what a profile says, and no document", async () => {
  await withClient(async ({ client, server, origin }) => {
    for (const model of ["orrery/profile/slow", "orrery/document/docs/slow.md"]) {
      const stop = new AbortController();
      const asked = { model, messages: [user("hi")] };
      const read = async () => {
        const { data, response } = await client.chat.completions.create({ ...asked, stream: true }, {
          signal: stop.signal,
        }).withResponse();
        setTimeout(() => stop.abort(), 150);
        for await (const _chunk of data);
        await response.body?.cancel();
      };
      await read().catch((error) =>
        assert(error instanceof OpenAI.APIUserAbortError || error.name === "AbortError", String(error))
      );
      await assert.rejects(askWhole(origin, model, AbortSignal.timeout(200)), { name: "TimeoutError" });
    }
    const ends = async (): Promise<readonly string[]> => {
      const { runs } = (await server.json("/v1/runs")).body;
      assert.ok(Array.isArray(runs));
      return runs.map(({ kind, status }) => `${kind} ${status}`).sort();
    };
    await until(async () => (await ends()).every((end) => !end.includes("running")));
    assert.deepEqual(await ends(), ["document done", "document done", "prompt stopped", "prompt stopped"]);
  });
});

Deno.test("the AI SDK's provider streams calls and usage, asks for JSON, and hears of each failure", async () => {
  const replies: Replies = (request) => {
    switch (request.body.model) {
      case "json":
        return { parts: [{ text: '{"city":"Bonn"}' }] };
      case "counted":
        return { parts: [{ text: "Hello" }], usage: { input: 3, output: 2 } };
      case "broken":
        return { parts: [{ text: "half" }, { text: "x".repeat(500) }], breakAfterBytes: 400 };
      case "endless":
        return ENDLESS;
      default:
        return toolReplies(request, 0);
    }
  };
  await withClient(async ({ origin, provider: asked }) => {
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
    assert.equal((await Array.fromAsync(streamed.textStream)).join(""), "it said rain in Ulm");
    const counted = streamText({ model: provider("compatible/counted"), prompt: "hi", maxRetries });
    assert.equal(await counted.text, "Hello");
    const { inputTokens, outputTokens } = await counted.totalUsage;
    assert.deepEqual([inputTokens, outputTokens], [3, 2]);
    const { output } = await generateText({
      model: provider("chat/json"),
      prompt: "Where?",
      output: Output.object({ schema }),
      maxRetries,
    });
    assert.deepEqual(output, { city: "Bonn" });
    const { response_format: format } = asked.requests.find(({ body }) => body.model === "json")?.body;
    assert.deepEqual(format.json_schema.schema.required, ["city"]);
    await assert.rejects(
      generateText({ model: provider("script/limit.yml"), prompt: "hi", maxRetries }),
      (error) => {
        assert(APICallError.isInstance(error));
        assert.deepEqual([error.statusCode, error.isRetryable], [429, true]);
        return true;
      },
    );
    const stranger = createOpenAICompatible({ name: "orrery", baseURL, apiKey: "wrong" });
    await assert.rejects(generateText({ model: stranger("m"), prompt: "hi", maxRetries }), (error) => {
      assert(APICallError.isInstance(error));
      assert.deepEqual([error.statusCode, error.isRetryable], [401, false]);
      return true;
    });
    const errors: unknown[] = [];
    const half = streamText({
      model: provider("compatible/broken"),
      prompt: "hi",
      maxRetries,
      onError: ({ error }) => void errors.push(error),
    });
    let text = "";
    for await (const part of half.stream) if (part.type === "text-delta") text += part.text;
    assert.equal(text, "half");
    assert.equal(errors.length, 1);
    const stop = new AbortController();
    const left = streamText({
      model: provider("compatible/endless"),
      prompt: "hi",
      maxRetries,
      abortSignal: stop.signal,
    });
    for await (const part of left.stream) if (part.type === "text-delta") stop.abort();
    // Whatever would be told of it would be told by now.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }, { replies });
});

Deno.test("the AI SDK's provider chats, streams and calls tools", async () => {
  await withClient(async ({ origin }) => {
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
    assert.equal(called.text, "it said rain in Ulm");
    await assert.rejects(
      generateText({ model: provider("nope"), prompt: "hi", maxRetries }),
      /Unknown model "nope"/,
    );
  }, { replies: toolReplies });
});
