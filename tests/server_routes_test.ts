// Every route of the API over a real socket, with a project behind it (server.md).
import assert from "node:assert/strict";
import type { Json } from "../mod.ts";
import { answer, asked, begun, endOf, toldIn, toldOf } from "./_http_runs.ts";
import { served } from "./_served_project.ts";
import { codeOf, sendRaw, statusOf, TOKEN } from "./_server.ts";

const call = (header: string, fields: Readonly<Record<string, string>>): string =>
  `!!!GADGET_START:${header}\n${
    Object.entries(fields).map(([name, value]) => `!!!ARG:${name}\n${value}\n`).join("")
  }!!!GADGET_END\n`;
const SUM = call("Calculate:sum", { expression: "20 + 22" });

const { version: VERSION }: { readonly version: string } = JSON.parse(
  await Deno.readTextFile(new URL("../deno.json", import.meta.url)),
);

const FILES = {
  "orrery.yaml": "models: { default: script/echo }\n",
  "a.calls": SUM,
  "pause.calls": call("Wait:pause", { seconds: "60" }),
  "read.calls": call("ReadFile:read", { path: "../outside.txt" }),
  "ask.calls": call("AskUser:ask", { question: "Which?" }),
  "bad.calls": "!!!GADGET_START:Gone:x\n!!!GADGET_END\n",
  "prompts/greet.prompt.md": "Hello {name}",
  "prompts/review/code.prompt.md": "---\ntools: [ReadFile]\n---\nHello {name}",
};

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The fields of a JSON answer. */
async function fieldsOf(response: Response): Promise<Readonly<Record<string, unknown>>> {
  const json: unknown = await response.json();
  assert.ok(isRecord(json));
  return json;
}

/** A problem as it has to be. */
async function problemOf(response: Response): Promise<string> {
  assert.equal(response.headers.get("content-type"), "application/problem+json");
  const { status, code, title, detail, type } = await fieldsOf(response);
  assert.equal(status, response.status);
  assert.equal(type, "about:blank");
  assert.ok(typeof title === "string" && title !== "" && typeof detail === "string" && detail !== "");
  return `${status} ${code}`;
}

Deno.test("GET /healthz needs no token, and says the version", async () => {
  await using server = await served(FILES);
  const response = await fetch(`${server.origin}/healthz`);
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { status: "ok", version: VERSION });
  for (const name of ["x-content-type-options", "x-frame-options", "cross-origin-resource-policy"]) {
    assert.notEqual(response.headers.get(name), null, name);
  }
  const head = await fetch(`${server.origin}/healthz`, { method: "HEAD" });
  assert.equal(head.status, 200);
  assert.equal(await head.text(), "");
});

Deno.test("POST /v1/runs refuses what it cannot mean, and starts nothing", async () => {
  await using server = await served(FILES);
  const wrong: readonly Json[] = [
    {},
    { file: "a.calls", path: "b" },
    { file: "" },
    { file: 5 },
    { file: "a.calls", unknown: true },
    { file: "a.calls", say: "x" },
    { path: "a", mode: "append" },
    { file: "a.calls", budget: { turns: 0 } },
    { file: "a.calls", budget: { unknown: 1 } },
    { file: "a".repeat(1_001) },
    [],
    null,
    "text",
  ];
  for (const body of wrong) {
    assert.equal(
      await problemOf(await server.ask("/v1/runs", { body })),
      "400 invalid",
      JSON.stringify(body),
    );
  }
  assert.deepEqual((await server.json("/v1/runs")).body.runs, []);
});

const ESCAPES: readonly string[] = [
  "../secret.calls",
  "a/../../secret.calls",
  "/etc/passwd",
  "./a.calls",
  "a//b.calls",
  "a/./b.calls",
  "a\\b.calls",
  "C:/a.calls",
  "c:a.calls",
  "a\u0000.calls",
  "a\n.calls",
  ".orrery/orrery.db",
  ".ORRERY/orrery.db-token",
  ".git/config",
  "..",
  "a/..",
];

Deno.test("no path leads out of the project: not in a body, not in a path, however it is written", async () => {
  await using server = await served(FILES);
  for (const path of ESCAPES) {
    const bodies: readonly (readonly [string, Json])[] = [
      ["/v1/runs", { file: path }],
      ["/v1/runs", { path }],
      ["/v1/runs", { file: "a.md", out: path }],
      ["/v1/conversations", { agent: path }],
      ["/v1/check", { files: [path] }],
      ["/v1/check", { name: path, text: "" }],
    ];
    for (const [route, body] of bodies) {
      assert.equal(
        await problemOf(await server.ask(route, { body })),
        "403 outside",
        `${route} ${JSON.stringify(body)}`,
      );
    }
    for (const end of ["render", "run"]) {
      const answer = await server.ask(`/v1/prompts/${encodeURIComponent(path)}/${end}`, { body: {} });
      const found = await problemOf(answer);
      assert.ok(["403 outside", "400 path", "404 not-found"].includes(found), `${path}: ${found}`);
    }
  }
  for (
    const path of ["%2e%2e/x", "..%2fx", "%2e%2e%2f%2e%2e%2fx", "%c0%ae%c0%ae/x", "x%00", "%ff", "a/%2e%2e/b"]
  ) {
    const raw = await sendRaw(
      server.port,
      `POST /v1/prompts/${path}/render HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${TOKEN}\r\n` +
        "Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
    );
    assert.ok([400, 403, 404].includes(raw.status), `${path}: ${raw.status} ${raw.body}`);
  }
  assert.deepEqual((await server.json("/v1/runs")).body.runs, []);
});

Deno.test("a run begins and says where it is, or is answered as events where they are wanted", async () => {
  await using server = await served(FILES);
  const begin = await server.ask("/v1/runs", { body: { file: "a.calls" } });
  const { status, id, ...rest } = await fieldsOf(begin);
  assert.equal(begin.status, 202);
  assert.equal(begin.headers.get("location"), `/v1/runs/${id}`);
  assert.ok(status === "running" || status === "done");
  assert.deepEqual(rest, { kind: "calls", url: `/v1/runs/${id}`, events: `/v1/runs/${id}/events` });
  const said = { path: "greet", input: { name: "one\ntwo" } };
  for (const given of [{ headers: { accept: "text/event-stream" } }, { stream: true }]) {
    const { stream, headers } = { stream: undefined, headers: undefined, ...given };
    const response = await server.ask("/v1/runs", {
      body: { ...said, ...(stream !== undefined && { stream }) },
      ...(headers !== undefined && { headers }),
    });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    assert.match(response.headers.get("orrery-run") ?? "", /^\w{12}$/);
    assert.match(response.headers.get("cache-control") ?? "", /no-store/);
    const text = await response.text();
    assert.ok(text.startsWith("retry: 1000\n\n"), text);
    assert.match(text, /event: run-start\nid: 1\ndata: \{.*"seq":1.*\}\n\n/);
    assert.match(text, /event: text-delta\nid: \d+\ndata: .*one\\ntwo/);
    assert.match(text, /event: run-end\nid: \d+\ndata: .*"value":"ECHO\[Hello one\\ntwo\]"/);
  }
  const not = await server.ask("/v1/runs", {
    body: { file: "a.calls", stream: false },
    headers: { accept: "text/event-stream" },
  });
  assert.equal(await statusOf(not), 202);
});

Deno.test("runs are found by what they are and removed once, and what is asked for wrongly has its code", async () => {
  await using server = await served(FILES);
  const id = await begun(server, { file: "a.calls" });
  await endOf(server, id);
  const { runs } = await fieldsOf(await server.ask("/v1/runs?status=done&kind=calls&limit=5&file=a.calls"));
  assert.ok(Array.isArray(runs) && runs.length === 1);
  for (
    const query of [
      "limit=0",
      "limit=201",
      "limit=x",
      "status=odd",
      "unknown=1",
      "limit=1&limit=2",
      "__proto__=x",
    ]
  ) {
    assert.equal(await problemOf(await server.ask(`/v1/runs?${query}`)), "400 invalid", query);
  }
  const paused = await begun(server, { file: "pause.calls" });
  assert.equal((await fieldsOf(await server.ask(`/v1/runs/${paused}?wait=0.1`))).status, "running");
  assert.equal(await problemOf(await server.ask(`/v1/runs/${paused}/resume`, { body: {} })), "409 busy");
  assert.equal(
    await statusOf(await server.ask(`/v1/runs/${paused}/cancel`, { body: { reason: "enough" } })),
    202,
  );
  assert.equal((await endOf(server, paused)).status, "stopped");
  assert.equal(
    await problemOf(await server.ask(`/v1/runs/${paused}/cancel`, { method: "POST" })),
    "409 ended",
  );
  assert.equal(await statusOf(await server.ask(`/v1/runs/${id}`, { method: "DELETE" })), 204);
  for (const path of ["", "/trace", "/events"]) {
    assert.equal(await problemOf(await server.ask(`/v1/runs/${id}${path}`)), "404 not-found");
  }
  for (const path of ["/cancel", "/resume"]) {
    assert.equal(await problemOf(await server.ask(`/v1/runs/${id}${path}`, { body: {} })), "404 not-found");
  }
  assert.equal(await problemOf(await server.ask(`/v1/runs/${id}`, { method: "DELETE" })), "404 not-found");
  assert.equal(await problemOf(await server.ask(`/v1/runs/${"x".repeat(101)}`)), "400 invalid");
  assert.equal(await problemOf(await server.ask("/v1/runs/a%20b")), "400 invalid");
  assert.equal(await problemOf(await server.ask(`/v1/runs/${paused}?wait=61`)), "400 invalid");
});

Deno.test("questions are answered, each once", async () => {
  await using server = await served(FILES);
  const stream = await server.ask("/v1/runs", { body: { file: "read.calls", ask: true, stream: true } });
  const id = stream.headers.get("orrery-run") ?? "";
  const whole = stream.text();
  const asks = await asked(server, id);
  assert.equal(asks.length, 1);
  const answers = `/v1/runs/${id}/answers`;
  for (
    const body of [{ ask: "a1" }, { ask: "a1", allow: true, text: "x" }, { allow: true }, {
      ask: "a1",
      allow: "yes",
    }]
  ) {
    assert.equal(await problemOf(await server.ask(answers, { body })), "400 invalid", JSON.stringify(body));
  }
  assert.equal(await problemOf(await server.ask(answers, { body: { ask: "a9", allow: true } })), "409 ended");
  const unknown = await fieldsOf(await server.ask("/v1/runs", { body: { fil: "a.calls" } }));
  assert.match(JSON.stringify(unknown.issues), /^\[\{"pointer":"\/fil","message":"unknown, /);
  const unfit = await fieldsOf(await server.ask(answers, { body: { ask: "a1", text: "yes" } }));
  assert.deepEqual([unfit.status, unfit.detail], [400, "found text for the permission a1, expected allow"]);
  const answered = await server.ask(answers, { body: { ask: "a1", allow: false } });
  assert.equal(answered.status, 200);
  assert.deepEqual(await answered.json(), { asks: [] });
  const text = await whole;
  assert.match(text, /event: ask\ndata: \{"ask":"a1"/);
  assert.match(text, /event: answered\ndata: \{"ask":"a1"\}/);
  const other = await begun(server, { file: "ask.calls", ask: true });
  await asked(server, other);
  assert.equal(await answer(server, other, { ask: "a1", text: "this" }), "200");
  await toldOf(server, other, { until: ({ type }) => type === "call-result" });
  const late = await fieldsOf(await server.ask(answers, { body: { ask: "a1", allow: false } }));
  assert.deepEqual([late.status, late.code], [409, "ended"]);
  assert.equal(late.detail, `a1 of run ${id} is not open: it was denied by http`);
});

Deno.test("prompts are rendered and run, also those whose path has several parts", async () => {
  await using server = await served(FILES);
  for (const path of ["greet", "review/code", "review%2Fcode"]) {
    const response = await server.ask(`/v1/prompts/${path}/render`, { body: { input: { name: "Ana" } } });
    assert.deepEqual(await response.json(), {
      text: "Hello Ana",
      tools: path === "greet" ? [] : ["ReadFile"],
      contract: { kind: "text" },
    });
    const id = await begun(
      server,
      { input: { name: "Ana" }, model: "script/echo" },
      `/v1/prompts/${path}/run`,
    );
    const { file, value } = await endOf(server, id);
    assert.equal(file, decodeURIComponent(path));
    assert.match(value, /ECHO\[Hello Ana\]|^ECHO/);
  }
});

Deno.test("POST /v1/calls runs what comes as it comes", async () => {
  await using server = await served({});
  const body = new TransformStream<string, string>();
  const writer = body.writable.getWriter();
  const asked = fetch(`${server.origin}/v1/calls`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "text/plain" },
    body: body.readable.pipeThrough(new TextEncoderStream()),
  });
  const write = (text: string) => writer.write(text).catch(() => undefined);
  await write(SUM);
  const response = await asked;
  const told = toldIn(response);
  for (;;) if ((await told.next()).value?.type === "call-result") break;
  // The first has its result before the second is written.
  await write(call("Template:again", { template: "grüße" }));
  await writer.close();
  const rest = await Array.fromAsync(told);
  assert.deepEqual(rest.at(-1)?.data.value, { sum: 42, again: "grüße" });
  const { body: { run } } = await server.json(`/v1/runs/${response.headers.get("orrery-run")}/trace`);
  const { files }: { readonly files?: readonly { readonly text: string }[] } = isRecord(run) ? run : {};
  assert.equal(
    files?.map(({ text }) => text).join(""),
    SUM + call("Template:again", { template: "grüße" }),
  );
});

/** The head of a request that sends calls piece by piece. */
function callsHead(port: number): string {
  return `POST /v1/calls HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${TOKEN}\r\n` +
    "Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n";
}

Deno.test("a body of calls that breaks off ends the run, and one that is no text does", async () => {
  await using server = await served({});
  const start = callsHead(server.port);
  const sum = `${SUM.length.toString(16)}\r\n${SUM}\r\n`;
  /** How the run of such a body ends. */
  const ended = async (request: string | Uint8Array): Promise<string> => {
    const { status } = await sendRaw(server.port, request, { waitMs: 500 });
    assert.equal(status, 200);
    const { runs } = (await server.json("/v1/runs?limit=1")).body;
    assert.ok(Array.isArray(runs));
    const { status: end, error } = await endOf(server, runs[0].id);
    return `${end}: ${error}`;
  };
  assert.match(await ended(`${start}${sum}3\r\nabc\r\n`), /^failed: .*broke off/);
  const bytes = new Uint8Array([
    ...new TextEncoder().encode(`${start}2\r\n`),
    0xff,
    0xfe,
    ...new TextEncoder().encode("\r\n0\r\n\r\n"),
  ]);
  assert.match(await ended(bytes), /^failed: .*UTF-8/i);
  for (const type of ["application/json", "application/x-www-form-urlencoded"]) {
    const response = await server.ask("/v1/calls", {
      method: "POST",
      headers: { "content-type": type },
      body: {},
    });
    assert.equal(await problemOf(response), "415 content-type");
  }
});

Deno.test("a body that nobody wants the rest of is left at once, and not when its next piece comes", async () => {
  await using server = await served({});
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  const wait = call("Wait:w", { seconds: "60" });
  await connection.write(
    new TextEncoder().encode(`${callsHead(server.port)}${wait.length.toString(16)}\r\n${wait}\r\n`),
  );
  let text = "";
  for await (const chunk of connection.readable) {
    text += new TextDecoder().decode(chunk);
    const [, id] = /orrery-run: (\w+)/i.exec(text) ?? [];
    if (text.includes("call-run") && !text.includes("stopped") && id !== undefined) {
      await server.json(`/v1/runs/${id}/cancel`, { body: {} });
    }
    if (text.includes("run-end")) break; // the body goes on, and nobody waits for it
  }
  assert.match(text, /"type":"run-end","status":"stopped"/);
});

Deno.test("a gadget gives its result, and says what went wrong", async () => {
  const gadget = (name: string, run: string): string =>
    `export default { name: "${name}", description: "Test.", timeoutMs: 300, run: ${run} };\n`;
  await using server = await served({
    "gadgets/slow.js": gadget("Slow", "() => new Promise((resolve) => setTimeout(resolve, 60_000))"),
    "gadgets/throwing.js": gadget("Throwing", "() => { throw new Error('no'); }"),
    "gadgets/broken.js": "export default {",
    "gadgets/no_json.js": gadget("NoJson", "() => () => 1"),
  });
  const { status, body } = await server.json("/v1/gadgets/Calculate", {
    body: { input: { expression: "6*7" } },
  });
  assert.deepEqual([status, body.result, Object.keys(body)], [200, 42, ["run", "result"]]);
  const calls: Readonly<Record<string, readonly [input: Json, expected: string]>> = {
    Calculate: [{}, "422 input"],
    WriteFile: [{ path: "x", content: "y" }, "403 refused"],
    Slow: [{}, "504 timeout"],
    Throwing: [{}, "422 failed"],
    Broken: [{}, "500 failed"],
    NoJson: [{}, "500 failed"],
  };
  for (const [name, [input, expected]] of Object.entries(calls)) {
    const failed = await server.ask(`/v1/gadgets/${name}`, { body: { input } });
    const text = await failed.clone().text();
    assert.equal(await problemOf(failed), expected, text);
    if (name === "WriteFile") assert.match(text, /"flag":"--allow-write=x"/);
  }
  const events = await server.ask("/v1/gadgets/Calculate", {
    body: { input: { expression: "1" }, stream: true },
  });
  assert.match(await events.text(), /event: call-result/);
  assert.equal(await problemOf(await server.ask("/v1/gadgets/a-%2Fb", { body: {} })), "400 invalid");
});

Deno.test("files and texts are checked", async () => {
  await using server = await served(FILES);
  const problems = async (body: unknown): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    const { body: { problems } } = await server.json("/v1/check", { body });
    assert.ok(Array.isArray(problems), JSON.stringify(problems));
    return problems;
  };
  const text = FILES["bad.calls"];
  for (const body of [{}, { files: ["bad.calls", "a.calls"] }, { name: "bad.calls", text }]) {
    const [problem, ...rest] = await problems(body);
    assert.deepEqual(rest, []);
    assert.deepEqual(
      [problem?.file, problem?.line, problem?.column, problem?.severity],
      ["bad.calls", 1, 1, "error"],
    );
    assert.match(String(problem?.message), /Gone/);
  }
  assert.deepEqual(await problems({ files: ["a.calls"] }), []);
  for (const body of [{ name: "x.calls" }, { text: "x" }, { files: [], text: "x", name: "y" }]) {
    assert.equal(await problemOf(await server.ask("/v1/check", { body })), "400 invalid");
  }
});

Deno.test("a link gives a cookie once, and the cookie reads and writes with its Origin", async () => {
  await using server = await served(FILES);
  const { url } = await fieldsOf(await server.ask("/v1/links", { method: "POST" }));
  assert.ok(typeof url === "string" && url.startsWith(`${server.origin}/link/`));
  const followed = await fetch(url, { redirect: "manual" });
  assert.equal(await statusOf(followed), 303);
  assert.equal(followed.headers.get("location"), "/");
  const set = followed.headers.get("set-cookie") ?? "";
  assert.match(
    set,
    new RegExp(
      `^orrery_${server.port}=\\d+\\.[\\w-]{43}\\.[0-9a-f]{64}; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200$`,
    ),
  );
  const [cookie = ""] = set.split(";");
  const withCookie = (
    path: string,
    { headers, ...options }: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ) => fetch(server.origin + path, { ...options, headers: { cookie, ...headers } });
  const read = await withCookie("/v1/runs");
  assert.equal(read.status, 200);
  await read.body?.cancel();
  const json = { "content-type": "application/json" };
  const forged = await withCookie("/v1/runs", { method: "POST", headers: json, body: '{"file":"a.calls"}' });
  assert.equal(await problemOf(forged), "403 origin");
  const own = await withCookie("/v1/runs", {
    method: "POST",
    headers: { ...json, origin: server.origin },
    body: '{"file":"a.calls"}',
  });
  assert.equal(own.status, 202);
  await own.body?.cancel();
  const links = await withCookie("/v1/links", { method: "POST", headers: { origin: server.origin } });
  assert.equal(await problemOf(links), "401 token");
  assert.equal(await problemOf(await fetch(url, { redirect: "manual" })), "404 link");
  assert.equal(await problemOf(await fetch(`${server.origin}/link/never`)), "404 link");
});

Deno.test("whoever looks at the head of a link has not followed it", async () => {
  await using server = await served(FILES);
  const { url } = await fieldsOf(await server.ask("/v1/links", { method: "POST" }));
  assert.ok(typeof url === "string");
  const look = (at: string) => fetch(at, { method: "HEAD", redirect: "manual" });
  for (let times = 0; times < 2; times++) {
    const head = await look(url);
    assert.equal(head.status, 303);
    assert.equal(head.headers.get("location"), "/");
    assert.equal(head.headers.get("set-cookie"), null);
  }
  const followed = await fetch(url, { redirect: "manual" });
  assert.equal(await statusOf(followed), 303);
  assert.match(followed.headers.get("set-cookie") ?? "", /^orrery_/);
  assert.equal((await look(url)).status, 404);
});

Deno.test("a page that says what is wrong is as light or dark as its reader has chosen", async () => {
  await using server = await served({});
  const themeOf = async (path: string, cookie: string, body?: string): Promise<string | undefined> => {
    const response = await fetch(server.origin + path, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        authorization: `Bearer ${TOKEN}`,
        accept: "text/html",
        cookie,
        ...(body !== undefined && { "content-type": "application/x-www-form-urlencoded" }),
      },
      ...(body !== undefined && { body }),
    });
    assert.match(response.headers.get("content-type") ?? "", /^text\/html/);
    return /<html[^>]*data-theme="(\w+)"/.exec(await response.text())?.[1];
  };
  for (const theme of ["dark", "light"]) {
    const cookie = `other=1; orrery_theme=${theme}`;
    assert.equal(await themeOf("/nowhere", cookie), theme);
    assert.equal(await themeOf("/gadgets/Any", cookie), theme);
    assert.equal(await themeOf("/start", cookie, "kind=gadget&name=Any"), theme);
    assert.equal(await themeOf("/login", cookie), theme);
    assert.equal(await themeOf("/login", cookie, "token=wrong"), theme);
  }
  assert.equal(await themeOf("/nowhere", "orrery_theme=pink"), undefined);
});

Deno.test("a form takes the token in exchange for the cookie", async () => {
  await using server = await served(FILES);
  const post = (token: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${server.origin}/login`, {
      method: "POST",
      redirect: "manual",
      headers,
      body: new URLSearchParams({ token }),
    });
  const wrong = await post("wrong");
  assert.equal(wrong.status, 401);
  assert.match(await wrong.text(), /role="alert"/);
  assert.equal(wrong.headers.get("set-cookie"), null);
  const right = await post(TOKEN, { origin: server.origin });
  assert.equal(await statusOf(right), 303);
  assert.match(right.headers.get("set-cookie") ?? "", /HttpOnly; SameSite=Strict/);
  assert.equal(await problemOf(await post(TOKEN, { origin: "http://evil.example" })), "403 origin");
  const many = await fetch(`${server.origin}/login`, {
    method: "POST",
    body: new URLSearchParams(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, "1"])),
  });
  assert.equal(many.status, 400);
  assert.equal((await many.json()).detail, "the form has more than 2 fields, expected at most that");
  const page = await fetch(`${server.origin}/login`);
  assert.match(page.headers.get("content-security-policy") ?? "", /default-src 'none'/);
  assert.match(await page.text(), /<form method="post" action="\/login">/);
  const sent = await fetch(`${server.origin}/v1/runs`, {
    headers: { accept: "text/html" },
    redirect: "manual",
  });
  assert.equal(sent.headers.get("location"), "/login");
  assert.equal(await statusOf(sent), 303);
});

Deno.test("the login leads back to the page that was wanted, and nowhere but to this server", async () => {
  await using server = await served(FILES);
  const asked = await fetch(`${server.origin}/runs?kind=calls`, {
    headers: { accept: "text/html" },
    redirect: "manual",
  });
  assert.equal(await statusOf(asked), 303);
  assert.equal(asked.headers.get("location"), "/login?to=%2Fruns%3Fkind%3Dcalls");
  const form = await fetch(`${server.origin}/login?to=%2Fruns%3Fkind%3Dcalls`);
  assert.match(await form.text(), /name="to" value="\/runs\?kind=calls"/);
  const leadsTo = async (to: string): Promise<string | null> => {
    const answer = await fetch(`${server.origin}/login`, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams({ token: TOKEN, to }),
    });
    assert.equal(await statusOf(answer), 303);
    return answer.headers.get("location");
  };
  assert.equal(await leadsTo("/runs?kind=calls"), "/runs?kind=calls");
  assert.equal(await leadsTo("/documents/a%20b.md"), "/documents/a%20b.md");
  for (
    const to of [
      "",
      "//evil.example",
      "/\\evil.example",
      "/..//evil.example/",
      "/%2e%2e//evil.example",
      "/\t/evil.example",
      "http://evil.example/runs",
      "javascript:alert(1)",
      "/runs\r\nset-cookie: a=b",
    ]
  ) {
    const at = await leadsTo(to) ?? "";
    assert.ok(at === "/" || at === "/runsset-cookie:%20a=b", `${to}: ${at}`);
  }
});

Deno.test("GET /v1/events tells how it stands at once", async () => {
  await using server = await served(FILES);
  const id = await begun(server, { file: "ask.calls", ask: true });
  const asks = await asked(server, id);
  const events = await server.ask("/v1/events");
  assert.equal(events.headers.get("content-type"), "text/event-stream");
  const reader = events.body?.getReader();
  const { value = new Uint8Array() } = await reader?.read() ?? {};
  await reader?.cancel();
  const [, data = ""] = /^event: project\ndata: (.*)\n\n$/.exec(new TextDecoder().decode(value)) ?? [];
  const { server: name, active, waiting } = JSON.parse(data);
  assert.match(name, /^[\w-]{43}$/);
  assert.deepEqual([active, waiting.map(({ id, asks }: { id: string; asks: unknown }) => [id, asks])], [1, [
    [id, asks],
  ]]);
});

Deno.test("bodies are counted and timed while they are read", async () => {
  await using server = await served(FILES);
  const start =
    `POST /v1/runs HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nAuthorization: Bearer ${TOKEN}\r\n` +
    "Content-Type: application/json\r\n";
  const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
  const large = await sendRaw(server.port, `${start}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(200)}`);
  assert.equal(large.status, 413);
  assert.equal(codeOf(large.body), "too-large");
  assert.equal(large.headers.get("connection"), "close");
  const texts: readonly (readonly [string | Uint8Array, string])[] = [
    ["{", "json"],
    ["[".repeat(300) + "]".repeat(300), "json"],
    [`{"input":{"${Array.from({ length: 200_100 }, (_, at) => at).join('":1,"')}":1}}`, "json"],
    [`{"input":"${",".repeat(300_000)}"}`, "invalid"],
    [`{"file":${'{"a":'.repeat(250)}1${"}".repeat(251)}`, "json"],
    ['{"file":"a.calls","__proto__":{}}', "invalid"],
    [new Uint8Array([0x7b, 0xff, 0x7d]), "utf-8"],
  ];
  for (const [text, code] of texts) {
    const response = await fetch(`${server.origin}/v1/runs`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: typeof text === "string" ? text : text.slice(),
    });
    assert.equal(await problemOf(response), `400 ${code}`);
  }
  assert.deepEqual((await server.json("/v1/runs")).body.runs, []);
});

Deno.test("nothing that is not there is, and no method that is not", async () => {
  await using server = await served(FILES);
  assert.equal(await problemOf(await server.ask("/v1/nothing")), "404 not-found");
  const wrong = await server.ask("/v1/catalog", { body: {} });
  assert.equal(wrong.headers.get("allow"), "GET");
  assert.equal(await problemOf(wrong), "405 method");
  const both = await server.ask("/v1/runs", { method: "DELETE" });
  assert.equal(both.headers.get("allow"), "GET, POST");
  assert.equal(await problemOf(both), "405 method");
});
