// The steps that make requests, against servers on loopback, without the engine around them.
import assert from "node:assert/strict";
import {
  type Http,
  memoryJournal,
  PermissionRefused,
  type RunEvent,
  type StepOf,
  virtualClock,
} from "../mod.ts";
import { fillText, type LookUpSlot } from "../lib/conversation/fill_template.ts";
import type { StepOutcome } from "../lib/conversation/step_tree.ts";
import { hostHttp } from "../lib/host/http/http.ts";
import { createSecrets } from "../lib/journal/secrets.ts";
import { createPolicy } from "../lib/policy/policy.ts";
import { parsePolicyFlags } from "../lib/policy/policy_flags.ts";
import { performApiCall, performSseCall } from "../lib/run/conversation/http.ts";
import { ConversationStepError } from "../lib/run/conversation/work.ts";
import { httpOfFetch } from "../lib/run/conversation/http_of_fetch.ts";
import { withRawServer, withServer } from "./_loopback.ts";
import { type StepAtWork, stepBase, stepWork, type StepWorkOptions } from "./_step_work.ts";

type Api = StepOf<"api-call">;
type Sse = StepOf<"sse-call">;

const TARGET = { destination: "conversation", name: "r" } as const;
const FAILED: StepOutcome = { kind: "flow", flow: { goto: "sorry" } };
const WENT_ON: StepOutcome = { kind: "flow", flow: { action: "continue" } };

/** The network that `--allow-net` with these values makes. */
function network(...allowed: readonly string[]): Http {
  const settings = parsePolicyFlags(allowed.map((value) => ({ name: "allow-net", value })));
  const policy = createPolicy(settings, { root: "/project", cwd: "/project" });
  return hostHttp({ check: (request) => policy.check(request) });
}

interface Options extends StepWorkOptions {
  readonly http?: Http;
  readonly env?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
}

function atWork<Step extends Api | Sse>(step: Step, options: Options = {}): StepAtWork<Step> {
  const { http, env = {}, timeoutMs } = options;
  const made = stepWork(step, {
    ...options,
    means: {
      http: http ?? network("127.0.0.1"),
      env(name) {
        const value = env[name];
        if (value === undefined) throw new Error(`the environment variable "${name}" is not set; set it`);
        return value;
      },
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    },
  });
  const lookUp: LookUpSlot = (name, destination) =>
    made.slots.get(`${destination ?? "conversation"}.${name}`);
  const work = {
    ...made.work,
    fill: (text: string, as?: "url") => fillText(text, lookUp, as === "url" ? encodeURIComponent : undefined),
  };
  return { ...made, work };
}

function apiStep(url: string, fields: Partial<Api> = {}): Api {
  return {
    ...stepBase("a"),
    kind: "api-call",
    url,
    method: "GET",
    headers: [],
    target: TARGET,
    success: { action: "continue" },
    fail: { goto: "sorry" },
    ...fields,
  };
}

function sseStep(url: string, fields: Partial<Sse> = {}): Sse {
  return { ...stepBase("s"), kind: "sse-call", url, method: "GET", headers: [], store: TARGET, ...fields };
}

interface Made {
  readonly outcome: StepOutcome;
  readonly told: readonly string[];
}

async function api(step: Api, options?: Options): Promise<Made> {
  const { work, told } = atWork(step, options);
  return { outcome: await performApiCall(work), told };
}

async function sse(step: Sse, options?: Options): Promise<Made> {
  const { work, told } = atWork(step, options);
  return { outcome: await performSseCall(work), told };
}

async function errorOf(work: Promise<unknown>): Promise<ConversationStepError> {
  const error = await work.then(() => undefined, (error: unknown) => error);
  assert.ok(error instanceof ConversationStepError, `expected an error of the step, found ${error}`);
  return error;
}

/** What a server answers everything with. */
function answering(body: BodyInit | null, init: ResponseInit = {}, work: (url: string) => Promise<void>) {
  return withServer(() => new Response(body, init), (port) => work(`http://127.0.0.1:${port}/x`));
}

/** A stream of events, a chunk for each text. */
function streaming(...chunks: readonly (string | Uint8Array)[]): Response {
  const encoder = new TextEncoder();
  const body = ReadableStream.from(
    chunks.map((chunk) => typeof chunk === "string" ? encoder.encode(chunk) : new Uint8Array(chunk)),
  );
  return new Response(body, {
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-transform" },
  });
}

Deno.test("api-call: what becomes of a body", async () => {
  const rows: readonly (readonly [body: string | null, path: string | undefined, told: string])[] = [
    ['{"a": {"b": 21.5}}', undefined, 'set conversation.r {"a":{"b":21.5}}'],
    ['{"a": {"b": 21.5}}', "$.a.b", "set conversation.r 21.5"],
    ['{"a": null}', "$.a", "set conversation.r null"],
    ['{"id": 1234567890123456789}', "$.id", 'set conversation.r "1234567890123456789"'],
    ["[12345678901234567890, 3.10]", undefined, 'set conversation.r ["12345678901234567890",3.1]'],
    ['[{"n": "a"}, {"n": "b"}]', "$[*].n", 'set conversation.r ["a","b"]'],
    ['[{"n": "a"}]', "$[*].n", 'set conversation.r "a"'],
    ["plain text", undefined, 'set conversation.r "plain text"'],
    ["\ufeff[1]", undefined, "set conversation.r [1]"],
    ["", undefined, "set conversation.r null"],
    [null, undefined, "set conversation.r null"],
  ];
  for (const [body, responsePath, told] of rows) {
    await answering(body, {}, async (url) => {
      const made = await api(apiStep(url, responsePath === undefined ? {} : { responsePath }));
      assert.deepEqual(made, { outcome: WENT_ON, told: [told] }, `${body} ${responsePath}`);
    });
  }
});

Deno.test("api-call: every failure takes fail, says why in one line and leaves the target alone", async () => {
  const rows: readonly (readonly [BodyInit | null, ResponseInit, string | undefined, string])[] = [
    [
      '{"error":\n"card"}',
      { status: 402 },
      undefined,
      'answered 402 ("{\\"error\\":\\n\\"card\\"}"), expected 200 to 299',
    ],
    [null, { status: 304 }, undefined, "answered 304, expected 200 to 299"],
    [null, { status: 500 }, undefined, "answered 500, expected 200 to 299"],
    ["<p>no", {}, "$.a", 'the answer is not JSON, expected JSON for the response-path: found "<p>no"'],
    ["", {}, "$.a", 'the answer is not JSON, expected JSON for the response-path: found ""'],
    ['{"a": 1}', {}, "$.b", 'the response-path "$.b" selects nothing of the answer'],
    [
      "1e999",
      {},
      undefined,
      "the answer is JSON with more than 400 levels, or with a number that is too large",
    ],
    [
      "[".repeat(600) + "]".repeat(600),
      {},
      undefined,
      "the answer is JSON with more than 400 levels, or with a number that is too large",
    ],
    ["x".repeat(5 * 1024 * 1024 + 1), {}, undefined, "the answer is longer than 5 MB"],
  ];
  for (const [body, init, responsePath, problem] of rows) {
    await answering(body, init, async (url) => {
      const made = await api(apiStep(url, responsePath === undefined ? {} : { responsePath }), {
        slots: { "conversation.r": "old" },
      });
      assert.deepEqual(made, { outcome: FAILED, told: [`warn GET ${url}: ${problem}`] });
    });
  }
});

Deno.test("api-call: other codes of 2xx count, redirects are followed", async () => {
  await withServer((request, port) => {
    const { pathname } = new URL(request.url);
    return pathname === "/old"
      ? new Response(null, { status: 307, headers: { location: `http://127.0.0.1:${port}/new` } })
      : new Response(JSON.stringify([request.method, pathname]), { status: 201 });
  }, async (port) => {
    const made = await api(apiStep(`http://127.0.0.1:${port}/old`, { method: "PUT", body: "x" }));
    assert.deepEqual(made, { outcome: WENT_ON, told: ['set conversation.r ["PUT","/new"]'] });
  });
});

Deno.test("api-call: URLs, headers and bodies are filled", async () => {
  const seen: string[] = [];
  await withServer(async (request, port) => {
    const headers = ["x-name", "content-type", "accept"].map((name) => request.headers.get(name) ?? "-");
    seen.push([request.url.replace(String(port), "PORT"), ...headers, await request.text()].join(" | "));
    return new Response("ok");
  }, async (port) => {
    const url = `http://127.0.0.1:${port}`;
    const slots = { "conversation.q": "a b&c=ü/../?#", "conversation.o": { n: [1] }, "session.s": 'x"y' };
    const headers = [
      { key: "X-Name", value: "{{q}}" },
      { key: "x-name", value: "two" },
      { key: "Accept", value: "a/b" },
    ];
    const post = { method: "POST", headers } as const;
    await api(apiStep(`${url}/{{q}}?q={{q}}&m={{missing}}`, { headers }), { slots });
    await api(apiStep(url, { ...post, body: "t {{q}} {{o}}" }), { slots });
    await api(apiStep(url, { ...post, body: { a: "{{o}}", b: "{{session.s}}", c: 1 } }), { slots });
    await api(apiStep(url, { ...post, body: "{{o}}" }), { slots });
    const own = [{ key: "CONTENT-TYPE", value: "text/own" }];
    await api(apiStep(url, { method: "POST", headers: own, body: [1] }), { slots });
  });
  const encoded = "a%20b%26c%3D%C3%BC%2F..%2F%3F%23";
  const sent = "http://127.0.0.1:PORT/ | a b&c=ü/../?#, two";
  assert.deepEqual(seen, [
    `http://127.0.0.1:PORT/${encoded}?q=${encoded}&m= | a b&c=ü/../?#, two | - | a/b | `,
    `${sent} | - | a/b | t a b&c=ü/../?# {"n":[1]}`,
    `${sent} | application/json | a/b | {"a":{"n":[1]},"b":"x\\"y","c":1}`,
    `${sent} | application/json | a/b | {"n":[1]}`,
    "http://127.0.0.1:PORT/ | - | text/own | */* | [1]",
  ]);
});

Deno.test("requests: a slot cannot add a header", async () => {
  const http: Http = { fetch: () => assert.fail("it was sent"), open: () => assert.fail("it was sent") };
  for (const text of ["1\r\nX-Evil: 1", "1\nX-Evil: 1", "1\r"]) {
    const headers = [{ key: "A", value: "{{v}}" }];
    const options = { http, slots: { "conversation.v": text } };
    const failed = await errorOf(api(apiStep("http://a.test/", { headers }), options));
    assert.equal(failed.message, 'step "a": header "A" must be a single line');
    const streamed = await errorOf(sse(sseStep("http://a.test/", { headers }), options));
    assert.equal(streamed.message, 'step "s": header "A" must be a single line');
  }
  const headers = [{ key: "A", value: "€" }];
  assert.equal(
    (await errorOf(api(apiStep("http://a.test/", { headers }), { http }))).message,
    'step "a": header "A" holds a character that no header can have, expected Latin-1 text',
  );
});

Deno.test("requests: the value of a variable is sent, and seen nowhere else", async () => {
  const key = 'topsecret/"key" 1';
  const step = (base: string): Api =>
    apiStep("${env.BASE}/x?key=${env.KEY}&u={{u}}", {
      method: "POST",
      headers: [{ key: "Authorization", value: "Bearer ${env.KEY}" }, { key: "X-U", value: "{{u}}" }],
      body: "${env.KEY}",
      ...(base === "" ? {} : { responsePath: base }),
    });
  const slots = { "conversation.u": "${env.KEY}" };
  const seen: string[] = [];
  await withServer(async (request) => {
    const { searchParams } = new URL(request.url);
    const [auth, u] = [request.headers.get("authorization"), request.headers.get("x-u")];
    seen.push([searchParams.get("key"), searchParams.get("u"), auth, u, await request.text()].join(" | "));
    return new Response(JSON.stringify({ url: request.url, auth }));
  }, async (port) => {
    const env = { BASE: `http://127.0.0.1:${port}`, KEY: key };
    for (const secrets of [undefined, createSecrets()]) {
      const journal = memoryJournal();
      const kept = journal.create({ kind: "conversation", input: null });
      const made = atWork(step(""), { slots, env, run: { journal: kept, ...(secrets && { secrets }) } });
      assert.deepEqual(await performApiCall(made.work), WENT_ON);
      const events = await made.events();
      const all = JSON.stringify([made.told, events, journal.read(kept.id).steps]);
      for (const form of ["topsecret", encodeURIComponent(key), String(port)]) {
        assert.ok(!all.includes(form), `${form} in ${all}`);
      }
      assert.match(all, /POST \$\{env\.BASE\}\/x\?key=\$\{env\.KEY\}&u=%24%7Benv.KEY%7D/);
    }
    assert.equal(seen[0], `${key} | \${env.KEY} | Bearer ${key} | \${env.KEY} | \${env.KEY}`);
  });
});

Deno.test("requests: errors do not show the value of a variable either", async () => {
  const env = { HOST: "127.0.0.1:9", KEY: "k&y", LINES: "a\nb" };
  const url = "http://${env.HOST}/?${env.KEY}";
  const failed = await api(apiStep(url), { env });
  assert.deepEqual(failed.told, [
    "warn GET http://${env.HOST}/?${env.KEY}: nothing answers at ${env.HOST} (connection refused)",
  ]);
  assert.equal((await errorOf(sse(sseStep(url), { env }))).message, `step "s": could not reach ${url}`);
  const refused = await errorOf(api(apiStep(url), { env, http: network() }));
  assert.equal(
    refused.message,
    'step "a": Connecting to "${env.HOST}" is not allowed: add --allow-net=${env.HOST}',
  );
  const lines = [{ key: "A", value: "${env.LINES}" }];
  assert.equal(
    (await errorOf(api(apiStep(url, { headers: lines }), { env }))).message,
    'step "a": header "A" must be a single line',
  );
  assert.equal(
    (await errorOf(api(apiStep("http://a.test/${env.NONE}"), { env }))).message,
    'step "a": the environment variable "NONE" is not set; set it',
  );
});

Deno.test("requests: a value that a server repeats is taken out of a stream, however it is cut", async () => {
  const key = "topsecret-key-1";
  await withServer(
    () => streaming("data: my key is tops\n\n", "data: ecret-key-\n\n", "data: 1, and tops\n\n"),
    async (port) => {
      for (const secrets of [undefined, createSecrets()]) {
        const step = sseStep(`http://127.0.0.1:${port}/`, { headers: [{ key: "K", value: "${env.KEY}" }] });
        const { told } = await sse(step, {
          env: { KEY: key },
          run: secrets === undefined ? {} : { secrets },
        });
        const text = "my key is ${env.KEY}, and tops";
        assert.equal(
          told.filter((line) => line.startsWith("delta ")).map((line) => line.slice(6)).join(""),
          text,
        );
        assert.deepEqual(told.slice(-2), [`say ${text}`, `set conversation.r ${JSON.stringify(text)}`]);
      }
    },
  );
});

Deno.test("requests: what is not finished says itself that it is the same", async () => {
  const seen: (string | null)[] = [];
  await withServer((request) => {
    seen.push(request.headers.get("idempotency-key"));
    return streaming("data: x\n\n");
  }, async (port) => {
    const url = `http://127.0.0.1:${port}/`;
    const own = [{ key: "idempotency-key", value: "own" }];
    const made = atWork(apiStep(url, { method: "POST" }));
    await performApiCall(made.work);
    await api(apiStep(url));
    await api(apiStep(url, { method: "DELETE", headers: own }));
    const streamed = atWork({ ...sseStep(url, { method: "POST" }), id: "Ä" });
    await performSseCall(streamed.work);
    assert.deepEqual(seen, [
      `${made.work.run.id}/main/a/http`,
      null,
      "own",
      `${streamed.work.run.id}/main/%C3%84/http`,
    ]);
  });
});

Deno.test("requests: a network that fails is tried once more, an answer is not", async () => {
  let asked = 0;
  const failing = (times: number): Http => {
    asked = 0;
    return httpOfFetch(() => {
      if (++asked <= times) return Promise.reject(new TypeError("the line is dead"));
      return Promise.resolve(streaming("data: x\n\n"));
    });
  };
  const url = "https://a.test/x";
  assert.deepEqual((await api(apiStep(url), { http: failing(1) })).outcome, WENT_ON);
  assert.equal(asked, 2);
  assert.deepEqual(await api(apiStep(url), { http: failing(9) }), {
    outcome: FAILED,
    told: ["warn GET https://a.test/x: the line is dead"],
  });
  assert.equal(asked, 2);
  assert.deepEqual((await sse(sseStep(url), { http: failing(1) })).told.at(-2), "say x");
  assert.equal(asked, 2);
  const { work, told } = atWork(sseStep(url), { http: failing(9) });
  assert.equal((await errorOf(performSseCall(work))).message, 'step "s": could not reach https://a.test/x');
  assert.deepEqual(told, ["warn the line is dead"]);
  assert.equal(asked, 2);
  let answers = 0;
  const down = httpOfFetch(() => Promise.resolve(new Response("", { status: 503 + 0 * answers++ })));
  await api(apiStep(url), { http: down });
  assert.equal(answers, 1);
});

Deno.test("requests: nobody there, and no such host", async () => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = listener.addr;
  listener.close();
  const url = `http://127.0.0.1:${port}/`;
  assert.deepEqual((await api(apiStep(url))).told, [
    `warn GET ${url}: nothing answers at 127.0.0.1:${port} (connection refused)`,
  ]);
  assert.deepEqual((await api(apiStep("no-url"))).told, [
    'warn GET no-url: expected a whole URL such as "https://example.com/page"',
  ]);
});

Deno.test("requests: no answer in time", async () => {
  await withRawServer("", async (port) => {
    const url = `http://127.0.0.1:${port}/`;
    const started = performance.now();
    assert.deepEqual((await api(apiStep(url), { timeoutMs: 150 })).told, [
      `warn GET ${url}: no answer within 0.15 s`,
    ]);
    const silent = await errorOf(sse(sseStep(url), { timeoutMs: 150 }));
    assert.equal(silent.message, `step "s": ${url} stopped sending`);
    assert.ok(performance.now() - started < 5000);
  }, { keepOpen: true });
  await withRawServer("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n012", async (port) => {
    const { told } = await api(apiStep(`http://127.0.0.1:${port}/`), { timeoutMs: 150 });
    assert.match(told.join(), /no answer within 0\.15 s$/);
  }, { keepOpen: true });
});

Deno.test("requests: the times are 30 s and 60 s of the run's clock", async () => {
  const http = httpOfFetch(() => new Promise(() => {}));
  const clock = virtualClock();
  const { told } = await clock.run(api(apiStep("https://a.test/"), { http, run: { clock } }));
  assert.deepEqual(told, ["warn GET https://a.test/: no answer within 30 s"]);
  assert.equal(clock.now(), 30_000);
  const failed = await clock.run(errorOf(sse(sseStep("https://a.test/"), { http, run: { clock } })));
  assert.equal(failed.message, 'step "s": https://a.test/ stopped sending');
  assert.equal(clock.now(), 90_000);
});

Deno.test("requests: a slow stream goes on as long as its events come, comments do not count", async () => {
  const clock = virtualClock();
  const slowly = (line: string, times: number) =>
    httpOfFetch(() => {
      const chunks = async function* () {
        for (let n = 0; n < times; n++) {
          await clock.sleep(50_000);
          yield new TextEncoder().encode(line);
        }
      };
      return Promise.resolve(
        new Response(ReadableStream.from(chunks()), { headers: { "content-type": "text/event-stream" } }),
      );
    });
  const options = (http: Http) => ({ http, run: { clock } });
  const { told } = await clock.run(sse(sseStep("https://a.test/"), options(slowly("data: x\n\n", 4))));
  assert.deepEqual(told.at(-2), "say xxxx");
  const { work, told: void_ } = atWork(sseStep("https://a.test/"), options(slowly(": note\n\n", 4)));
  assert.equal(
    (await clock.run(errorOf(performSseCall(work)))).message,
    'step "s": https://a.test/ stopped sending',
  );
  assert.deepEqual(void_, []);
});

Deno.test("api-call: an answer of 100 MB is left early", async () => {
  let sent = 0;
  const chunk = new Uint8Array(1_000_000).fill(0x20);
  await withServer(() => {
    const body = async function* () {
      while (sent < 100_000_000) {
        sent += chunk.length;
        yield chunk;
      }
    };
    return new Response(ReadableStream.from(body()), { headers: { "cache-control": "no-transform" } });
  }, async (port) => {
    const url = `http://127.0.0.1:${port}/`;
    const started = performance.now();
    assert.deepEqual((await api(apiStep(url))).told, [`warn GET ${url}: the answer is longer than 5 MB`]);
    assert.ok(performance.now() - started < 10_000);
    assert.ok(sent < 50_000_000, `${sent} bytes were sent`);
  });
});

Deno.test("sse-call: one message, streamed, and stored", async () => {
  const bytes = new TextEncoder().encode("data: Grüße\n\n");
  const rows:
    readonly (readonly [chunks: readonly (string | Uint8Array)[], path: string | undefined, text: string])[] =
      [
        [["data: Hel\n\n", "data: lo\n\n"], undefined, "Hello"],
        [["data: Hel\rdata: lo\r\rdata: !\r\r"], undefined, "Hel\nlo!"],
        [["data: Hel\r", "\n\r\ndata: lo\r\n\r\n"], undefined, "Hello"],
        [[bytes.subarray(0, 9), bytes.subarray(9, 11), bytes.subarray(11)], undefined, "Grüße"],
        [["\ufeff: note\n\ndata: a\n: note\ndata: b\n\n"], undefined, "a\nb"],
        [["data: a\n\ndata: unfinished\n"], undefined, "a"],
        [["data: a\n\ndata: [DONE]\n\ndata: b\n\n"], undefined, "a"],
        [
          ['data: {"d":"Hel"}\n\ndata: {"x":1}\n\ndata: {"d":null}\n\ndata: {"d":"lo"}\n\ndata: [DONE]\n\n'],
          "$.d",
          "Hello",
        ],
        [['data: {"d":1}\n\ndata: {"d":[true]}\n\n'], "$.d", "1[true]"],
        [['data: {"d":["a","b"]}\n\n'], "$.d[*]", '["a","b"]'],
        [[`data: ${"x".repeat(5_000_000)}\n\n`], undefined, "x".repeat(5_000_000)],
        [[], undefined, ""],
      ];
  for (const [chunks, responsePath, text] of rows) {
    await withServer((request) => {
      assert.equal(request.headers.get("accept"), "text/event-stream");
      return streaming(...chunks);
    }, async (port) => {
      const step = sseStep(`http://127.0.0.1:${port}/`, responsePath === undefined ? {} : { responsePath });
      const { outcome, told } = await sse(step);
      assert.deepEqual(outcome, { kind: "next" });
      const deltas = told.filter((line) => line.startsWith("delta "));
      assert.ok(deltas.map((line) => line.slice(6)).join("") === text);
      const last = told.slice(deltas.length);
      const said = text === "" ? [] : [`say ${text}`];
      assert.ok(
        JSON.stringify(last) === JSON.stringify([...said, `set conversation.r ${JSON.stringify(text)}`]),
      );
    });
  }
});

Deno.test("sse-call: text is told before the stream has ended", async () => {
  const more = Promise.withResolvers<void>();
  await withServer(() => {
    const body = async function* () {
      yield new TextEncoder().encode("data: a\n\n");
      await more.promise;
      yield new TextEncoder().encode("data: b\n\n");
    };
    const headers = { "content-type": "TEXT/event-stream", "cache-control": "no-transform" };
    return new Response(ReadableStream.from(body()), { headers });
  }, async (port) => {
    const { work, told } = atWork(sseStep(`http://127.0.0.1:${port}/`));
    const lines: string[] = [];
    const done = performSseCall({
      ...work,
      delta(text) {
        lines.push(text);
        more.resolve();
      },
    });
    await done;
    assert.deepEqual(lines, ["a", "b"]);
    assert.deepEqual(told[0], "say ab");
  });
});

Deno.test("sse-call: the errors of the specification", async () => {
  const stream = { "content-type": "text/event-stream" };
  const rows: readonly (readonly [ResponseInit, string | null, string | undefined, string])[] = [
    [{ status: 500, headers: stream }, "data: x\n\n", undefined, "URL answered 500, expected 200"],
    [{ status: 201, headers: stream }, "data: x\n\n", undefined, "URL answered 201, expected 200"],
    [
      { headers: { "content-type": "application/json" } },
      "{}",
      undefined,
      "URL did not answer with text/event-stream",
    ],
    [
      { headers: { "content-type": "text/event-streams" } },
      "",
      undefined,
      "URL did not answer with text/event-stream",
    ],
    [{}, null, undefined, "URL did not answer with text/event-stream"],
    [{ headers: stream }, 'data: {"d": 1\n\n', "$.d", "an event is not JSON"],
  ];
  for (const [init, body, responsePath, problem] of rows) {
    await answering(body, init, async (url) => {
      const { work, told } = atWork(sseStep(url, responsePath === undefined ? {} : { responsePath }));
      const { message } = await errorOf(performSseCall(work));
      assert.equal(message, `step "s": ${problem.replace("URL", url)}`);
      assert.deepEqual(told, []);
    });
  }
});

Deno.test("sse-call: what was told of a stream that breaks off is void", async () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 1000\r\n\r\n";
  await withRawServer(`${head}data: a\n\n`, async (port, received) => {
    const url = `http://127.0.0.1:${port}/`;
    const { work, told } = atWork(sseStep(url));
    assert.equal((await errorOf(performSseCall(work))).message, `step "s": ${url} stopped sending`);
    assert.deepEqual(told, ["delta a", "warn the connection ended after 9 of 1000 bytes", "discard"]);
    assert.equal(received.length, 1); // no reconnect
  });
  await withRawServer(`${head}data: a\n\n`, async (port) => {
    const url = `http://127.0.0.1:${port}/`;
    const { work, told } = atWork(sseStep(url), { timeoutMs: 100 });
    assert.equal((await errorOf(performSseCall(work))).message, `step "s": ${url} stopped sending`);
    assert.deepEqual(told, ["delta a", "discard"]);
  }, { keepOpen: true });
});

Deno.test("sse-call: an event, and the whole text, have a bound", async () => {
  const endless = (line: string) =>
    httpOfFetch(() => {
      const chunk = new TextEncoder().encode(line);
      const chunks = async function* () {
        while (true) yield chunk;
      };
      return Promise.resolve(
        new Response(ReadableStream.from(chunks()), { headers: { "content-type": "text/event-stream" } }),
      );
    });
  const line = `data: ${"x".repeat(1_000_000)}\n`;
  assert.equal(
    (await errorOf(sse(sseStep("https://a.test/"), { http: endless(line) }))).message,
    'step "s": an event is longer than 16,777,216 characters',
  );
  assert.equal(
    (await errorOf(sse(sseStep("https://a.test/"), { http: endless(`${line}\n`) }))).message,
    'step "s": https://a.test/ sent more than 16 MB of text',
  );
});

Deno.test("requests: what is not allowed ends the step, unless a slot has a say in the host", async () => {
  await answering("inside", {}, async (url) => {
    const { port, origin } = new URL(url);
    const flag = `--allow-net=127.0.0.1:${port}`;
    const http = network("example.com");
    const reason =
      `Connecting to "127.0.0.1:${port}" is not allowed: it is not public (loopback) and must be named outright; add ${flag}`;
    const all = hostHttp({
      check: (request) => {
        throw new PermissionRefused(reason, { request, flag });
      },
    });
    const refused = await errorOf(api(apiStep(url), { http: all }));
    assert.equal(refused.message, `step "a": ${reason}`);
    assert.equal((await errorOf(sse(sseStep(url), { http: all }))).message, `step "s": ${reason}`);
    const slots = { "conversation.host": "127.0.0.1", "conversation.path": "x", "conversation.p": "1" };
    for (
      const templated of [`http://{{host}}:${port}/x`, `http://127.0.0.{{p}}:${port}`, `${origin}{{none}}`]
    ) {
      const { outcome, told } = await api(apiStep(templated), { http, slots });
      assert.deepEqual(outcome, FAILED);
      assert.match(
        told.join(),
        /^warn GET http.*: Connecting to "127.0.0.1:\d+" is not allowed: add --allow-net=/,
      );
    }
    await errorOf(api(apiStep(`${origin}/{{path}}?h={{host}}`), { http, slots }));
    assert.deepEqual((await api(apiStep(url))).outcome, WENT_ON); // named outright
  });
});

Deno.test("requests: a redirect to where nobody may go ends the step", async () => {
  await answering(
    null,
    { status: 302, headers: { location: "http://169.254.169.254/latest" } },
    async (url) => {
      const { port } = new URL(url);
      const http = network(`127.0.0.1:${port}`);
      assert.match(
        (await errorOf(api(apiStep(url), { http }))).message,
        /^step "a": Connecting to "169\.254\.169\.254:80" is not allowed: .*--allow-net=169\.254\.169\.254:80 \(".*" redirects there\)$/,
      );
    },
  );
});

Deno.test("requests: a run that is resumed does not ask again", async () => {
  let asked = 0;
  const http = httpOfFetch(() => {
    asked++;
    return Promise.resolve(streaming("data: a\n\n", "data: b\n\n"));
  });
  const journal = memoryJournal();
  const first = journal.create({ kind: "conversation", input: null });
  const steps = [
    apiStep("https://a.test/{{q}}"),
    apiStep("https://a.test/x", { responsePath: "$" }),
  ] as const;
  const streamed = sseStep("https://a.test/");
  const turn = async (run: StepWorkOptions["run"], given: Http) => {
    const told: string[] = [];
    for (const [index, step] of steps.entries()) {
      const made = atWork({ ...step, id: `a${index}` }, { http: given, ...(run && { run }) });
      await performApiCall(made.work);
      told.push(...made.told);
    }
    const made = atWork(streamed, { http: given, ...(run && { run }) });
    await performSseCall(made.work);
    return [...told, ...made.told];
  };
  const before = await turn({ journal: first }, http);
  first.release("stopped", { input: 0, output: 0 });
  assert.equal(asked, 3);
  const none = httpOfFetch(() => assert.fail("it was asked again"));
  const after = await turn({ journal: journal.open(first.id) }, none);
  assert.deepEqual(after, before.filter((line) => !line.startsWith("delta ")));
  assert.deepEqual(after.slice(-2), ["say ab", 'set conversation.r "ab"']);
});

Deno.test("requests: a run that is ended leaves no connection and no outcome", async () => {
  const closed = Promise.withResolvers<void>();
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: a\n\n";
  await withRawServer(head, async (port) => {
    const abort = new AbortController();
    const journal = memoryJournal();
    const kept = journal.create({ kind: "conversation", input: null });
    const { work, told, events } = atWork(sseStep(`http://127.0.0.1:${port}/`), {
      run: { signal: abort.signal, journal: kept },
    });
    const reason = new Error("stopped by hand");
    const done = performSseCall({ ...work, delta: () => abort.abort(reason) });
    await assert.rejects(done, reason);
    await closed.promise;
    assert.deepEqual(told, ["discard"]);
    const ended: readonly RunEvent[] = await events();
    assert.ok(!ended.some(({ type }) => type === "step-end"));
    assert.deepEqual(journal.read(kept.id).steps.map(({ status }) => status), ["started"]);
  }, { keepOpen: true, onClosed: () => closed.resolve() });
});

Deno.test("http of fetch: the whole answer has a bound, an abort ends what takes no notice of it", async () => {
  const http = httpOfFetch((url, init) =>
    Promise.resolve(new Response(`${url} ${init?.method} ${JSON.stringify(init?.headers)} ${init?.body}`))
  );
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  const whole = await http.fetch("https://a.test/", { method: "POST", headers: { a: "b" }, body: "c" });
  assert.equal(text(whole.body), 'https://a.test/ POST {"a":"b"} c');
  assert.deepEqual([whole.status, whole.url, whole.truncated], [200, "https://a.test/", false]);
  const cut = await http.fetch("https://a.test/", { maxBytes: 4 });
  assert.deepEqual([text(cut.body), cut.truncated], ["http", true]);
  const abort = new AbortController();
  const deaf = httpOfFetch(() => new Promise(() => {})).fetch("https://a.test/", { signal: abort.signal });
  const silent = await httpOfFetch(() => Promise.resolve(new Response(new ReadableStream()))).open(
    "https://a.test/",
    {
      signal: abort.signal,
    },
  );
  const reading = Array.fromAsync(silent.body);
  const reason = new Error("enough");
  abort.abort(reason);
  await assert.rejects(deaf, reason);
  await assert.rejects(reading, reason);
});

Deno.test("http of fetch: the platform's own works", async () => {
  await withServer(
    (request, port) =>
      new URL(request.url).pathname === "/old"
        ? Response.redirect(`http://127.0.0.1:${port}/new`)
        : streaming("data: a\n\n"),
    async (port) => {
      const made = await sse(sseStep(`http://127.0.0.1:${port}/old`), { http: httpOfFetch(fetch) });
      assert.deepEqual(made.told, ["delta a", "say a", 'set conversation.r "a"']);
    },
  );
});
