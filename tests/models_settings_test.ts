// What the settings of models mean, as `orrery ask` and `orrery list models` tell it.
import assert from "node:assert/strict";
import { join } from "node:path";
import { testProject } from "./_project.ts";
import { providerProject, type ProviderReply } from "./_provider_project.ts";

const LOCAL = { type: "openai-compatible", baseURL: "http://127.0.0.1:11434/v1" } as const;

interface Given {
  readonly models?: unknown;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs `orrery` for a user with these settings. */
async function run(args: readonly string[], { models, env = {} }: Given) {
  await using project = await testProject();
  const folder = join(project.env.XDG_CONFIG_HOME ?? "", "orrery");
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(join(folder, "config.yaml"), JSON.stringify({ models: models ?? {} }));
  return await project.run(args, { env });
}

/** Why a model cannot be asked. */
async function errorOf(name: string | undefined, given: Given = {}): Promise<string> {
  const chosen = name === undefined ? [] : ["-m", name];
  const { code, stdout, stderr } = await run(["ask", "Hi", "--quiet", ...chosen], given);
  assert.deepEqual([code, stdout], [2, ""]);
  return stderr;
}

// deno-lint-ignore no-explicit-any
async function list(given: Given): Promise<any> {
  const { code, stdout, stderr } = await run(["list", "models", "--json"], given);
  assert.deepEqual([code, stderr], [0, ""]);
  return JSON.parse(stdout);
}

/** A name that means nothing is one of the words of the command. */
const unknown = (message: string) =>
  `error: --model: ${message} orrery list models shows what there is.\nTry: orrery ask --help\n`;

Deno.test("models: ids are split at the first separator", async () => {
  const ids = { a: "local:qwen3:8b", b: "groq/openai/gpt-oss", c: "xai/b" };
  const { aliases } = await list({ models: { aliases: ids, providers: { local: LOCAL } } });
  assert.deepEqual(aliases.map(({ id }: { id: string }) => id), [
    "local/qwen3:8b",
    "groq/openai/gpt-oss",
    "xai/b",
  ]);
  for (const name of ["a", "a/", "/a", ":"]) {
    const message = `Unknown model "${name}": expected provider/model or an alias of models.aliases.`;
    assert.equal(await errorOf(name), unknown(message));
  }
});

Deno.test("models: aliases are followed, and a circle is named", async () => {
  const aliases = { fast: "small", small: "local:qwen3:8b" };
  const models = { default: "fast", aliases, providers: { local: LOCAL } };
  const { default: chosen, aliases: found } = await list({ models });
  assert.equal(chosen, "fast");
  assert.deepEqual(found, [
    { name: "fast", id: "local/qwen3:8b", fallback: [] },
    { name: "small", id: "local/qwen3:8b", fallback: [] },
  ]);
  const circle = { aliases: { a: "b", b: "c", c: "b" } };
  assert.match(
    await errorOf("a", { models: circle }),
    /config\.yaml:1:\d+: error: The aliases of models go round in a circle: b -> c -> b\n/,
  );
});

Deno.test("models: what is unknown is told with what is near", async () => {
  const models = { aliases: { fast: "local/x" }, providers: { local: LOCAL } };
  assert.equal(
    await errorOf("fsat", { models }),
    unknown(
      'Unknown model "fsat": expected provider/model or an alias of models.aliases. Did you mean "fast"?',
    ),
  );
  assert.equal(
    await errorOf("gpt-5-mini", { models }),
    unknown(
      'Unknown model "gpt-5-mini": expected provider/model or an alias of models.aliases. Did you mean "openai/gpt-5-mini"?',
    ),
  );
  assert.equal(
    await errorOf("antropic/x", { models }),
    unknown(
      'The model provider "antropic" is unknown. Did you mean "anthropic"? Providers are script, replay, local, openai, anthropic, google, mistral, xai, groq; more can be set under models.providers.',
    ),
  );
  assert.equal(
    await errorOf("openai-compatible/x"),
    unknown(
      'The model provider "openai-compatible" is a type of provider, not one itself: give one a name under models.providers.',
    ),
  );
});

Deno.test("models: a missing key names its variables", async () => {
  const end = '. "orrery list models" shows for which providers there is a key.\n';
  assert.equal(
    await errorOf("openai/gpt-5"),
    `error: The model openai/gpt-5 needs a key: set the variable OPENAI_API_KEY; models.providers.openai.apiKeyEnv can name another one${end}`,
  );
  assert.equal(
    await errorOf("google/gemini-2.5-pro", { env: { GEMINI_API_KEY: " " } }),
    `error: The model google/gemini-2.5-pro needs a key: set the variable GOOGLE_GENERATIVE_AI_API_KEY (GEMINI_API_KEY or GOOGLE_API_KEY will do too); models.providers.google.apiKeyEnv can name another one${end}`,
  );
  const models = { providers: { local: { ...LOCAL, apiKeyEnv: "MINE" } } };
  assert.match(await errorOf("local/x", { models }), /set the variable MINE; /);
  assert.equal(
    await errorOf("openai/gpt-5", { env: { OPENAI_API_KEY: "abc\ndefgh" } }),
    "error: The key in OPENAI_API_KEY holds a blank, a line break or a letter that no key has\n",
  );
  const headers = { providers: { local: { ...LOCAL, headers: { "x-key": "${NONE}" } } } };
  assert.equal(
    await errorOf("local/x", { models: headers }),
    "error: models.providers.local.headers needs the variable NONE, which is not set\n",
  );
  const google = (await list({ env: { GOOGLE_API_KEY: "k" } })).providers.find(
    ({ name }: { name: string }) => name === "google",
  );
  assert.equal(google.hasKey, true);
});

Deno.test("models: without a model, everything that can be done is told", async () => {
  const told = (await errorOf(undefined)).split("\n");
  assert.deepEqual(told.slice(0, 4), [
    "error: No model is chosen.",
    "error: Set the key of a provider (OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY, MISTRAL_API_KEY, XAI_API_KEY, GROQ_API_KEY).",
    "error: Then name one: --model provider/model, the variable ORRERY_MODEL, or models.default in orrery.yaml.",
    "error: Without a provider: --model script/echo answers by fixed rules; a local server is set under models.providers with type openai-compatible and its baseURL.",
  ]);
  assert.match(
    await errorOf(undefined, { models: { providers: { local: LOCAL } }, env: { XAI_API_KEY: "k" } }),
    /\nerror: There is a key or no need of one for: local\/MODEL, xai\/grok-4\.7\.\n/,
  );
});

Deno.test("models: the list has keys by their names only", async () => {
  const models = {
    default: "fast",
    aliases: { fast: "xai:grok-4.7" },
    fallback: { fast: ["local/m"] },
    providers: { local: LOCAL, xai: { apiKeyEnv: "MY_XAI" } },
    prices: { "local/m": { input: 0, output: 0 } },
  };
  const env = { MY_XAI: "the-secret-key", OPENAI_BASE_URL: "http://proxy.test/v1/" };
  const found = await list({ models, env });
  assert.ok(!JSON.stringify(found).includes("the-secret-key"));
  assert.deepEqual([found.default, found.aliases], ["fast", [{
    name: "fast",
    id: "xai/grok-4.7",
    fallback: ["local/m"],
  }]]);
  interface Provider {
    readonly name: string;
    readonly hasKey: boolean;
    readonly isConfigured: boolean;
    readonly baseURL: string;
  }
  const providers: readonly Provider[] = found.providers;
  assert.deepEqual(providers.map(({ name, hasKey, isConfigured }) => [name, hasKey, isConfigured]), [
    ["local", false, true],
    ["xai", true, true],
    ["openai", false, false],
    ["anthropic", false, false],
    ["google", false, false],
    ["mistral", false, false],
    ["groq", false, false],
  ]);
  assert.equal(providers.find(({ name }) => name === "openai")?.baseURL, "http://proxy.test/v1");
  assert.deepEqual(found.known[0], { id: "local/m", price: { input: 0, output: 0 } });
  assert.equal(found.known.length, (await list({})).known.length + 1);
  const gemini = found.known.find(({ id }: { id: string }) => id === "google/gemini-2.5-pro");
  assert.equal(gemini.contextTokens, 1_048_576);
});

const HAIKU = "anthropic/claude-haiku-4-5-20251001"; // its price is that of the model without the date

Deno.test("models: costs", async () => {
  const cost = async (
    model: string,
    replies: readonly ProviderReply[],
    models: Readonly<Record<string, unknown>> = {},
  ) => {
    await using at = await providerProject(replies, { models: () => models });
    const tools = ["--tools", "Template", "--tools-mode", "native"];
    const end = (await at.events("Hi", "-m", model, "--ephemeral", ...tools)).at(-1);
    assert.ok(end?.type === "run-end" && end.status === "done", JSON.stringify(end));
    return end.usage.cost;
  };
  const parts = [{ text: "x" }];
  const usage = { input: 1_000_000, output: 100_000, cached: 400_000, cacheWrite: 200_000 };
  assert.equal(await cost(HAIKU, [{ parts, usage }]), 0.4 + 0.5 + 0.04 + 0.25);
  assert.equal(await cost("anthropic/new", [{ parts, usage }]), undefined);
  assert.equal(await cost(HAIKU, [{ parts, usage }], { prices: { [HAIKU]: { input: 0, output: 0 } } }), 0);
  const each = { input: 100_000, output: 0 };
  const call = { call: { name: "Template", arguments: '{"template": "x"}' } };
  const turn = { parts: [call], usage: each };
  assert.equal(await cost(HAIKU, [turn, turn, { parts, usage: each }]), 0.3); // and not 0.30000000000000004
  // More than 200,000 tokens have another price.
  const gemini = (input: number) => cost("google/gemini-2.5-pro", [{ parts, usage: { input, output: 0 } }]);
  assert.deepEqual([await gemini(200_000), await gemini(400_000)], [0.25, 1]);
});

Deno.test("models: fallbacks take over in their order, before something was shown, and their hosts need no flag", async () => {
  const asked = async (replies: readonly ProviderReply[], ...flags: readonly string[]) => {
    const fallback = { [HAIKU]: ["chat/x", "compatible/y"] };
    await using at = await providerProject(replies, { models: () => ({ fallback }) });
    const events = await at.events("Hi", "-m", HAIKU, "--ephemeral", ...flags);
    const end = events.at(-1);
    assert.ok(end?.type === "run-end");
    return {
      ended: end.status === "done" ? end.value : end.error?.replaceAll(at.provider.host, "HOST"),
      asked: at.provider.requests.map(({ body }) => body.model),
      warnings: events.flatMap((event) =>
        event.type === "warning" ? [event.text.replaceAll(at.provider.host, "HOST")] : []
      ),
    };
  };
  const [claude, refused] = ["claude-haiku-4-5-20251001", { status: 400, message: "no" }];
  const hi: ProviderReply = { parts: [{ text: "hi" }] };
  assert.deepEqual(await asked([refused, { status: 401, message: "no" }, hi]), {
    ended: "hi",
    asked: [claude, "x", "y"],
    warnings: [
      `${HAIKU} at HOST: the request was refused (400: no); chat/x takes over`,
      "chat/x at HOST: the key was refused (401: no). Put a valid key into OPENAI_API_KEY; compatible/y takes over",
    ],
  });
  const none = await asked([refused, refused, refused]);
  assert.deepEqual([none.ended, none.asked], [
    "compatible/y at HOST: the request was refused (400: no)",
    [claude, "x", "y"],
  ]);
  const cut = await asked([{ parts: [{ text: "begun" }], finish: "none" }, hi]);
  assert.deepEqual(cut.asked.slice(0, 1), [claude]);
  assert.ok(!cut.asked.includes("x"), cut.asked.join());
  const denied = await asked([hi], "--deny-net");
  assert.deepEqual([denied.asked, denied.warnings], [[], []]);
  assert.equal(denied.ended, `${HAIKU} at HOST: Connecting to "HOST" is not allowed: --deny-net forbids it`);
});
