import fc from "fast-check";
import assert from "node:assert/strict";
import { join } from "node:path";
import { type Collection, type Embedder, ModelError, openCollection } from "../../mod.ts";
import { memoryCollection, wordEmbedder } from "../_collections.ts";

const EVERYTHING = { limit: 100, secondary: true };
const MEANINGS = [["tyre", "puncture", "flat"], ["price", "cost", "euro"], ["dog", "animal"]];
const PAGES = {
  "tyre.md": "A tyre is changed in ten minutes.",
  "price.md": "The price is in euro.",
  "dog.md": "No dog may ride along.",
};

const documentsOf = (found: readonly { document: string }[]) => found.map(({ document }) => document);

Deno.test("meaning: found by other words, and merged with what the same words find", async () => {
  const embedder = wordEmbedder(MEANINGS);
  using collection = await memoryCollection(PAGES, { embeddings: embedder });
  const search = async (query: string, limit = 100) =>
    documentsOf(await collection.search(query, { limit, secondary: true }));
  assert.deepEqual(await search("puncture"), ["tyre"], "no word of it is there");
  assert.deepEqual(await search("animal cost"), ["price", "dog"]);
  assert.deepEqual(await search("ride"), ["dog"], "no meaning is known");
  assert.deepEqual(await search("puncture ride"), ["dog", "tyre"], "each is the first in one ranking");
  assert.deepEqual(await search("flat dog tyre minutes", 1), ["tyre"], "both rankings agree");
  assert.deepEqual(await search("xyzzy"), []);
  using words = await memoryCollection(PAGES);
  assert.deepEqual(await words.search("puncture", EVERYTHING), []);
});

Deno.test("vectors: made in batches, kept, and made anew for what has changed or for another model", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-retrieval-" }));
  try {
    const lines = Array.from({ length: 70 }, (_, index) => `  - { id: d${index}, file: d${index}.txt }\n`);
    for (let index = 0; index < 70; index++) {
      await Deno.writeTextFile(join(folder, `d${index}.txt`), `dog number ${index}`);
    }
    const file = join(folder, "c.collection.yml");
    await Deno.writeTextFile(file, `version: "0.1"\ndocuments:\n${lines.join("")}`);
    const sizes = async (embedder: ReturnType<typeof wordEmbedder>) => {
      using _collection = await openCollection(file, { embeddings: embedder });
      return embedder.calls.map((texts) => texts.length);
    };
    assert.deepEqual(await sizes(wordEmbedder(MEANINGS)), [32, 32, 6]);
    assert.deepEqual(await sizes(wordEmbedder(MEANINGS)), []);
    await Deno.writeTextFile(join(folder, "d3.txt"), "another dog");
    const renewed = wordEmbedder(MEANINGS);
    assert.deepEqual(await sizes(renewed), [1]);
    assert.deepEqual(renewed.calls, [["another dog"]]);
    const broken = wordEmbedder(MEANINGS, {
      id: "fake/other",
      fail: (call) => call === 2 ? new Error("overloaded") : undefined,
    });
    await assert.rejects(sizes(broken), /overloaded/);
    assert.deepEqual(
      await sizes(wordEmbedder(MEANINGS, { id: "fake/other" })),
      [32, 6],
      "what was made stays",
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a model that gives something else is an error that names it", async () => {
  const giving = (vectors: (count: number) => Float32Array[], dimensions?: number): Embedder => ({
    id: "fake/odd",
    ...(dimensions === undefined ? {} : { dimensions }),
    embed: (texts) => Promise.resolve(vectors(texts.length)),
  });
  const opening = (embeddings: Embedder) => memoryCollection(PAGES, { embeddings });
  await assert.rejects(opening(giving(() => [])), /^Error: The model fake\/odd gave 0 vectors for 3 texts$/);
  const uneven = (count: number) => Array.from({ length: count }, (_, index) => new Float32Array(index + 1));
  await assert.rejects(opening(giving(uneven)), /gave a vector of 2 numbers, expected 1 numbers/);
  await assert.rejects(opening(giving(uneven, 5)), /gave a vector of 1 numbers, expected 5 numbers/);
  const empty = (count: number) => Array.from({ length: count }, () => new Float32Array(0));
  await assert.rejects(opening(giving(empty)), /gave a vector of 0 numbers, expected some numbers/);
  const endless = (count: number) => Array.from({ length: count }, () => Float32Array.of(1, NaN));
  await assert.rejects(opening(giving(endless)), /gave a number that is not finite/);
});

Deno.test("the signal ends what is asked of the model", async () => {
  const stop = new AbortController();
  const embedder = wordEmbedder(MEANINGS);
  using collection = await memoryCollection(PAGES, { embeddings: embedder });
  stop.abort(new Error("enough"));
  await assert.rejects(collection.search("dog", { ...EVERYTHING, signal: stop.signal }), /enough/);
});

Deno.test("property: by meaning alone the nearest vector comes first, and its length does not count", async () => {
  const numbers = fc.array(fc.float({ min: -100, max: 100, noNaN: true }), { minLength: 4, maxLength: 4 });
  const length = (vector: readonly number[]) => Math.hypot(...vector);
  await fc.assert(
    fc.asyncProperty(fc.array(numbers, { minLength: 2, maxLength: 6 }), numbers, async (vectors, query) => {
      fc.pre([query, ...vectors].every((vector) => length(vector) > 1e-3));
      const cosines = vectors.map((vector) =>
        vector.reduce((sum, number, index) => sum + number * (query[index] ?? 0), 0) /
        (length(vector) * length(query))
      );
      const embeddings: Embedder = {
        id: "fake/given",
        embed: (texts) =>
          Promise.resolve(texts.map((text) => Float32Array.from(vectors[Number(text.slice(4))] ?? query))),
      };
      const files = Object.fromEntries(vectors.map((_, index) => [`d${index}.txt`, `word${index}`]));
      using collection = await memoryCollection(files, { embeddings });
      const found = await collection.search("query", EVERYTHING);
      const order = found.map(({ document }) => cosines[Number(document.slice(1))] ?? NaN);
      for (const [index, cosine] of order.entries()) {
        assert.ok(index === 0 || cosine <= (order[index - 1] ?? NaN) + 1e-4, `${order}`);
      }
      const best = Math.max(...cosines);
      if (best > 0.5) assert.ok(Math.abs((order[0] ?? NaN) - best) < 1e-4, `${order}, the best is ${best}`);
    }),
  );
});

// The adapters of the AI SDK, against a server on this machine.

interface Asked {
  readonly path: string;
  readonly key: string | null;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

/** Answers each request by a function; its default speaks the formats of all four providers. */
function embeddingServer(answer?: (asked: Asked, count: number) => Response | undefined) {
  const requests: Asked[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const url = new URL(request.url);
    const key = request.headers.get("authorization") ?? request.headers.get("x-goog-api-key");
    const asked = { path: url.pathname, key, body: await request.json() };
    requests.push(asked);
    return answer?.(asked, requests.length) ?? Response.json(vectorsFor(asked));
  });
  const url = `http://127.0.0.1:${server.addr.port}`;
  const providers = {
    openai: { baseURL: `${url}/openai` },
    google: { baseURL: `${url}/google` },
    mistral: { baseURL: `${url}/mistral` },
    anthropic: { baseURL: `${url}/anthropic` },
    compatible: { type: "openai-compatible", baseURL: `${url}/compatible`, headers: { "x-more": "1" } },
    keyed: { type: "openai-compatible", baseURL: `${url}/keyed`, apiKeyEnv: "KEYED_API_KEY" },
  };
  const models = { aliases: { mine: "compatible/embed-1" }, providers };
  return { url, requests, models, [Symbol.asyncDispose]: () => server.shutdown() };
}

const KEYS = [
  "OPENAI_API_KEY",
  "ANTHROPIC_API_KEY",
  "MISTRAL_API_KEY",
  "GOOGLE_GENERATIVE_AI_API_KEY",
  "KEYED_API_KEY",
];

/** Opens a collection as a user whose settings have these models, and whose environment has the keys. */
async function opened(
  models: object,
  { embeddings, key = "sk-0123456789", pages = { "a.txt": "banana", "b.txt": "x" } }: {
    readonly embeddings: string;
    /** Empty: there is none. */
    readonly key?: string;
    readonly pages?: Readonly<Record<string, string>>;
  },
): Promise<Collection & Disposable> {
  const folder = await Deno.makeTempDir({ prefix: "orrery-retrieval-" });
  await Deno.mkdir(join(folder, "orrery"));
  await Deno.writeTextFile(join(folder, "orrery", "config.yaml"), JSON.stringify({ models }));
  const before = new Map(["XDG_CONFIG_HOME", ...KEYS].map((name) => [name, Deno.env.get(name)]));
  Deno.env.set("XDG_CONFIG_HOME", folder);
  for (const name of KEYS) key === "" ? Deno.env.delete(name) : Deno.env.set(name, key);
  try {
    return await memoryCollection(pages, { embeddings });
  } finally {
    for (const [name, value] of before) {
      value === undefined ? Deno.env.delete(name) : Deno.env.set(name, value);
    }
    await Deno.remove(folder, { recursive: true });
  }
}

function vectorsFor({ path, body }: Asked) {
  const vector = (text: string) => [text.length, text.split("a").length];
  if (path.startsWith("/google")) {
    const texts: readonly { content: { parts: readonly { text: string }[] } }[] = body.requests ?? [body];
    const embeddings = texts.map(({ content }) => ({ values: vector(content.parts[0]?.text ?? "") }));
    return body.requests === undefined ? { embedding: embeddings[0] } : { embeddings };
  }
  const texts: readonly string[] = body.input;
  return {
    object: "list",
    model: body.model,
    data: texts.map((text, index) => ({ object: "embedding", index, embedding: vector(text) })),
    usage: { prompt_tokens: 3, total_tokens: 3 },
  };
}

for (
  const [name, path] of [
    ["openai/text-embedding-3-small", "/openai/embeddings"],
    ["mistral/mistral-embed", "/mistral/embeddings"],
    ["google/gemini-embedding-001", "/google/models/gemini-embedding-001:batchEmbedContents"],
    ["compatible/embed-1", "/compatible/embeddings"],
    ["keyed/embed-1", "/keyed/embeddings"],
  ] as const
) {
  Deno.test(`embeddings of ${name}`, async () => {
    await using server = embeddingServer();
    using collection = await opened(server.models, { embeddings: name });
    const [request] = server.requests;
    assert.equal(server.requests.length, 1);
    assert.equal(request?.path, path);
    const sent = request?.key ?? "";
    assert.equal(sent.replace("Bearer ", ""), name.startsWith("compatible") ? "" : "sk-0123456789");
    if (!name.startsWith("google")) {
      assert.deepEqual([request?.body.model, request?.body.input], [name.split("/")[1], ["banana", "x"]]);
    }
    assert.deepEqual(documentsOf(await collection.search("anan", EVERYTHING)), ["a", "b"]);
    assert.deepEqual(documentsOf(await collection.search("y", EVERYTHING)), ["b", "a"]);
  });
}

Deno.test("embeddings: an alias, and as many texts at once as the provider takes", async () => {
  await using server = embeddingServer();
  const pages = Object.fromEntries(
    Array.from({ length: 70 }, (_, index) => [`d${index}.txt`, `a${"a".repeat(index)}`]),
  );
  using _collection = await opened(server.models, { embeddings: "mine", pages });
  assert.deepEqual(server.requests.map(({ path, body }) => [path, body.model, body.input.length]), [
    ["/compatible/embeddings", "embed-1", 32],
    ["/compatible/embeddings", "embed-1", 32],
    ["/compatible/embeddings", "embed-1", 6],
  ]);
});

Deno.test("embeddings: what may pass is tried again, what may not is told without the key", async () => {
  const busy = () =>
    Response.json({ error: { message: "slow down, sk-0123456789" } }, {
      status: 429,
      headers: { "retry-after": "0" },
    });
  {
    await using server = embeddingServer((_, count) => count <= 2 ? busy() : undefined);
    using _collection = await opened(server.models, { embeddings: "openai/m" });
    assert.equal(server.requests.length, 3);
  }
  {
    await using server = embeddingServer(busy);
    await assert.rejects(
      opened(server.models, { embeddings: "openai/m" }),
      /429.*asked 4 times; try again later/,
    );
  }
  const failure = async (response: () => Response, name = "openai/m") => {
    await using server = embeddingServer(response);
    const error = await opened(server.models, { embeddings: name }).catch((error) => error);
    assert.ok(error instanceof ModelError, String(error));
    assert.ok(!error.message.includes("sk-0123456789"), error.message);
    return [error.code, error.message.replace(/127\.0\.0\.1:\d+/, "HOST")];
  };
  assert.deepEqual(
    await failure(() => Response.json({ error: { message: "bad key sk-0123456789" } }, { status: 401 })),
    [
      "auth",
      "openai/m at HOST: the key was refused (401: bad key [secret OPENAI_API_KEY]). Put a valid key into OPENAI_API_KEY",
    ],
  );
  const [code, message] = await failure(() => Response.json({ nothing: true }), "compatible/m");
  assert.equal(code, "answer");
  assert.match(message ?? "", /^compatible\/m at HOST: it sent something that its protocol does not have/);
  const [page] = await failure(() => new Response("<html>", { headers: { "content-type": "text/html" } }));
  assert.equal(page, "answer");
});

Deno.test("embeddings: models that make none, and keys that are missing", async () => {
  await using server = embeddingServer();
  const message = async (embeddings: string, key?: string) => {
    const error = await opened(server.models, { embeddings, ...(key !== undefined && { key }) }).catch((
      error,
    ) => error);
    assert.ok(error instanceof ModelError && error.code === "config", String(error));
    return error.message;
  };
  assert.match(
    await message("anthropic/claude"),
    /^The model anthropic\/claude makes no embeddings: expected one of openai, google, mistral/,
  );
  assert.match(await message("script/echo"), /makes no embeddings/);
  assert.match(await message("mina"), /Unknown model "mina": .* Did you mean "mine"\?/);
  assert.match(await message("nobody/x"), /^The model provider "nobody" is unknown/);
  assert.match(await message("openai/m", ""), /needs a key: set the variable OPENAI_API_KEY/);
});

Deno.test("a project searches with the model of its configuration, over the network", async () => {
  await using server = embeddingServer();
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "orrery-retrieval-" }));
  try {
    await Deno.writeTextFile(join(folder, "orrery.yaml"), "conversations: { embeddings: here/e }\n");
    await Deno.writeTextFile(join(folder, "a.txt"), "aaaa");
    await Deno.writeTextFile(
      join(folder, "c.collection.yml"),
      'version: "0.1"\ndocuments: [{ id: a, file: a.txt }]\n',
    );
    const file = join(folder, "c.collection.yml");
    await assert.rejects(openCollection(file), /The model provider "here" is unknown/);
    using plain = await openCollection(file, { embeddings: false });
    assert.deepEqual(await plain.search("bbbb", EVERYTHING), []);
    const home = Deno.env.get("XDG_CONFIG_HOME");
    Deno.env.set("XDG_CONFIG_HOME", folder);
    try {
      await Deno.mkdir(join(folder, "orrery"));
      const provider = `{ type: openai-compatible, baseURL: "${server.url}/compatible" }`;
      await Deno.writeTextFile(
        join(folder, "orrery", "config.yaml"),
        `models: { providers: { here: ${provider} } }\n`,
      );
      using collection = await openCollection(file);
      assert.deepEqual(documentsOf(await collection.search("bbbb", EVERYTHING)), ["a"]);
      assert.deepEqual(server.requests.map(({ body }) => body.input), [["aaaa"], ["bbbb"]]);
    } finally {
      if (home === undefined) Deno.env.delete("XDG_CONFIG_HOME");
      else Deno.env.set("XDG_CONFIG_HOME", home);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
