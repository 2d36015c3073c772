// The steps of a conversation that make requests (conversations.md 2.6, 2.8), with a fetch of the program, and over the network.
import assert from "node:assert/strict";
import {
  type ConversationOptions,
  type Json,
  memoryJournal,
  type ProgramFetch,
  type RunEvent,
  virtualClock,
} from "../mod.ts";
import { chain, endOf, eventsOf, type StepJson, talk } from "./_conversation_turns.ts";
import { withRawServer, withServer } from "./_loopback.ts";
import { testProject } from "./_project.ts";
import { FLOWS, madeStep } from "./_step_talk.ts";

type Fields = Readonly<Record<string, unknown>>;

const TARGET = { slot: { name: "r" } };

function apiStep(url: string, fields: Fields = {}): StepJson {
  return { id: "a", "api-call": { url, method: "GET", target: TARGET, ...FLOWS, ...fields } };
}

function sseStep(url: string, fields: Fields = {}): StepJson {
  return { id: "s", "sse-call": { url, method: "GET", store: TARGET, ...fields } };
}

const pathOf = (path: string | undefined): Fields => path === undefined ? {} : { "response-path": path };

/** A fetch that gives this for whatever is asked. */
const giving = (body: BodyInit | null, init: ResponseInit = {}): { readonly fetch: ProgramFetch } => ({
  fetch: () => Promise.resolve(new Response(body, init)),
});

const URL_ = "https://a.test/x";

/** A stream of events, a chunk for each text. */
function streaming(...chunks: readonly (string | Uint8Array)[]): Response {
  const encoder = new TextEncoder();
  const body = ReadableStream.from(
    chunks.map((chunk) => typeof chunk === "string" ? encoder.encode(chunk) : new Uint8Array(chunk)),
  );
  return new Response(body, { headers: { "content-type": "text/event-stream; charset=utf-8" } });
}

/** A stream whose chunks come as the generator gives them. */
function slowly(chunks: AsyncGenerator<string>): Response {
  const body = ReadableStream.from(chunks).pipeThrough(new TextEncoderStream());
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** Sets variables of the environment for a conversation that may have them. */
async function withVariables<Value>(
  variables: Readonly<Record<string, string>>,
  work: (options: Pick<ConversationOptions, "env">) => Promise<Value>,
): Promise<Value> {
  for (const [name, value] of Object.entries(variables)) Deno.env.set(name, value);
  try {
    return await work({ env: Object.keys(variables) });
  } finally {
    for (const name of Object.keys(variables)) Deno.env.delete(name);
  }
}

/** What `orrery run` tells of a chain of such steps. */
async function run(
  steps: readonly StepJson[],
  flags: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<
  {
    readonly warnings: readonly string[];
    readonly events: readonly RunEvent[];
    readonly error: string | undefined;
  }
> {
  const flow = { success: { action: "continue" }, fail: { action: "continue" } };
  const made = steps.map((step) =>
    step["api-call"] === undefined ? step : { ...step, "api-call": { ...Object(step["api-call"]), ...flow } }
  );
  const action = { id: "main", chain: made };
  await using project = await testProject({
    "a.agent.yml": JSON.stringify({ version: "0.1", structure: { id: "a", action } }),
  });
  const { stdout, stderr } = await project.run(["run", "a.agent.yml", "--jsonl", ...flags], { env });
  assert.notEqual(stdout, "", stderr);
  const events: readonly RunEvent[] = stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  const warnings = eventsOf(events, "warning").map(({ text }) => text.replace(/^step "\w+": /, ""));
  return { warnings, events, error: endOf(events).error };
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
    const made = await madeStep(apiStep(URL_, pathOf(responsePath)), giving(body));
    assert.deepEqual(made.told, [told, "goto yes"], `${body} ${responsePath}`);
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
    const made = await madeStep(apiStep(URL_, pathOf(responsePath)), {
      ...giving(body, init),
      slots: { r: "old" },
    });
    assert.deepEqual(made.told, [`warn GET ${URL_}: ${problem}`, "goto no"]);
    assert.equal(made.slots["conversation.r"], "old");
  }
});

Deno.test("api-call: other codes of 2xx count, redirects are followed", async () => {
  await withServer((request, port) => {
    const { pathname } = new URL(request.url);
    return pathname === "/old"
      ? new Response(null, { status: 307, headers: { location: `http://127.0.0.1:${port}/new` } })
      : new Response(JSON.stringify([request.method, pathname]), { status: 201 });
  }, async (port) => {
    const step = apiStep(`http://127.0.0.1:${port}/old`, { method: "PUT", body: "x" });
    assert.deepEqual((await madeStep(step, { fetch })).told, [
      'set conversation.r ["PUT","/new"]',
      "goto yes",
    ]);
    const { events } = await run([step], [`--allow-net=127.0.0.1:${port}`]);
    assert.deepEqual(eventsOf(events, "slot-set").map(({ value }) => value), [["PUT", "/new"]]);
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
    const slots = { q: "a b&c=ü/../?#", o: { n: [1] }, "session.s": 'x"y' };
    const headers = [
      { key: "X-Name", value: "{{q}}" },
      { key: "x-name", value: "two" },
      { key: "Accept", value: "a/b" },
    ];
    const post = { method: "POST", headers } as const;
    const made = (step: StepJson) => madeStep(step, { slots, fetch });
    await made(apiStep(`${url}/{{q}}?q={{q}}&m={{missing}}`, { headers }));
    await made(apiStep(url, { ...post, body: "t {{q}} {{o}}" }));
    await made(apiStep(url, { ...post, body: { a: "{{o}}", b: "{{session.s}}", c: 1 } }));
    await made(apiStep(url, { ...post, body: "{{o}}" }));
    const own = [{ key: "CONTENT-TYPE", value: "text/own" }];
    await made(apiStep(url, { method: "POST", headers: own, body: [1] }));
    await run([apiStep(url, { method: "POST", body: "t" })], [`--allow-net=127.0.0.1:${port}`]);
  });
  const encoded = "a%20b%26c%3D%C3%BC%2F..%2F%3F%23";
  const sent = "http://127.0.0.1:PORT/ | a b&c=ü/../?#, two";
  assert.deepEqual(seen, [
    `http://127.0.0.1:PORT/${encoded}?q=${encoded}&m= | a b&c=ü/../?#, two | - | a/b | `,
    `${sent} | text/plain;charset=UTF-8 | a/b | t a b&c=ü/../?# {"n":[1]}`,
    `${sent} | application/json | a/b | {"a":{"n":[1]},"b":"x\\"y","c":1}`,
    `${sent} | application/json | a/b | {"n":[1]}`,
    "http://127.0.0.1:PORT/ | - | text/own | */* | [1]",
    "http://127.0.0.1:PORT/ | - | - | */* | t", // a fetch says what text is, Orrery's own network does not
  ]);
});

Deno.test("requests: a slot cannot add a header", async () => {
  const nobody: ProgramFetch = () => assert.fail("it was sent");
  for (const v of ["1\r\nX-Evil: 1", "1\nX-Evil: 1", "1\r"]) {
    const headers = [{ key: "A", value: "{{v}}" }];
    const options = { fetch: nobody, slots: { v } };
    const failed = await madeStep(apiStep("http://a.test/", { headers }), options);
    assert.equal(failed.error, 'step "a": header "A" must be a single line');
    const streamed = await madeStep(sseStep("http://a.test/", { headers }), options);
    assert.equal(streamed.error, 'step "s": header "A" must be a single line');
  }
  const headers = [{ key: "A", value: "€" }];
  assert.equal(
    (await madeStep(apiStep("http://a.test/", { headers }), { fetch: nobody })).error,
    'step "a": header "A" holds a character that no header can have, expected Latin-1 text',
  );
});

Deno.test("requests: the value of a variable is sent, and seen nowhere else", async () => {
  const key = 'topsecret/"key" 1';
  const step = apiStep("${env.HTTP_BASE}/x?key=${env.HTTP_KEY}&u={{u}}", {
    method: "POST",
    headers: [{ key: "Authorization", value: "Bearer ${env.HTTP_KEY}" }, { key: "X-U", value: "{{u}}" }],
    body: "${env.HTTP_KEY}",
  });
  const slots = { u: "${env.HTTP_KEY}" };
  const seen: string[] = [];
  await withServer(async (request) => {
    const { searchParams } = new URL(request.url);
    const [auth, u] = [request.headers.get("authorization"), request.headers.get("x-u")];
    seen.push([searchParams.get("key"), searchParams.get("u"), auth, u, await request.text()].join(" | "));
    return new Response(JSON.stringify({ url: request.url, auth }));
  }, async (port) => {
    const variables = { HTTP_BASE: `http://127.0.0.1:${port}`, HTTP_KEY: key };
    const store = memoryJournal();
    const made = await withVariables(
      variables,
      (options) => madeStep(step, { ...options, slots, fetch, store }),
    );
    assert.equal(made.told.at(-1), "goto yes");
    const all = JSON.stringify([made.told, made.events, store.read(made.one.conversation.id).steps]);
    const printed = await run([{ ...step, id: "b" }], ["--allow-net=127.0.0.1", "--allow-env"], variables);
    assert.equal(printed.error, undefined);
    for (const told of [all, JSON.stringify(printed.events)]) {
      for (const form of ["topsecret", encodeURIComponent(key), String(port)]) {
        assert.ok(!told.includes(form), `${form} in ${told}`);
      }
    }
    assert.match(all, /POST \$\{env\.HTTP_BASE\}\/x\?key=\$\{env\.HTTP_KEY\}&u=%24%7Benv.HTTP_KEY%7D/);
    assert.equal(seen[0], `${key} | \${env.HTTP_KEY} | Bearer ${key} | \${env.HTTP_KEY} | \${env.HTTP_KEY}`);
  });
});

Deno.test("requests: nobody there, no such host, and errors that do not show the value of a variable either", async () => {
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const { port } = listener.addr;
  listener.close();
  const url = `http://127.0.0.1:${port}/`;
  const env = { HOST: "127.0.0.1:9", KEY: "k&y", LINES: "a\nb" };
  const hidden = "http://${env.HOST}/?${env.KEY}";
  const allowed = ["--allow-net=127.0.0.1", "--allow-env"];
  const made = await run(
    [apiStep(url), { ...apiStep("no-url"), id: "b" }, { ...apiStep(hidden), id: "c" }],
    allowed,
    env,
  );
  assert.deepEqual(made.warnings, [
    `GET ${url}: nothing answers at 127.0.0.1:${port} (connection refused)`,
    'GET no-url: expected a whole URL such as "https://example.com/page"',
    "GET http://${env.HOST}/?${env.KEY}: nothing answers at ${env.HOST} (connection refused)",
  ]);
  assert.equal((await run([sseStep(hidden)], allowed, env)).error, `step "s": could not reach ${hidden}`);
  assert.equal(
    (await run([apiStep(hidden)], ["--allow-env"], env)).error,
    'step "a": Connecting to "${env.HOST}" is not allowed: add --allow-net=${env.HOST}',
  );
  await withVariables({ HTTP_LINES: env.LINES }, async (options) => {
    const headers = [{ key: "A", value: "${env.HTTP_LINES}" }];
    const { error } = await madeStep(apiStep(URL_, { headers }), { ...options, ...giving("") });
    assert.equal(error, 'step "a": header "A" must be a single line');
  });
});

Deno.test("requests: a value that a server repeats is taken out of a stream, however it is cut", async () => {
  const key = "topsecret-key-1";
  const step = sseStep(URL_, { headers: [{ key: "K", value: "${env.HTTP_KEY}" }] });
  const { told } = await withVariables({ HTTP_KEY: key }, (options) =>
    madeStep(step, {
      ...options,
      fetch: () =>
        Promise.resolve(
          streaming("data: my key is tops\n\n", "data: ecret-key-\n\n", "data: 1, and tops\n\n"),
        ),
    }));
  const text = "my key is ${env.HTTP_KEY}, and tops";
  assert.equal(told.filter((line) => line.startsWith("delta ")).map((line) => line.slice(6)).join(""), text);
  assert.deepEqual(told.slice(-2), [`say ${text}`, `set conversation.r ${JSON.stringify(text)}`]);
});

Deno.test("requests: what is not finished says itself that it is the same", async () => {
  const seen: (string | null)[] = [];
  const fetch: ProgramFetch = (_url, init) => {
    seen.push(new Headers(init?.headers).get("idempotency-key"));
    return Promise.resolve(streaming("data: x\n\n"));
  };
  const own = [{ key: "idempotency-key", value: "own" }];
  const made = await madeStep(apiStep(URL_, { method: "POST" }), { fetch });
  await madeStep(apiStep(URL_), { fetch });
  await madeStep(apiStep(URL_, { method: "DELETE", headers: own }), { fetch });
  const streamed = await madeStep({ ...sseStep(URL_, { method: "POST" }), id: "Ä" }, { fetch });
  assert.deepEqual(seen, [
    `${made.one.conversation.id}/main/a/http`,
    null,
    "own",
    `${streamed.one.conversation.id}/main/%C3%84/http`,
  ]);
});

Deno.test("requests: a network that fails is tried once more, an answer is not", async () => {
  let asked = 0;
  const failing = (times: number): { readonly fetch: ProgramFetch } => {
    asked = 0;
    return {
      fetch: () =>
        ++asked <= times
          ? Promise.reject(new TypeError("the line is dead"))
          : Promise.resolve(streaming("data: x\n\n")),
    };
  };
  assert.equal((await madeStep(apiStep(URL_), failing(1))).told.at(-1), "goto yes");
  assert.equal(asked, 2);
  assert.deepEqual((await madeStep(apiStep(URL_), failing(9))).told, [
    `warn GET ${URL_}: the line is dead`,
    "goto no",
  ]);
  assert.equal(asked, 2);
  assert.equal((await madeStep(sseStep(URL_), failing(1))).told.at(-2), "say x");
  assert.equal(asked, 2);
  const never = await madeStep(sseStep(URL_), failing(9));
  assert.equal(never.error, `step "s": could not reach ${URL_}`);
  assert.deepEqual([never.told, asked], [["warn the line is dead"], 2]);
  let answers = 0;
  await madeStep(apiStep(URL_), {
    fetch: () => Promise.resolve(new Response("", { status: 503 + 0 * answers++ })),
  });
  assert.equal(answers, 1);
});

Deno.test("requests: the times are 30 s and 60 s of the conversation's clock, of an answer that stops in the middle too", async () => {
  const hanging: readonly ProgramFetch[] = [
    () => new Promise(() => {}),
    () =>
      Promise.resolve(
        new Response(new ReadableStream({ start: (body) => body.enqueue(new Uint8Array([0x30])) })),
      ),
  ];
  for (const fetch of hanging) {
    const clock = virtualClock();
    const { told } = await clock.run(madeStep(apiStep(URL_), { fetch, clock }));
    assert.deepEqual(told, [`warn GET ${URL_}: no answer within 30 s`, "goto no"]);
    assert.equal(clock.now(), 30_000);
  }
  const clock = virtualClock();
  const failed = await clock.run(madeStep(sseStep(URL_), { fetch: () => new Promise(() => {}), clock }));
  assert.equal(failed.error, `step "s": ${URL_} stopped sending`);
  assert.equal(clock.now(), 60_000);
});

Deno.test("requests: a slow stream goes on as long as its events come, comments do not count", async () => {
  const clock = virtualClock();
  const lines = (line: string): ProgramFetch => () =>
    Promise.resolve(slowly((async function* () {
      for (let n = 0; n < 4; n++) {
        await clock.sleep(50_000);
        yield line;
      }
    })()));
  const { told } = await clock.run(madeStep(sseStep(URL_), { fetch: lines("data: x\n\n"), clock }));
  assert.equal(told.at(-2), "say xxxx");
  const silent = await clock.run(madeStep(sseStep(URL_), { fetch: lines(": note\n\n"), clock }));
  assert.deepEqual([silent.error, silent.told], [`step "s": ${URL_} stopped sending`, []]);
  const begun: ProgramFetch = () =>
    Promise.resolve(slowly((async function* () {
      yield "data: a\n\n";
      await new Promise(() => {});
    })()));
  const stopped = await clock.run(madeStep(sseStep(URL_), { fetch: begun, clock }));
  assert.deepEqual([stopped.error, stopped.told], [`step "s": ${URL_} stopped sending`, ["delta a"]]);
  assert.deepEqual(stopped.one.lines, [], "what was told of it is no message");
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
    const { told } = await madeStep(sseStep(URL_, pathOf(responsePath)), {
      fetch(_url, init) {
        assert.equal(new Headers(init?.headers).get("accept"), "text/event-stream");
        return Promise.resolve(streaming(...chunks));
      },
    });
    const deltas = told.filter((line) => line.startsWith("delta "));
    assert.ok(deltas.map((line) => line.slice(6)).join("") === text);
    const said = text === "" ? [] : [`say ${text}`];
    const last = [...said, `set conversation.r ${JSON.stringify(text)}`];
    assert.ok(JSON.stringify(told.slice(deltas.length)) === JSON.stringify(last));
  }
});

Deno.test("sse-call: text is told before the stream has ended", async () => {
  const more = Promise.withResolvers<void>();
  const body = async function* (): AsyncGenerator<string> {
    yield "data: a\n\n";
    await more.promise;
    yield "data: b\n\n";
  };
  const one = await talk(chain([sseStep(URL_)]), { fetch: () => Promise.resolve(slowly(body())) });
  const lines: string[] = [];
  for await (const event of one.conversation.start()) {
    if (event.type === "text-delta") {
      lines.push(event.text);
      more.resolve();
    }
  }
  assert.deepEqual(lines, ["a", "b"]);
  assert.deepEqual(one.lines, ["bot s: ab"]);
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
    const { told, error } = await madeStep(sseStep(URL_, pathOf(responsePath)), giving(body, init));
    assert.equal(error, `step "s": ${problem.replace("URL", URL_)}`);
    assert.deepEqual(told, []);
  }
});

Deno.test("sse-call: what was told of a stream that breaks off is void", async () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 1000\r\n\r\n";
  await withRawServer(`${head}data: a\n\n`, async (port, received) => {
    const url = `http://127.0.0.1:${port}/`;
    const { error, events, warnings } = await run([sseStep(url)], [`--allow-net=127.0.0.1:${port}`]);
    assert.equal(error, `step "s": ${url} stopped sending`);
    assert.deepEqual(warnings, ["the connection ended after 9 of 1000 bytes"]);
    assert.deepEqual(eventsOf(events, "text-delta").map(({ text }) => text), ["a"]);
    assert.deepEqual(eventsOf(events, "message"), []);
    assert.equal(received.length, 1); // no reconnect
  });
});

Deno.test("sse-call: an event, and the whole text, have a bound", async () => {
  const endless = (line: string): { readonly fetch: ProgramFetch } => ({
    fetch: () =>
      Promise.resolve(slowly((async function* () {
        while (true) yield line;
      })())),
  });
  const line = `data: ${"x".repeat(1_000_000)}\n`;
  assert.equal(
    (await madeStep(sseStep(URL_), endless(line))).error,
    'step "s": an event is longer than 16,777,216 characters',
  );
  assert.equal(
    (await madeStep(sseStep(URL_), endless(`${line}\n`))).error,
    `step "s": ${URL_} sent more than 16 MB of text`,
  );
});

Deno.test("requests: what is not allowed ends the step, unless a slot has a say in the host", async () => {
  const network = { fetch: undefined } as const;
  const slots = { host: "127.0.0.1", path: "x", p: "1" };
  const reason =
    'Connecting to "127.0.0.1:9" is not allowed: -A and --allow-net alone open public addresses only; it is not public (loopback) and must be named outright; add --allow-net=127.0.0.1:9';
  for (const url of ["http://127.0.0.1:9/x", "http://127.0.0.1:9/{{path}}?h={{host}}"]) {
    assert.equal((await madeStep(apiStep(url), { ...network, slots })).error, `step "a": ${reason}`);
    assert.equal((await madeStep(sseStep(url), { ...network, slots })).error, `step "s": ${reason}`);
  }
  for (const url of ["http://{{host}}:9/x", "http://127.0.0.{{p}}:9", "http://127.0.0.1:9{{none}}"]) {
    const { told, error } = await madeStep(apiStep(url), { ...network, slots });
    assert.equal(error, undefined);
    assert.match(told[0] ?? "", /^warn GET http.*: Connecting to "127.0.0.1:9" is not allowed: /);
    assert.deepEqual(told.slice(1), ["goto no"]);
  }
});

Deno.test("requests: a redirect to where nobody may go ends the step", async () => {
  const elsewhere = { status: 302, headers: { location: "http://169.254.169.254/latest" } };
  await withServer(() => new Response(null, elsewhere), async (port) => {
    const { error } = await run([apiStep(`http://127.0.0.1:${port}/x`)], [`--allow-net=127.0.0.1:${port}`]);
    assert.match(
      String(error),
      /^step "a": Connecting to "169\.254\.169\.254:80" is not allowed: .*--allow-net=169\.254\.169\.254:80 \(".*" redirects there\)$/,
    );
  });
});

Deno.test("requests: a turn that is finished later does not ask again", async () => {
  let asked = 0;
  const fetch: ProgramFetch = () => {
    asked++;
    return Promise.resolve(streaming("data: a\n\n", "data: b\n\n"));
  };
  const flow = { success: { action: "continue" }, fail: { action: "continue" } };
  const steps = chain([
    apiStep("https://a.test/{{q}}", flow),
    { ...apiStep(URL_, { "response-path": "$", ...flow }), id: "b" },
    sseStep(URL_),
    { id: "m", llm: { prompts: [{ user: "go" }] } },
  ]);
  const store = memoryJournal();
  const one = await talk(steps, { store, fetch, model: () => new Promise<string>(() => {}) });
  const tell = (event: RunEvent): readonly Json[] =>
    event.type === "message"
      ? [event.text]
      : event.type === "slot-set"
      ? [event.value]
      : event.type === "warning"
      ? [event.text]
      : [];
  const before: Json[] = [];
  for await (const event of one.conversation.start()) {
    before.push(...tell(event));
    if (event.type === "step-start" && event.kind === "model") break;
  }
  assert.deepEqual([asked, before.slice(-2)], [3, ["ab", "ab"]]);
  const again = await talk(steps, { store, id: one.conversation.id, model: () => Promise.resolve("m") });
  assert.deepEqual((await again.retry()).flatMap(tell), [...before, "m"]);
  assert.equal(asked, 3);
});

Deno.test("requests: a turn that is ended leaves no connection and no outcome, whatever takes no notice of it", async () => {
  const closed = Promise.withResolvers<void>();
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: a\n\n";
  await withRawServer(head, async (port) => {
    const abort = new AbortController();
    const store = memoryJournal();
    const one = await talk(chain([sseStep(`http://127.0.0.1:${port}/`)]), {
      fetch,
      store,
      signal: abort.signal,
    });
    const events: RunEvent[] = [];
    for await (const event of one.conversation.start()) {
      events.push(event);
      if (event.type === "text-delta") abort.abort(new Error("stopped by hand"));
    }
    await closed.promise;
    assert.deepEqual([endOf(events).status, endOf(events).reason], ["stopped", "interrupted"]);
    assert.ok(!events.some((event) => event.type === "step-end" && event.key.endsWith("/http")));
    const kept = store.read(one.conversation.id).steps.filter(({ kind }) => kind === "http");
    assert.deepEqual(kept.map(({ status }) => status), ["started"]);
  }, { keepOpen: true, onClosed: () => closed.resolve() });
  const deaf: readonly ProgramFetch[] = [
    () => new Promise(() => {}),
    () => Promise.resolve(new Response(new ReadableStream())),
  ];
  for (const send of deaf) {
    const abort = new AbortController();
    const one = await talk(chain([apiStep(URL_, { success: { action: "end" }, fail: { action: "end" } })]), {
      signal: abort.signal,
      fetch(url, init) {
        setTimeout(() => abort.abort(new Error("enough")), 0);
        return send(url, init);
      },
    });
    let last: RunEvent | undefined;
    for await (const event of one.conversation.start()) last = event;
    assert.ok(last?.type === "run-end" && last.status === "stopped");
  }
});
