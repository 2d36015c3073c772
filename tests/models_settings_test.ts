import assert from "node:assert/strict";
import { memoryFiles, ModelError, systemClock } from "../mod.ts";
import { followAliases, maybeModelId, type ModelSettings } from "../lib/core/model_settings.ts";
import { addUsage } from "../lib/core/usage.ts";
import { tcpConnect } from "../lib/host/http/dial.ts";
import { KNOWN_MODELS, maybeKnownModel } from "../lib/models/known_models.ts";
import { openModels } from "../lib/models/open_models.ts";
import { retryAfterMs } from "../lib/models/provider/fetch.ts";
import { costOf } from "../lib/models/provider/model.ts";
import { findLocalServers, providerHosts } from "../lib/models/provider/provider.ts";

const LOCAL = { type: "openai-compatible", baseURL: "http://127.0.0.1:11434/v1" } as const;

function modelsOf(settings: ModelSettings = {}, env: Readonly<Record<string, string>> = {}) {
  return openModels({
    settings,
    env: (name) => env[name],
    fetch: () => Promise.reject(new Error("this test has no network")),
    clock: systemClock,
    files: memoryFiles(),
  });
}

async function errorOf(
  settings: ModelSettings,
  options: { name?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<string> {
  try {
    await modelsOf(settings, options.env).find(options.name);
  } catch (error) {
    assert.ok(error instanceof ModelError, String(error));
    assert.equal(error.code, "config");
    return error.message;
  }
  return assert.fail("expected an error");
}

Deno.test("models: ids are split at the first separator", () => {
  assert.deepEqual(maybeModelId("a/b"), { provider: "a", model: "b" });
  assert.deepEqual(maybeModelId("ollama:qwen3:8b"), { provider: "ollama", model: "qwen3:8b" });
  assert.deepEqual(maybeModelId("groq/openai/gpt-oss"), { provider: "groq", model: "openai/gpt-oss" });
  assert.deepEqual(["a", "a/", "/a", ":", ""].map(maybeModelId), Array(5).fill(undefined));
});

Deno.test("models: aliases are followed, and a circle is named", async () => {
  const aliases = { fast: "small", small: "local:qwen3:8b", a: "b", b: "c", c: "b" };
  assert.deepEqual(followAliases("fast", aliases), {
    way: ["fast", "small", "local:qwen3:8b"],
    isCycle: false,
  });
  const settings = { default: "fast", aliases, providers: { local: LOCAL } };
  assert.equal((await modelsOf(settings).find()).id, "local/qwen3:8b");
  assert.equal((await modelsOf(settings).find("small")).id, "local/qwen3:8b");
  assert.equal(
    await errorOf(settings, { name: "a" }),
    "The aliases of models go round in a circle: a -> b -> c -> b",
  );
});

Deno.test("models: what is unknown is told with what is near", async () => {
  const settings = { aliases: { fast: "local/x" }, providers: { local: LOCAL } };
  assert.equal(
    await errorOf(settings, { name: "fsat" }),
    'Unknown model "fsat": expected provider/model or an alias of models.aliases. Did you mean "fast"?',
  );
  assert.equal(
    await errorOf(settings, { name: "gpt-5-mini" }),
    'Unknown model "gpt-5-mini": expected provider/model or an alias of models.aliases. Did you mean "openai/gpt-5-mini"?',
  );
  assert.equal(
    await errorOf(settings, { name: "antropic/x" }),
    'The model provider "antropic" is unknown. Did you mean "anthropic"? Providers are script, replay, local, openai, anthropic, google, mistral, xai, groq; more can be set under models.providers',
  );
  assert.equal(
    await errorOf({}, { name: "openai-compatible/x" }),
    'The model provider "openai-compatible" is a type of provider, not one itself: give one a name under models.providers',
  );
});

Deno.test("models: a missing key names its variables", async () => {
  const end = '. "orrery list models" shows for which providers there is a key.';
  assert.equal(
    await errorOf({}, { name: "openai/gpt-5" }),
    `The model openai/gpt-5 needs a key: set the variable OPENAI_API_KEY; models.providers.openai.apiKeyEnv can name another one${end}`,
  );
  assert.equal(
    await errorOf({}, { name: "google/gemini-2.5-pro", env: { GEMINI_API_KEY: " " } }),
    `The model google/gemini-2.5-pro needs a key: set the variable GOOGLE_GENERATIVE_AI_API_KEY (GEMINI_API_KEY or GOOGLE_API_KEY will do too); models.providers.google.apiKeyEnv can name another one${end}`,
  );
  const settings: ModelSettings = { providers: { local: { ...LOCAL, apiKeyEnv: "MINE" } } };
  assert.match(await errorOf(settings, { name: "local/x" }), /set the variable MINE; /);
  const odd = { OPENAI_API_KEY: "abc\ndefgh" };
  assert.equal(
    await errorOf({}, { name: "openai/gpt-5", env: odd }),
    "The key in OPENAI_API_KEY holds a blank, a line break or a letter that no key has",
  );
  assert.equal(
    (await modelsOf({}, { GOOGLE_API_KEY: "k" }).find("google/gemini-2.5-pro")).contextTokens,
    1_048_576,
  );
  const headers = { providers: { local: { ...LOCAL, headers: { "x-key": "${NONE}" } } } };
  assert.equal(
    await errorOf(headers, { name: "local/x" }),
    "models.providers.local.headers needs the variable NONE, which is not set",
  );
});

Deno.test("models: without a model, everything that can be done is told", async () => {
  assert.equal(
    await errorOf({}),
    [
      "No model is chosen.",
      "Set the key of a provider (OPENAI_API_KEY, ANTHROPIC_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY, MISTRAL_API_KEY, XAI_API_KEY, GROQ_API_KEY).",
      "Then name one: --model provider/model, the variable ORRERY_MODEL, or models.default in orrery.yaml.",
      "Without a provider: --model script/echo answers by fixed rules; a local server is set under models.providers with type openai-compatible and its baseURL.",
    ].join("\n"),
  );
  assert.match(
    await errorOf({ providers: { local: LOCAL } }, { env: { XAI_API_KEY: "k" } }),
    /\nThere is a key or no need of one for: local\/MODEL, xai\/grok-4\.7\.\n/,
  );
});

Deno.test("models: the list has keys by their names only", () => {
  const settings: ModelSettings = {
    default: "fast",
    aliases: { fast: "xai:grok-4.7" },
    fallback: { fast: ["local/m"] },
    providers: { local: LOCAL, xai: { apiKeyEnv: "MY_XAI" } },
    prices: { "local/m": { input: 0, output: 0 } },
  };
  const list = modelsOf(settings, { MY_XAI: "the-secret-key", OPENAI_BASE_URL: "http://proxy.test/v1/" })
    .list();
  assert.ok(!JSON.stringify(list).includes("the-secret-key"));
  assert.deepEqual([list.default, list.aliases], ["fast", [{
    name: "fast",
    id: "xai/grok-4.7",
    fallback: ["local/m"],
  }]]);
  assert.deepEqual(list.providers.map(({ name, hasKey, isConfigured }) => [name, hasKey, isConfigured]), [
    ["local", false, true],
    ["xai", true, true],
    ["openai", false, false],
    ["anthropic", false, false],
    ["google", false, false],
    ["mistral", false, false],
    ["groq", false, false],
  ]);
  assert.equal(list.providers.find(({ name }) => name === "openai")?.baseURL, "http://proxy.test/v1");
  assert.deepEqual(list.known[0], { id: "local/m", price: { input: 0, output: 0 } });
  assert.equal(list.known.length, Object.keys(KNOWN_MODELS).length + 1);
});

Deno.test("models: the hosts of a model, with those of its fallbacks", () => {
  const settings: ModelSettings = {
    aliases: { fast: "local/m", big: "anthropic/claude-opus-5" },
    fallback: { fast: ["big", "openai/gpt-5"] },
    providers: { local: LOCAL },
  };
  const hosts = (name: string, env: Readonly<Record<string, string>> = {}) =>
    providerHosts(name, { settings, env: (each) => env[each] });
  assert.deepEqual(hosts("fast"), ["127.0.0.1:11434", "api.anthropic.com:443", "api.openai.com:443"]);
  assert.deepEqual(hosts("openai/x", { OPENAI_BASE_URL: "http://[::1]:9/v1" }), ["[::1]:9"]);
  assert.deepEqual([hosts("script/echo"), hosts("nobody/x"), hosts("x")], [[], [], []]);
});

Deno.test("models: costs", () => {
  const known = maybeKnownModel("anthropic/claude-haiku-4-5-20251001");
  assert.deepEqual(known?.price, { input: 1, output: 5, cached: 0.1, cacheWrite: 1.25 });
  const tokens = { input: 1_000_000, output: 100_000, cached: 400_000, cacheWrite: 200_000 };
  assert.equal(costOf(tokens, { known }), 0.4 + 0.04 + 0.25 + 0.5);
  assert.equal(costOf(tokens, {}), undefined);
  const each = { input: 1, output: 1, cost: 0.1 };
  assert.equal(addUsage(addUsage(each, each), each).cost, 0.3); // and not 0.30000000000000004
  assert.equal(costOf({ ...tokens, cached: 0, cacheWrite: 0 }, { own: { input: 0, output: 0 }, known }), 0);
  const long = maybeKnownModel("google/gemini-2.5-pro");
  const few = { input: 200_000, output: 0, cached: 0, cacheWrite: 0 };
  assert.equal(costOf(few, { known: long }), 0.25);
  assert.equal(costOf({ ...few, input: 400_000 }, { known: long }), 1);
  assert.equal(maybeKnownModel("openai/constructor"), undefined);
});

Deno.test("models: Retry-After in its forms", () => {
  const wait = (headers: Readonly<Record<string, string>>) => retryAfterMs(new Headers(headers));
  assert.equal(wait({ "retry-after": "7" }), 7000);
  assert.equal(wait({ "retry-after": "0" }), 0);
  assert.equal(wait({ "retry-after-ms": "12.5", "retry-after": "7" }), 13);
  const date = "Wed, 21 Oct 2026 07:28:00 GMT";
  assert.equal(wait({ "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", date }), 30_000);
  assert.equal(wait({ "retry-after": "Wed, 21 Oct 2026 07:27:30 GMT", date }), 0);
  assert.deepEqual([wait({}), wait({ "retry-after": "soon" })], [undefined, undefined]);
});

Deno.test("models: local servers are found by a connection alone", async () => {
  const asked: number[] = [];
  const found = await findLocalServers({
    connect: ({ hostname, port }) => {
      asked.push(port);
      assert.equal(hostname, "127.0.0.1");
      return port === 1234 ? Promise.resolve() : Promise.reject(new Error("refused"));
    },
  });
  assert.deepEqual(asked, [11434, 1234, 8080]);
  assert.deepEqual(found, [{ port: 1234, name: "LM Studio", baseURL: "http://127.0.0.1:1234/v1" }]);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  await tcpConnect({ hostname: "127.0.0.1", port });
  (await listener.accept()).close();
  listener.close();
  await assert.rejects(tcpConnect({ hostname: "127.0.0.1", port }));
});
