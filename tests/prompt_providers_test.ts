// What is sent to real providers for a turn of a prompt: arguments, formats, what they run themselves; and what cannot be sent.
import assert from "node:assert/strict";
import { z } from "zod";
import {
  AgentError,
  type AnyPrompt,
  createAgent,
  defineGadget,
  definePrompt,
  memoryFiles,
  type Model,
  type Reply,
  systemClock,
} from "../mod.ts";
import type { ModelSettings } from "../lib/core/model_settings.ts";
import { openModels } from "../lib/models/open_models.ts";
import { type ProviderReply, type ProviderServer, providerServer } from "./_provider_server.ts";

const YES: ProviderReply = { parts: [{ text: "yes" }] };

async function modelOf(id: string, provider: ProviderServer, settings: ModelSettings = {}): Promise<Model> {
  const { providers = {} } = provider.settings;
  return await openModels({
    settings: { ...provider.settings, ...settings, providers: { ...providers, ...settings.providers } },
    env: provider.env,
    fetch,
    clock: systemClock,
    files: memoryFiles(),
    retry: { baseMs: 1 },
  }).find(id);
}

interface Given {
  readonly provider: ProviderServer;
  readonly prompt?: AnyPrompt;
  readonly modelArgs?: Readonly<Record<string, unknown>>;
  readonly settings?: ModelSettings;
}

const PLAIN = definePrompt({ path: "p", template: "Go" });

async function ask(
  id: string,
  { provider, prompt = PLAIN, modelArgs = {}, settings }: Given,
): Promise<Reply> {
  const model = await modelOf(id, provider, settings);
  const agent = createAgent({ name: "a", model, system: "", limits: { llmRecalls: 0 }, gadgets: [] });
  return await agent.open().ask(prompt, {}, { modelArgs });
}

/** The body of the one request. */
// deno-lint-ignore no-explicit-any
async function sent(id: string, given: Omit<Given, "provider">): Promise<any> {
  await using provider = providerServer(YES);
  await ask(id, { ...given, provider }).catch((error: unknown) => {
    if (!(error instanceof AgentError && error.code === "exceptions")) throw error;
  });
  return provider.requests[0]?.body;
}

/** How a turn ends that must not ask anybody. */
async function refused(id: string, given: Omit<Given, "provider">): Promise<string> {
  await using provider = providerServer(YES);
  const error = await ask(id, { ...given, provider }).then(
    () => assert.fail("it was asked"),
    (error: unknown) => error,
  );
  assert.ok(error instanceof AgentError, Deno.inspect(error));
  assert.equal(error.code, "config", error.message);
  assert.equal(provider.requests.length, 0);
  return error.message;
}

// Arguments

const KNOWN = {
  temperature: 0.5,
  top_p: 0.25,
  max_tokens: 100,
  stop: ["A", "B"],
  seed: null,
};

Deno.test("modelArgs: the names that everybody knows go where each provider has them", async () => {
  const chat = await sent("chat/gpt-4o", {
    modelArgs: { ...KNOWN, seed: 7, presence_penalty: 1, frequencyPenalty: 2 },
  });
  assert.deepEqual(
    [
      chat.temperature,
      chat.top_p,
      chat.max_tokens,
      chat.stop,
      chat.seed,
      chat.presence_penalty,
      chat.frequency_penalty,
    ],
    [0.5, 0.25, 100, ["A", "B"], 7, 1, 2],
  );
  const responses = await sent("openai/gpt-4o", { modelArgs: KNOWN });
  assert.deepEqual([responses.temperature, responses.top_p, responses.max_output_tokens], [0.5, 0.25, 100]);
  const anthropic = await sent("anthropic/claude-3-7-sonnet-latest", {
    modelArgs: { temperature: 0.5, maxOutputTokens: 100, stop_sequences: "A", topK: 5 },
  });
  assert.deepEqual(
    [anthropic.temperature, anthropic.max_tokens, anthropic.stop_sequences, anthropic.top_k],
    [0.5, 100, ["A"], 5],
  );
  const google = await sent("google/gemini-2.5-pro", { modelArgs: { ...KNOWN, seed: 7, top_k: 3 } });
  const { temperature, topP, topK, maxOutputTokens, stopSequences, seed } = google.generationConfig;
  assert.deepEqual([temperature, topP, topK, maxOutputTokens, stopSequences, seed], [0.5, 0.25, 3, 100, [
    "A",
    "B",
  ], 7]);
  const compatible = await sent("compatible/test", { modelArgs: { ...KNOWN, max_completion_tokens: 50 } });
  assert.deepEqual([compatible.temperature, compatible.max_tokens, compatible.stop], [0.5, 50, ["A", "B"]]);
});

Deno.test("modelArgs: the rest are options of the provider, over those of the settings", async () => {
  const settings: ModelSettings = {
    providers: { openai: { options: { user: "settings", serviceTier: "flex", store: true } } },
  };
  await using provider = providerServer(YES);
  settings.providers?.openai && Object.assign(settings.providers.openai, provider.settings.providers?.openai);
  await ask("openai/gpt-5", {
    provider,
    settings,
    modelArgs: {
      user: "agent",
      reasoning_effort: "low",
      reasoningSummary: "auto",
      parallelToolCalls: false,
      metadata: { a_b: "c" },
    },
  });
  const [body] = provider.requests.map((request) => request.body);
  assert.deepEqual(
    [body.user, body.service_tier, body.reasoning, body.parallel_tool_calls, body.metadata, body.store],
    ["agent", "flex", { effort: "low", summary: "auto" }, false, { a_b: "c" }, true],
  );
  const anthropic = await sent("anthropic/claude-3-7-sonnet-latest", {
    modelArgs: { thinking: { type: "enabled", budgetTokens: 2000 }, metadata: { userId: "u" } },
  });
  assert.deepEqual([anthropic.thinking, anthropic.metadata], [{ type: "enabled", budget_tokens: 2000 }, {
    user_id: "u",
  }]);
  const google = await sent("google/gemini-2.5-pro", {
    modelArgs: { thinking_config: { thinkingBudget: 0 } },
  });
  assert.deepEqual(google.generationConfig.thinkingConfig, { thinkingBudget: 0 });
  const compatible = await sent("compatible/test", {
    modelArgs: { chat_template_kwargs: { enable_thinking: false }, min_p: 0.1, reasoning_effort: "high" },
  });
  const effort = await sent("anthropic/claude-opus-4-6", { modelArgs: { reasoning_effort: "low" } });
  assert.equal(effort.output_config.effort, "low");
  assert.deepEqual([compatible.chat_template_kwargs, compatible.min_p, compatible.reasoning_effort], [
    { enable_thinking: false },
    0.1,
    "high",
  ]);
});

Deno.test("modelArgs: what cannot be a setting ends the turn before anybody is asked", async () => {
  const cases: readonly (readonly [Record<string, unknown>, string])[] = [
    [{ temperature: "hot" }, 'modelArgs.temperature must be a number, found "hot"'],
    [{ top_p: Number.NaN }, "modelArgs.top_p must be a number, found null"],
    [{ max_tokens: 1.5 }, "modelArgs.max_tokens must be a whole number, found 1.5"],
    [{ stop: ["A", 1] }, 'modelArgs.stop must be a text or a list of texts, found ["A",1]'],
    [{ user: () => 1 }, "modelArgs.user is not JSON: found a function"],
  ];
  for (const [modelArgs, says] of cases) {
    assert.equal(await refused("openai/gpt-5", { modelArgs }), `agent "a": ${says}`);
  }
});

// Formats

const NUMBER = z.strictObject({ n: z.number() });

Deno.test("format: an object's schema is sent where the provider takes one", async () => {
  const prompt = definePrompt({ path: "p", template: "Go", format: NUMBER });
  const schema = {
    type: "object",
    properties: { n: { type: "number" } },
    required: ["n"],
    additionalProperties: false,
  };
  const without$ = ({ $schema: _, ...rest }: Record<string, unknown>): unknown => rest;
  const openai = await sent("openai/gpt-5", { prompt });
  assert.deepEqual([openai.text.format.type, openai.text.format.strict], ["json_schema", true]);
  assert.deepEqual(without$(openai.text.format.schema), schema);
  const chat = await sent("chat/gpt-4o", { prompt });
  assert.deepEqual(without$(chat.response_format.json_schema.schema), schema);
  const google = await sent("google/gemini-2.5-pro", { prompt });
  assert.equal(google.generationConfig.responseMimeType, "application/json");
  assert.deepEqual(without$(google.generationConfig.responseJsonSchema), schema);
  const anthropic = await sent("anthropic/claude-sonnet-4-5", { prompt });
  assert.deepEqual(without$(anthropic.output_config.format.schema), schema);
});

Deno.test("format: what a provider would refuse is not sent, and the answer is checked all the same", async () => {
  const list = definePrompt({
    path: "p",
    template: "Go",
    format: { type: "array", items: { type: "number" } },
  });
  assert.equal((await sent("openai/gpt-5", { prompt: list })).text, undefined);
  assert.equal((await sent("chat/gpt-4o", { prompt: list })).response_format, undefined);
  assert.equal((await sent("anthropic/claude-sonnet-4-5", { prompt: list })).output_config, undefined);
  assert.equal(
    (await sent("google/gemini-2.5-pro", { prompt: list })).generationConfig.responseJsonSchema.type,
    "array",
  );
  await using provider = providerServer([{ parts: [{ text: "yes" }] }, { parts: [{ text: "[1]" }] }]);
  assert.deepEqual((await ask("openai/gpt-5", { provider, prompt: list })).parsed, [1]);
  assert.equal(provider.requests.length, 2);
});

Deno.test("format: JSON without a schema is asked for where the messages say so too", async () => {
  const dates = z.union([z.custom<Date>(), z.number()]); // no JSON Schema says this
  const silent = definePrompt({ path: "p", template: "Go", format: dates });
  const said = definePrompt({ path: "p", template: "Give it as JSON.", format: dates });
  assert.equal((await sent("openai/gpt-5", { prompt: silent })).text, undefined);
  assert.deepEqual((await sent("openai/gpt-5", { prompt: said })).text, { format: { type: "json_object" } });
  assert.equal((await sent("groq/llama-3.3-70b-versatile", { prompt: silent })).response_format, undefined);
  assert.deepEqual((await sent("groq/llama-3.3-70b-versatile", { prompt: said })).response_format, {
    type: "json_object",
  });
  assert.equal((await sent("compatible/test", { prompt: silent })).response_format, undefined);
  assert.deepEqual((await sent("compatible/test", { prompt: said })).response_format, {
    type: "json_object",
  });
  const google = await sent("google/gemini-2.5-pro", { prompt: silent });
  assert.equal(google.generationConfig.responseMimeType, "application/json");
  await sent("anthropic/claude-sonnet-4-5", { prompt: said });
  await using provider = providerServer({ parts: [{ text: "1" }], usageAtEnd: true });
  await ask("mistral/mistral-large-latest", { provider, prompt: silent });
  assert.deepEqual(provider.requests[0]?.body.response_format, { type: "json_object" });
});

// What the provider runs

const SEARCH = { path: "p", template: "Go", addons: { webSearch: true } } as const;
const web = definePrompt(SEARCH);

const own = (name: string) => defineGadget({ name, description: name, run: () => "ran" });

Deno.test("addons: a web search is the provider's own tool, beside ours", async () => {
  const both = definePrompt({ ...SEARCH, tools: [own("look")] });
  const openai = await sent("openai/gpt-5", { prompt: both });
  assert.deepEqual(openai.tools.map(({ type, name }: Record<string, unknown>) => name ?? type), [
    "look",
    "web_search",
  ]);
  const xai = await sent("xai/grok-4", { prompt: both });
  assert.deepEqual(xai.tools.map(({ type, name }: Record<string, unknown>) => name ?? type), [
    "look",
    "web_search",
  ]);
  const anthropic = await sent("anthropic/claude-sonnet-4-5", { prompt: both });
  assert.deepEqual(anthropic.tools.map(({ type, name }: Record<string, unknown>) => [type, name]), [
    [undefined, "look"],
    ["web_search_20250305", "web_search"],
  ]);
  assert.deepEqual((await sent("google/gemini-2.5-pro", { prompt: web })).tools, [{ googleSearch: {} }]);
  const google = await sent("google/gemini-3-pro-preview", { prompt: both });
  assert.deepEqual(google.tools.map((tool: object) => Object.keys(tool)[0]), [
    "googleSearch",
    "functionDeclarations",
  ]);
});

Deno.test("mcp: servers go to providers that connect to them", async () => {
  const prompt = definePrompt({
    path: "p",
    template: "Go",
    mcp: [{ label: "docs", url: "https://docs.example/mcp" }, {
      label: "mail",
      url: "https://mail.example/mcp",
      approval: "auto",
      allowedTools: ["read"],
    }],
  });
  assert.deepEqual((await sent("openai/gpt-5", { prompt })).tools, [
    { type: "mcp", server_label: "docs", server_url: "https://docs.example/mcp", require_approval: "never" },
    {
      type: "mcp",
      server_label: "mail",
      server_url: "https://mail.example/mcp",
      allowed_tools: ["read"],
      require_approval: "never",
    },
  ]);
  assert.deepEqual((await sent("xai/grok-4", { prompt })).tools, [
    { type: "mcp", server_label: "docs", server_url: "https://docs.example/mcp" },
    { type: "mcp", server_label: "mail", server_url: "https://mail.example/mcp", allowed_tools: ["read"] },
  ]);
  await using provider = providerServer(YES);
  await ask("anthropic/claude-sonnet-4-5", { provider, prompt });
  const [request] = provider.requests;
  assert.deepEqual(request?.body.mcp_servers, [
    { type: "url", name: "docs", url: "https://docs.example/mcp" },
    {
      type: "url",
      name: "mail",
      url: "https://mail.example/mcp",
      tool_configuration: { enabled: true, allowed_tools: ["read"] },
    },
  ]);
  assert.match(request?.headers.get("anthropic-beta") ?? "", /mcp-client/);
});

Deno.test("what a provider cannot do ends the turn before it is asked", async () => {
  const computer = definePrompt({ path: "p", template: "Go", addons: { computerUse: true } });
  const server = (more: object) =>
    definePrompt({
      path: "p",
      template: "Go",
      mcp: [{ label: "s", url: "https://s.example", ...more } as never],
    });
  const command = definePrompt({ path: "p", template: "Go", mcp: [{ label: "s", command: "server" }] });
  const INSTEAD = `name their tools in "tools" instead (mcpServers in orrery.yaml)`;
  const cases: readonly (readonly [string, AnyPrompt, string])[] = [
    ["chat/gpt-4o", web, 'addon "webSearch" is not supported by the model'],
    ["compatible/test", web, 'addon "webSearch" is not supported by the model'],
    ["mistral/mistral-large-latest", web, 'addon "webSearch" is not supported by the model'],
    ["groq/llama-3.3-70b-versatile", web, 'addon "webSearch" is not supported by the model'],
    ["google/gemini-1.5-pro", web, 'addon "webSearch" is not supported by the model'],
    ["openai/gpt-5", computer, 'addon "computerUse" is not supported by the model'],
    ["google/gemini-2.5-pro", computer, 'addon "computerUse" is not supported by the model'],
    ["compatible/test", server({}), `mcp servers are not supported by the model: ${INSTEAD}`],
    [
      "openai/gpt-5",
      command,
      `openai/gpt-5: mcp "s" is started by a command, which its provider cannot do: ${INSTEAD}`,
    ],
    [
      "anthropic/claude-sonnet-4-5",
      server({ approval: "manual" }),
      'anthropic/claude-sonnet-4-5: mcp "s": nobody can be asked before its provider calls a tool: use approval never or auto',
    ],
    [
      "google/gemini-2.5-pro",
      definePrompt({ ...SEARCH, tools: [own("look")] }),
      "google/gemini-2.5-pro: it takes either tools or the addon webSearch, not both: use a newer model, or two prompts",
    ],
    [
      "anthropic/claude-sonnet-4-5",
      definePrompt({ ...SEARCH, tools: [own("web_search")] }),
      'anthropic/claude-sonnet-4-5: the tool "web_search" has the name of the provider\'s own: rename it, or leave the addon out',
    ],
    [
      "anthropic/claude-sonnet-4-5",
      computer,
      'anthropic/claude-sonnet-4-5: addon "computerUse" needs a tool named "computer" that does what the model asks of it',
    ],
  ];
  for (const [id, prompt, says] of cases) {
    assert.equal(await refused(id, { prompt }), `agent "a": ${says}`, id);
  }
});

Deno.test("a model that takes over is not asked for what it cannot do either", async () => {
  await using provider = providerServer([{ status: 400, message: "no" }, YES]);
  const settings: ModelSettings = { fallback: { "openai/gpt-5": ["compatible/test"] } };
  await assert.rejects(ask("openai/gpt-5", { provider, prompt: web, settings }), (error) => {
    assert.ok(error instanceof AgentError);
    assert.deepEqual([error.code, error.message], [
      "config",
      'agent "a": compatible/test: addon "webSearch" is not supported by the model',
    ]);
    return true;
  });
  assert.equal(provider.requests.length, 1);
});

// A computer

const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

Deno.test("addons: a computer's actions are calls of the tool of that name, and its pictures are sent as pictures", async () => {
  const done: unknown[] = [];
  const computer = defineGadget({
    name: "computer",
    description: "Does it.",
    input: { type: "object" },
    run: (action) => {
      done.push(action);
      return done.length === 1 ? `data:image/png;base64,${PIXEL}` : "clicked";
    },
  });
  const prompt = definePrompt({
    path: "p",
    template: "Go",
    addons: { computerUse: { displayWidth: 800 } },
    tools: [computer, own("look")],
  });
  const call = (input: object): ProviderReply => ({
    parts: [{ call: { name: "computer", arguments: JSON.stringify(input) } }],
  });
  await using provider = providerServer([
    call({ action: "screenshot" }),
    call({ action: "left_click", coordinate: [1, 2] }),
    YES,
  ]);
  const { text } = await ask("anthropic/claude-sonnet-4-5", { provider, prompt });
  assert.equal(text, "yes");
  assert.deepEqual(done, [{ action: "screenshot" }, { action: "left_click", coordinate: [1, 2] }]);
  const [first, , last] = provider.requests.map(({ body }) => body);
  assert.deepEqual(first.tools.map(({ name, type }: Record<string, unknown>) => type ?? name), [
    "look",
    "computer_20250124",
  ]);
  assert.deepEqual(
    first.tools.filter(({ name }: Record<string, unknown>) => name === "computer").map(
      (
        { display_width_px, display_height_px }: Record<string, unknown>,
      ) => [display_width_px, display_height_px],
    ),
    [[800, 800]],
  );
  // deno-lint-ignore no-explicit-any
  const results = last.messages.flatMap(({ content }: any) => content).filter(({ type }: any) =>
    type === "tool_result"
  );
  assert.deepEqual(results[0].content, [
    {
      type: "text",
      text:
        'Return of calling function computer with arguments {"action":"screenshot"}:\n---\n(the picture below)\n---',
    },
    { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL } },
  ]);
  assert.match(JSON.stringify(results[1].content), /clicked/);
  for (
    const [id, type] of [
      ["claude-opus-4-20250514", "computer_20250124"],
      ["claude-opus-4-6", "computer_20251124"],
      ["claude-sonnet-5-5", "computer_toolset_20260801"],
    ]
  ) {
    const { tools } = await sent(`anthropic/${id}`, { prompt });
    assert.ok(
      tools.some((tool: Record<string, unknown>) => tool.type === type),
      `${id}: ${JSON.stringify(tools)}`,
    );
  }
});

// Calls that are not ours

const sse = (events: readonly object[]): ProviderReply => ({
  status: 200,
  contentType: "text/event-stream",
  body: events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""),
});

const item = (output_index: number, body: object): readonly object[] => [
  { type: "response.output_item.added", output_index, item: body },
  { type: "response.output_item.done", output_index, item: body },
];

const thought = (output_index: number, id: string): readonly object[] =>
  item(output_index, {
    id,
    type: "reasoning",
    status: "completed",
    summary: [],
    encrypted_content: `sealed ${id}`,
  });

const said = (output_index: number, text: string): readonly object[] => [
  ...item(output_index, {
    id: `msg_${output_index}`,
    type: "message",
    status: "in_progress",
    role: "assistant",
    content: [],
  }).slice(
    0,
    1,
  ),
  {
    type: "response.output_text.delta",
    item_id: `msg_${output_index}`,
    output_index,
    content_index: 0,
    delta: text,
  },
  {
    type: "response.output_item.done",
    output_index,
    item: {
      id: `msg_${output_index}`,
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
    },
  },
];

const RESPONSE = { id: "resp_1", object: "response", created_at: 1, model: "test", output: [] };
const response = (...items: readonly (readonly object[])[]): ProviderReply =>
  sse([
    { type: "response.created", response: { ...RESPONSE, status: "in_progress" } },
    ...items.flat(),
    {
      type: "response.completed",
      response: {
        ...RESPONSE,
        status: "completed",
        usage: {
          input_tokens: 1,
          output_tokens: 1,
          total_tokens: 2,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens_details: { reasoning_tokens: 0 },
        },
      },
    },
  ]);

const searched = (output_index: number): readonly object[] =>
  item(output_index, {
    id: "ws_1",
    type: "web_search_call",
    status: "completed",
    action: { type: "search", query: "x" },
  });
const asked = (output_index: number): readonly object[] =>
  item(output_index, {
    id: "mcp_1",
    type: "mcp_call",
    status: "completed",
    name: "read",
    arguments: "{}",
    server_label: "docs",
    output: "read",
  });
const calls = (output_index: number): readonly object[] =>
  item(output_index, {
    id: "fc_1",
    type: "function_call",
    call_id: "call_1",
    name: "look",
    arguments: "{}",
    status: "completed",
  });

for (const id of ["openai/gpt-5", "xai/grok-4"]) {
  Deno.test(`${id}: what the provider called is no call of ours, and its thoughts of it are not given back`, async () => {
    const prompt = definePrompt({
      ...SEARCH,
      mcp: [{ label: "docs", url: "https://docs.example/mcp" }],
      tools: [own("look")],
    });
    await using provider = providerServer([
      response(thought(0, "rs_1"), searched(1), thought(2, "rs_2"), asked(3), thought(4, "rs_3"), calls(5)),
      response(thought(0, "rs_4"), searched(1), said(2, "found")),
    ]);
    const { text, state } = await ask(id, { provider, prompt });
    assert.equal(text, "found");
    assert.deepEqual(state.calls.map(({ name }) => name), ["look"]);
    const second: Record<string, unknown>[] = provider.requests[1]?.body.input;
    assert.deepEqual(second.map(({ type, role, id }) => type === "reasoning" ? id : type ?? role), [
      "user",
      "rs_3",
      "function_call",
      "function_call_output",
    ]);
  });
}

Deno.test("anthropic: a search and a server's call are no calls of ours", async () => {
  const prompt = definePrompt({
    ...SEARCH,
    mcp: [{ label: "docs", url: "https://docs.example/mcp" }],
    tools: [own("look")],
  });
  const block = (index: number, content_block: object, ...deltas: readonly object[]): readonly object[] => [
    { type: "content_block_start", index, content_block },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
  await using provider = providerServer([
    sse([
      {
        type: "message_start",
        message: {
          id: "m",
          type: "message",
          role: "assistant",
          model: "test",
          content: [],
          stop_reason: null,
          usage: { input_tokens: 1, output_tokens: 1 },
        },
      },
      ...block(0, { type: "server_tool_use", id: "srv_1", name: "web_search", input: {} }, {
        type: "input_json_delta",
        partial_json: '{"query":"x"}',
      }),
      ...block(1, { type: "web_search_tool_result", tool_use_id: "srv_1", content: [] }),
      ...block(2, { type: "mcp_tool_use", id: "mcp_1", name: "read", server_name: "docs", input: {} }),
      ...block(3, { type: "mcp_tool_result", tool_use_id: "mcp_1", is_error: false, content: [] }),
      ...block(4, { type: "text", text: "" }, { type: "text_delta", text: "I look." }),
      ...block(5, { type: "tool_use", id: "call_1", name: "look", input: {} }, {
        type: "input_json_delta",
        partial_json: "{}",
      }),
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 1 } },
      { type: "message_stop" },
    ]),
    YES,
  ]);
  const { text, state } = await ask("anthropic/claude-sonnet-4-5", { provider, prompt });
  assert.equal(text, "yes");
  assert.deepEqual(state.calls.map(({ name }) => name), ["look"]);
});

Deno.test("google: a search of the provider's beside a call of ours", async () => {
  const prompt = definePrompt({ ...SEARCH, tools: [own("look")] });
  const part = (part: object): object => ({
    candidates: [{ content: { parts: [part], role: "model" }, index: 0 }],
  });
  await using provider = providerServer([
    sse([
      part({ toolCall: { id: "t", toolType: "GOOGLE_SEARCH_WEB", args: { queries: ["x"] } } }),
      part({ toolResponse: { id: "t", toolType: "GOOGLE_SEARCH_WEB", response: {} } }),
      part({ functionCall: { name: "look", args: {} }, thoughtSignature: "signed" }),
      { candidates: [{ content: { parts: [], role: "model" }, finishReason: "STOP", index: 0 }] },
    ]),
    YES,
  ]);
  const { text, state } = await ask("google/gemini-3-pro-preview", { provider, prompt });
  assert.equal(text, "yes");
  assert.deepEqual(state.calls.map(({ name }) => name), ["look"]);
});

Deno.test("anthropic: after the last round the tools are declared still, and forbidden", async () => {
  const tools = [own("look")];
  const prompt = definePrompt({ path: "p", template: "Go", tools });
  await using provider = providerServer([{ parts: [{ call: { name: "look", arguments: "{}" } }] }, YES]);
  const model = await modelOf("anthropic/claude-sonnet-4-5", provider);
  const agent = createAgent({ name: "a", model, system: "", limits: { interruptSteps: 1 } });
  assert.equal((await agent.open().ask(prompt)).text, "yes");
  const last = provider.requests.at(-1)?.body;
  assert.deepEqual([last.tools.map(({ name }: Record<string, unknown>) => name), last.tool_choice], [
    ["look"],
    {
      type: "none",
    },
  ]);
});
