// Every route of the API over a real socket, with a service that is written by the test (server.md).
import assert from "node:assert/strict";
import {
  type CallErrorCode,
  FileError,
  type Json,
  ModelError,
  ProblemsError,
  SourceError,
  systemClock,
} from "../mod.ts";
import { eachUntilAborted } from "../lib/core/async.ts";
import { isRecord } from "../lib/core/json.ts";
import { pieces, readPieces } from "../lib/server/body.ts";
import { openServer } from "../lib/server/server.ts";
import { HttpProblem } from "../lib/server/problem.ts";
import { Sessions } from "../lib/server/session.ts";
import { ServiceError } from "../lib/service/service.ts";
import { fakeService } from "./_fake_service.ts";
import { codeOf, sendRaw, statusOf, TOKEN } from "./_server.ts";
import { serveFake } from "./_fake_service.ts";

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
  await using served = serveFake();
  const response = await fetch(`${served.origin}/healthz`);
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { status: "ok", version: "0.0.0-fake" });
  for (const name of ["x-content-type-options", "x-frame-options", "cross-origin-resource-policy"]) {
    assert.notEqual(response.headers.get(name), null, name);
  }
  const head = await fetch(`${served.origin}/healthz`, { method: "HEAD" });
  assert.equal(head.status, 200);
  assert.equal(await head.text(), "");
});

Deno.test("POST /v1/runs begins a run and says where it is", async () => {
  await using served = serveFake();
  const response = await served.ask("/v1/runs", { body: { file: "plans/a.calls" } });
  assert.equal(response.status, 202);
  assert.equal(response.headers.get("location"), "/v1/runs/run-1");
  const { status, ...rest } = await fieldsOf(response);
  assert.ok(status === "running" || status === "done");
  assert.deepEqual(rest, {
    id: "run-1",
    kind: "calls",
    url: "/v1/runs/run-1",
    events: "/v1/runs/run-1/events",
  });
  assert.deepEqual(served.service.done[0], {
    what: "start",
    with: [{ kind: "file", file: "plans/a.calls" }],
  });
  const state = await fieldsOf(await served.ask("/v1/runs/run-1?wait=5"));
  assert.equal(state.status, "done");
  assert.equal(state.value, "ok");
});

Deno.test("POST /v1/runs hands on what it is given, and nothing else", async () => {
  await using served = serveFake();
  const wishes = { model: "script/echo", budget: { turns: 3 } };
  const posted = [
    {
      file: "a.md",
      input: { n: 1 },
      prompt: "p",
      blocks: ["b.md#c"],
      mode: "append",
      out: "results/a.ctx",
      ...wishes,
    },
    { file: "a.md", out: "beside" },
    { path: "review/code", input: { file: "x" }, say: "hello", profile: "p", ask: true, ...wishes },
  ];
  for (const body of posted) assert.equal(await statusOf(await served.ask("/v1/runs", { body })), 202);
  assert.deepEqual(served.service.done.map((each) => each.with[0]), [
    {
      kind: "file",
      file: "a.md",
      input: { n: 1 },
      prompt: "p",
      blocks: ["b.md#c"],
      mode: "append",
      out: { file: "results/a.ctx" },
      ...wishes,
    },
    { kind: "file", file: "a.md", out: "beside" },
    {
      kind: "prompt",
      path: "review/code",
      input: { file: "x" },
      say: "hello",
      profile: "p",
      canAsk: true,
      ...wishes,
    },
  ]);
});

Deno.test("POST /v1/runs refuses what it cannot mean, and starts nothing", async () => {
  await using served = serveFake();
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
      await problemOf(await served.ask("/v1/runs", { body })),
      "400 invalid",
      JSON.stringify(body),
    );
  }
  assert.deepEqual(served.service.done, []);
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
  await using served = serveFake();
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
        await problemOf(await served.ask(route, { body })),
        "403 outside",
        `${route} ${JSON.stringify(body)}`,
      );
    }
    for (const end of ["render", "run"]) {
      const answer = await served.ask(`/v1/prompts/${encodeURIComponent(path)}/${end}`, { body: {} });
      const found = await problemOf(answer);
      assert.ok(["403 outside", "400 path", "404 not-found"].includes(found), `${path}: ${found}`);
    }
  }
  for (
    const path of ["%2e%2e/x", "..%2fx", "%2e%2e%2f%2e%2e%2fx", "%c0%ae%c0%ae/x", "x%00", "%ff", "a/%2e%2e/b"]
  ) {
    const raw = await sendRaw(
      served.port,
      `POST /v1/prompts/${path}/render HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\nAuthorization: Bearer ${TOKEN}\r\n` +
        "Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
    );
    assert.ok([400, 403, 404].includes(raw.status), `${path}: ${raw.status} ${raw.body}`);
  }
  assert.deepEqual(served.service.done, []);
});

Deno.test("what the service will not do has a status and a code", async () => {
  const errors: readonly (readonly [Error, string])[] = [
    [new ServiceError("no such file", { code: "not-found" }), "404 not-found"],
    [new ServiceError("outside", { code: "outside" }), "403 outside"],
    [new ServiceError("not granted", { code: "refused", details: { flag: "grants:" } }), "403 refused"],
    [new ServiceError("64 runs are under way", { code: "limit" }), "429 limit"],
    [new ServiceError("about to end", { code: "stopping" }), "503 stopping"],
    [new ServiceError("no such field", { code: "invalid" }), "400 invalid"],
    [new ServiceError("changed", { code: "changed" }), "409 changed"],
    [new SourceError("Unknown key", { span: { file: "/project/a.md", line: 2, column: 3 } }), "422 check"],
    [
      new ProblemsError([new SourceError("bad", { span: { file: "a.md", line: 7, column: 1 } })]),
      "422 check",
    ],
    [new ModelError("no key", { code: "config" }), "422 model"],
    [new ModelError("later", { code: "rate-limit", retryAfterMs: 2_500 }), "429 rate-limit"],
    [new FileError("Cannot read /project/x", { path: "x", code: "not-found" }), "404 not-found"],
    [new Error("/project/secret went wrong"), "500 internal"],
  ];
  for (const [error, expected] of errors) {
    await using served = serveFake({ start: () => error });
    const response = await served.ask("/v1/runs", { body: { file: "a.calls" } });
    const wait = response.headers.get("retry-after");
    const text = await response.clone().text();
    assert.equal(await problemOf(response), expected);
    assert.ok(!text.includes("/project"), text);
    assert.equal(wait, { "429 limit": "1", "503 stopping": "1", "429 rate-limit": "3" }[expected] ?? null);
    if (expected === "422 check") assert.match(text, /"file":"a\.md","line":[27]/);
    if (expected === "500 internal") {
      const reference = /"reference":"(\w+)"/.exec(text)?.[1] ?? "none";
      assert.ok(!text.includes("secret") && !text.includes("server_routes_test"));
      assert.match(served.told.join(""), new RegExp(`${reference}.*secret went wrong`));
    }
  }
});

Deno.test("a run is answered as events where they are wanted", async () => {
  await using served = serveFake({
    start: () => ({ tell }) => {
      tell({ type: "text-delta", step: "s", text: "one\ntwo" });
      return { value: 5 };
    },
  });
  for (const given of [{ headers: { accept: "text/event-stream" } }, { stream: true }]) {
    const { stream, headers } = { stream: undefined, headers: undefined, ...given };
    const response = await served.ask("/v1/runs", {
      body: { file: "a.calls", ...(stream !== undefined && { stream }) },
      ...(headers !== undefined && { headers }),
    });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    assert.match(response.headers.get("orrery-run") ?? "", /^run-\d$/);
    assert.match(response.headers.get("cache-control") ?? "", /no-store/);
    const text = await response.text();
    assert.ok(text.startsWith("retry: 1000\n\n"), text);
    assert.match(text, /event: run-start\nid: 1\ndata: \{.*"seq":1.*\}\n\n/);
    assert.match(text, /event: text-delta\nid: 2\ndata: .*one\\ntwo/);
    assert.match(text, /event: run-end\nid: 3\ndata: .*"value":5/);
  }
  const not = await served.ask("/v1/runs", {
    body: { file: "a.calls", stream: false },
    headers: { accept: "text/event-stream" },
  });
  assert.equal(not.status, 202);
  await not.body?.cancel();
});

Deno.test("runs are listed, looked at, traced and removed", async () => {
  await using served = serveFake();
  await (await served.ask("/v1/runs", { body: { file: "a.calls" } })).body?.cancel();
  await (await served.ask("/v1/runs/run-1?wait=5")).body?.cancel();
  const { runs } = await fieldsOf(await served.ask("/v1/runs?status=done&kind=calls&limit=5&file=a.calls"));
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
    assert.equal(await problemOf(await served.ask(`/v1/runs?${query}`)), "400 invalid", query);
  }
  const trace = await fieldsOf(await served.ask("/v1/runs/run-1/trace"));
  assert.ok(Array.isArray(trace.events) && trace.events.length === 2);
  assert.equal(await statusOf(await served.ask("/v1/runs/run-1", { method: "DELETE" })), 204);
  for (const path of ["", "/trace", "/events"]) {
    assert.equal(await problemOf(await served.ask(`/v1/runs/run-1${path}`)), "404 not-found");
  }
  for (const path of ["/cancel", "/resume"]) {
    assert.equal(await problemOf(await served.ask(`/v1/runs/run-1${path}`, { body: {} })), "404 not-found");
  }
  assert.equal(await problemOf(await served.ask("/v1/runs/run-1", { method: "DELETE" })), "404 not-found");
  assert.equal(await problemOf(await served.ask(`/v1/runs/${"x".repeat(101)}`)), "400 invalid");
  assert.equal(await problemOf(await served.ask("/v1/runs/a%20b")), "400 invalid");
  assert.equal(await problemOf(await served.ask("/v1/runs/run-1?wait=61")), "400 invalid");
});

Deno.test("a run that is under way can be waited for, stopped and not be removed", async () => {
  await using served = serveFake({
    start: () => ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  });
  await (await served.ask("/v1/runs", { body: { file: "a.calls" } })).body?.cancel();
  const waited = await fieldsOf(await served.ask("/v1/runs/run-1?wait=0.1"));
  assert.equal(waited.status, "running");
  assert.equal(await problemOf(await served.ask("/v1/runs/run-1", { method: "DELETE" })), "409 busy");
  assert.equal(await problemOf(await served.ask("/v1/runs/run-1/resume", { body: {} })), "409 busy");
  const cancelled = await served.ask("/v1/runs/run-1/cancel", { body: { reason: "enough" } });
  assert.equal(cancelled.status, 202);
  await cancelled.body?.cancel();
  const ended = await fieldsOf(await served.ask("/v1/runs/run-1?wait=5"));
  assert.equal(ended.status, "stopped");
  assert.equal(await problemOf(await served.ask("/v1/runs/run-1/cancel", { method: "POST" })), "409 ended");
});

Deno.test("a run goes on where it stopped", async () => {
  await using served = serveFake({
    start: () => () => ({ status: "stopped" }),
    resume: () => () => ({ value: "done" }),
  });
  await (await served.ask("/v1/runs", { body: { file: "a.calls" } })).body?.cancel();
  await (await served.ask("/v1/runs/run-1?wait=5")).body?.cancel();
  const response = await served.ask("/v1/runs/run-1/resume", {
    body: { rerun: ["call:a"], skip: [], ask: true },
  });
  assert.equal(response.status, 202);
  assert.equal((await fieldsOf(response)).id, "run-1");
  assert.deepEqual(served.service.done.find(({ what }) => what === "resume")?.with, [
    "run-1",
    { rerun: ["call:a"], skip: [], canAsk: true },
  ]);
});

Deno.test("questions are answered, each once", async () => {
  await using served = serveFake({
    start: () => async ({ ask }) => {
      const answer = await ask({
        kind: "permission",
        question: "May it read?",
        subject: "read x",
        permissions: ["--allow-read=x"],
      });
      return { value: "allow" in answer ? answer.allow : answer.text };
    },
  });
  const stream = await served.ask("/v1/runs", { body: { file: "a.calls", ask: true, stream: true } });
  const asked = Promise.withResolvers<void>();
  const whole = (async () => {
    let text = "";
    for await (const piece of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      if (text.includes("event: ask\n")) asked.resolve();
    }
    return text;
  })();
  await asked.promise;
  const answers = "/v1/runs/run-1/answers";
  const { asks } = await fieldsOf(await served.ask("/v1/runs/run-1"));
  assert.ok(Array.isArray(asks) && asks.length === 1);
  for (
    const body of [{ ask: "a1" }, { ask: "a1", allow: true, text: "x" }, { allow: true }, {
      ask: "a1",
      allow: "yes",
    }]
  ) {
    assert.equal(await problemOf(await served.ask(answers, { body })), "400 invalid", JSON.stringify(body));
  }
  assert.equal(await problemOf(await served.ask(answers, { body: { ask: "a9", allow: true } })), "409 ended");
  const unknown = await fieldsOf(await served.ask("/v1/runs", { body: { fil: "a.calls" } }));
  assert.match(JSON.stringify(unknown.issues), /^\[\{"pointer":"\/fil","message":"unknown, /);
  const unfit = await fieldsOf(await served.ask(answers, { body: { ask: "a1", text: "yes" } }));
  assert.deepEqual([unfit.status, unfit.detail], [400, "found text for the permission a1, expected allow"]);
  const answered = await served.ask(answers, { body: { ask: "a1", allow: true } });
  assert.equal(answered.status, 200);
  assert.deepEqual(await answered.json(), { asks: [] });
  const text = await whole;
  assert.match(text, /event: ask\ndata: \{"ask":"a1"/);
  assert.match(text, /event: answered\ndata: \{"ask":"a1"\}/);
  assert.match(text, /"value":true/);
  const late = await fieldsOf(await served.ask(answers, { body: { ask: "a1", allow: false } }));
  assert.deepEqual([late.status, late.code], [409, "ended"]);
  assert.equal(late.detail, "a1 of run run-1 is not open: it was allowed by http");
});

Deno.test("a conversation is begun, gone on with, and taken back", async () => {
  await using served = serveFake();
  const begun = await served.ask("/v1/conversations", {
    body: { agent: "support.agent.yml", user: "ana", message: "hi", slots: { a: 1 }, ask: false },
  });
  assert.equal(begun.status, 201);
  assert.equal(begun.headers.get("location"), "/v1/conversations/talk-1");
  const first = await fieldsOf(begun);
  assert.equal(first.turns, 1);
  assert.deepEqual(served.service.done[0]?.with, [
    { agent: "support.agent.yml", user: "ana", message: "hi", slots: { a: 1 }, canAsk: false },
  ]);
  const said = await served.ask("/v1/conversations/talk-1/messages", { body: { text: "more" } });
  assert.equal(said.status, 200);
  assert.match(await said.text(), /you said: more/);
  const events = await served.ask("/v1/conversations/talk-1/messages", {
    body: { text: "again", stream: true },
  });
  assert.equal(events.headers.get("orrery-run"), "talk-1");
  assert.match(await events.text(), /event: message\n.*\n.*you said: again/);
  assert.equal((await fieldsOf(await served.ask("/v1/conversations/talk-1?last=1"))).turns, 3);
  const retried = await served.ask("/v1/conversations/talk-1/retry", { method: "POST" });
  assert.equal(retried.status, 200);
  await retried.body?.cancel();
  assert.equal(
    (await fieldsOf(await served.ask("/v1/conversations/talk-1/back", { body: { turns: 1 } }))).turns,
    3,
  );
  const { conversations } = await fieldsOf(await served.ask("/v1/conversations?agent=support.agent.yml"));
  assert.ok(Array.isArray(conversations) && conversations.length === 1);
  for (const path of ["", "/events"]) {
    assert.equal(await problemOf(await served.ask(`/v1/conversations/none${path}`)), "404 not-found");
  }
  for (const body of [{}, { text: 5 }]) {
    assert.equal(
      await problemOf(await served.ask("/v1/conversations/talk-1/messages", { body })),
      "400 invalid",
    );
  }
  assert.equal(await problemOf(await served.ask("/v1/conversations", { body: {} })), "400 invalid");
});

Deno.test("a conversation that is over takes no message", async () => {
  await using served = serveFake({ turn: () => () => ({ status: "completed" }) });
  await (await served.ask("/v1/conversations", { body: { agent: "a.agent.yml" } })).body?.cancel();
  assert.equal(
    await problemOf(await served.ask("/v1/conversations/talk-1/messages", { body: { text: "hi" } })),
    "409 ended",
  );
});

Deno.test("prompts are rendered and run, also those whose path has several parts", async () => {
  const rendered = { text: "Hello Ana", tools: ["ReadFile"], contract: null };
  await using served = serveFake({ look: { render: () => Promise.resolve(rendered) } });
  for (const path of ["greet", "review/code", "review%2Fcode"]) {
    const response = await served.ask(`/v1/prompts/${path}/render`, { body: { input: { name: "Ana" } } });
    assert.deepEqual(await response.json(), rendered);
    const run = await served.ask(`/v1/prompts/${path}/run`, {
      body: { input: { name: "Ana" }, model: "script/echo" },
    });
    assert.equal(run.status, 202);
    await run.body?.cancel();
  }
  const decoded = ["greet", "review/code", "review/code"];
  assert.deepEqual(
    served.service.done.map(({ with: given }) => given),
    decoded.flatMap((path) => [
      [path, { name: "Ana" }],
      [{ kind: "prompt", path, input: { name: "Ana" }, model: "script/echo" }],
    ]),
  );
});

Deno.test("POST /v1/calls runs what comes as it comes", async () => {
  const first = Promise.withResolvers<void>();
  await using served = serveFake({
    start: (request) => async ({ tell }) => {
      assert.ok(request.kind === "calls" && typeof request.text !== "string");
      let text = "";
      for await (const piece of request.text) {
        text += piece;
        tell({ type: "text-delta", step: "s", text: piece });
        first.resolve();
      }
      return { value: text };
    },
  });
  const body = new TransformStream<string, string>();
  const writer = body.writable.getWriter();
  const asked = fetch(`${served.origin}/v1/calls`, {
    method: "POST",
    headers: { authorization: `Bearer ${TOKEN}`, "content-type": "text/plain" },
    body: body.readable.pipeThrough(new TextEncoderStream()),
  });
  await writer.write("one grü");
  await first.promise;
  await writer.write("ße");
  await writer.close();
  const text = await (await asked).text();
  assert.match(text, /"value":"one grüße"/);
});

/** The head of a request that sends calls piece by piece. */
function callsHead(port: number): string {
  return `POST /v1/calls HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${TOKEN}\r\n` +
    "Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n";
}

Deno.test("a body of calls that breaks off ends the run, and one that is no text does", async () => {
  const ends: string[] = [];
  const ended = Promise.withResolvers<void>();
  await using served = serveFake({
    start: (request) => async () => {
      assert.ok(request.kind === "calls" && typeof request.text !== "string");
      try {
        for await (const _piece of request.text);
        ends.push("end");
      } catch (error) {
        ends.push(error instanceof HttpProblem ? error.details.code : String(error));
        throw error;
      } finally {
        if (ends.length === 2) ended.resolve();
      }
    },
  });
  const start = callsHead(served.port);
  const broken = await sendRaw(served.port, `${start}3\r\nabc\r\n`, { waitMs: 500 });
  assert.equal(broken.status, 200);
  const bytes = new Uint8Array([
    ...new TextEncoder().encode(`${start}2\r\n`),
    0xff,
    0xfe,
    13,
    10,
    48,
    13,
    10,
    13,
    10,
  ]);
  await sendRaw(served.port, bytes, { waitMs: 1_000 });
  await ended.promise;
  assert.deepEqual(ends.toSorted(), ["broken-off", "utf-8"]);
  for (const type of ["application/json", "application/x-www-form-urlencoded"]) {
    const response = await served.ask("/v1/calls", {
      method: "POST",
      headers: { "content-type": type },
      body: {},
    });
    assert.equal(await problemOf(response), "415 content-type");
  }
});

for (const [when, before] of [["before it is answered", 0], ["behind that", 100]] as const) {
  Deno.test(`a body that breaks off is known at once, also when it is read ${when} and told of meanwhile`, async () => {
    const ended = Promise.withResolvers<string>();
    await using served = serveFake({
      start: (request) => async ({ tell }) => {
        assert.ok(request.kind === "calls" && typeof request.text !== "string");
        await systemClock.sleep(before);
        try {
          for await (const text of request.text) {
            setTimeout(() => tell({ type: "text-delta", step: "s", text }), 100);
          }
          ended.resolve("its end");
        } catch (error) {
          ended.resolve(error instanceof HttpProblem ? error.details.code : String(error));
          throw error;
        }
      },
    });
    const { status } = await sendRaw(served.port, `${callsHead(served.port)}3\r\nabc\r\n`, { waitMs: 500 });
    const late = setTimeout(() => ended.resolve("not known after 5 s"), 5_000);
    assert.deepEqual([status, await ended.promise], [200, "broken-off"]);
    clearTimeout(late);
  });
}

Deno.test("a body that nobody wants the rest of is left at once, and not when its next piece comes", async () => {
  const left = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode("grü").subarray(0, 3)),
    cancel: () => left.resolve(),
  });
  const stop = new AbortController();
  const taken: string[] = [];
  await eachUntilAborted(
    readPieces(new Request("http://127.0.0.1/v1/calls", { method: "POST", body })),
    (text) => {
      taken.push(text);
      setTimeout(() => stop.abort(), 20); // the next piece is waited for by then
    },
    stop.signal,
  );
  const late = AbortSignal.timeout(5_000); // a minute, when it is the next piece that is waited for
  await Promise.race([left.promise, new Promise((_, reject) => late.onabort = () => reject(late.reason))]);
  assert.deepEqual(taken, ["gr"]); // of the last character the half came
});

Deno.test("a gadget gives its result, and says what went wrong", async () => {
  const calls: Readonly<
    Record<string, readonly [code: CallErrorCode, expected: string]>
  > = {
    Wrong: ["input", "422 input"],
    Forbidden: ["permission", "403 refused"],
    Slow: ["timeout", "504 timeout"],
    Throwing: ["failed", "422 failed"],
    Crashed: ["crash", "500 failed"],
    Broken: ["unavailable", "500 failed"],
    NoJson: ["result", "500 failed"],
  };
  await using served = serveFake({
    start: (request) => ({ tell }) => {
      assert.ok(request.kind === "gadget");
      const call = { invocationId: "call", line: 1 };
      tell({ type: "call-open", ...call, gadgetName: request.name, dependencies: [] });
      tell({ type: "call-run", ...call });
      const [code] = calls[request.name] ?? [];
      if (code === undefined) {
        tell({ type: "call-result", ...call, result: 42 });
        return { value: 42 };
      }
      tell({
        type: "call-error",
        ...call,
        code,
        error: "no",
        ...(code === "permission" && { flag: "grants: net" }),
      });
      return { status: "failed", error: "no" };
    },
  });
  const response = await served.ask("/v1/gadgets/Calculate", { body: { input: { expression: "6*7" } } });
  assert.deepEqual(await response.json(), { run: "run-1", result: 42 });
  assert.deepEqual(served.service.done[0]?.with, [{
    kind: "gadget",
    name: "Calculate",
    input: { expression: "6*7" },
  }]);
  for (const [name, [, expected]] of Object.entries(calls)) {
    const failed = await served.ask(`/v1/gadgets/${name}`, { body: {} });
    const text = await failed.clone().text();
    assert.equal(await problemOf(failed), expected, text);
    if (name === "Forbidden") assert.match(text, /"flag":"grants: net"/);
  }
  const events = await served.ask("/v1/gadgets/Calculate", { body: { stream: true } });
  assert.match(await events.text(), /event: call-result/);
  assert.equal(await problemOf(await served.ask("/v1/gadgets/a-%2Fb", { body: {} })), "400 invalid");
});

Deno.test("files and texts are checked", async () => {
  const problem = {
    code: "E-x",
    severity: "error",
    message: "m",
    file: "a.calls",
    line: 1,
    column: 2,
  } as const;
  await using served = serveFake({ look: { check: () => Promise.resolve([problem]) } });
  for (const body of [{}, { files: ["a.calls", "b/c.md"] }, { name: "x.calls", text: "" }]) {
    assert.deepEqual(await (await served.ask("/v1/check", { body })).json(), { problems: [problem] });
  }
  assert.deepEqual(served.service.done.map(({ with: given }) => given[0]), [
    {},
    { files: ["a.calls", "b/c.md"] },
    { text: { name: "x.calls", text: "" } },
  ]);
  for (const body of [{ name: "x.calls" }, { text: "x" }, { files: [], text: "x", name: "y" }]) {
    assert.equal(await problemOf(await served.ask("/v1/check", { body })), "400 invalid");
  }
});

Deno.test("the catalogue is told", async () => {
  await using served = serveFake();
  const catalog = await fieldsOf(await served.ask("/v1/catalog"));
  for (const name of ["gadgets", "prompts", "agents", "documents", "models"]) {
    assert.ok(Array.isArray(catalog[name]), name);
  }
});

Deno.test("a link gives a cookie once, and the cookie reads and writes with its Origin", async () => {
  await using served = serveFake();
  const { url } = await fieldsOf(await served.ask("/v1/links", { method: "POST" }));
  assert.ok(typeof url === "string" && url.startsWith(`${served.origin}/link/`));
  const followed = await fetch(url, { redirect: "manual" });
  assert.equal(await statusOf(followed), 303);
  assert.equal(followed.headers.get("location"), "/");
  const set = followed.headers.get("set-cookie") ?? "";
  assert.match(
    set,
    new RegExp(
      `^orrery_${served.port}=\\d+\\.[\\w-]{43}\\.[0-9a-f]{64}; HttpOnly; SameSite=Strict; Path=/; Max-Age=43200$`,
    ),
  );
  const [cookie = ""] = set.split(";");
  const withCookie = (
    path: string,
    { headers, ...options }: { method?: string; headers?: Record<string, string>; body?: string } = {},
  ) => fetch(served.origin + path, { ...options, headers: { cookie, ...headers } });
  const read = await withCookie("/v1/runs");
  assert.equal(read.status, 200);
  await read.body?.cancel();
  const json = { "content-type": "application/json" };
  const forged = await withCookie("/v1/runs", { method: "POST", headers: json, body: '{"file":"a.calls"}' });
  assert.equal(await problemOf(forged), "403 origin");
  const own = await withCookie("/v1/runs", {
    method: "POST",
    headers: { ...json, origin: served.origin },
    body: '{"file":"a.calls"}',
  });
  assert.equal(own.status, 202);
  await own.body?.cancel();
  const links = await withCookie("/v1/links", { method: "POST", headers: { origin: served.origin } });
  assert.equal(await problemOf(links), "401 token");
  assert.equal(await problemOf(await fetch(url, { redirect: "manual" })), "404 link");
  assert.equal(await problemOf(await fetch(`${served.origin}/link/never`)), "404 link");
});

Deno.test("whoever looks at the head of a link has not followed it", async () => {
  await using served = serveFake();
  const { url } = await fieldsOf(await served.ask("/v1/links", { method: "POST" }));
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
  await using served = serveFake({ look: { gadget: () => Promise.reject(new Error("hidden")) } });
  const themeOf = async (path: string, cookie: string, body?: string): Promise<string | undefined> => {
    const response = await fetch(served.origin + path, {
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
  await using served = serveFake();
  const post = (token: string, headers: Readonly<Record<string, string>> = {}) =>
    fetch(`${served.origin}/login`, {
      method: "POST",
      redirect: "manual",
      headers,
      body: new URLSearchParams({ token }),
    });
  const wrong = await post("wrong");
  assert.equal(wrong.status, 401);
  assert.match(await wrong.text(), /role="alert"/);
  assert.equal(wrong.headers.get("set-cookie"), null);
  const right = await post(TOKEN, { origin: served.origin });
  assert.equal(await statusOf(right), 303);
  assert.match(right.headers.get("set-cookie") ?? "", /HttpOnly; SameSite=Strict/);
  assert.equal(await problemOf(await post(TOKEN, { origin: "http://evil.example" })), "403 origin");
  const many = await fetch(`${served.origin}/login`, {
    method: "POST",
    body: new URLSearchParams(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, "1"])),
  });
  assert.equal(many.status, 400);
  assert.equal((await many.json()).detail, "the form has more than 2 fields, expected at most that");
  const page = await fetch(`${served.origin}/login`);
  assert.match(page.headers.get("content-security-policy") ?? "", /default-src 'none'/);
  assert.match(await page.text(), /<form method="post" action="\/login">/);
  const sent = await fetch(`${served.origin}/v1/runs`, {
    headers: { accept: "text/html" },
    redirect: "manual",
  });
  assert.equal(sent.headers.get("location"), "/login");
  assert.equal(await statusOf(sent), 303);
});

Deno.test("the login leads back to the page that was wanted, and nowhere but to this server", async () => {
  await using served = serveFake();
  const asked = await fetch(`${served.origin}/runs?kind=calls`, {
    headers: { accept: "text/html" },
    redirect: "manual",
  });
  assert.equal(await statusOf(asked), 303);
  assert.equal(asked.headers.get("location"), "/login?to=%2Fruns%3Fkind%3Dcalls");
  const form = await fetch(`${served.origin}/login?to=%2Fruns%3Fkind%3Dcalls`);
  assert.match(await form.text(), /name="to" value="\/runs\?kind=calls"/);
  const leadsTo = async (to: string): Promise<string | null> => {
    const answer = await fetch(`${served.origin}/login`, {
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
  await using served = serveFake({
    start: () => async ({ ask }) => ({ value: String(await ask({ kind: "question", question: "Which?" })) }),
  });
  const run = await fieldsOf(
    await served.ask("/v1/runs", { method: "POST", body: { file: "a.calls", ask: true } }),
  );
  const events = await served.ask("/v1/events");
  assert.equal(events.headers.get("content-type"), "text/event-stream");
  const reader = events.body?.getReader();
  const { value = new Uint8Array() } = await reader?.read() ?? {};
  await reader?.cancel();
  const [, data = ""] = /^event: project\ndata: (.*)\n\n$/.exec(new TextDecoder().decode(value)) ?? [];
  const { server, active, waiting } = JSON.parse(data);
  assert.match(server, /^[\w-]{43}$/);
  assert.deepEqual([active, waiting.map(({ id, asks }: { id: string; asks: unknown }) => [id, asks])], [1, [
    [run.id, [{ ask: "a1", kind: "question", question: "Which?" }]],
  ]]);
});

Deno.test("without a token anybody of this machine may ask, and no page of another site", async () => {
  const service = fakeService();
  await using server = openServer(service, { port: 0, tell: () => {} });
  assert.equal(server.link(), server.origin);
  const own = await fetch(`${server.origin}/v1/runs`);
  assert.equal(own.status, 200);
  await own.body?.cancel();
  const foreign = await fetch(`${server.origin}/v1/runs`, { headers: { origin: "http://evil.example" } });
  assert.equal(await problemOf(foreign), "403 origin");
});

Deno.test("bodies are counted and timed while they are read", async () => {
  await using served = serveFake();
  const start =
    `POST /v1/runs HTTP/1.1\r\nHost: 127.0.0.1:${served.port}\r\nAuthorization: Bearer ${TOKEN}\r\n` +
    "Content-Type: application/json\r\n";
  const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
  const large = await sendRaw(served.port, `${start}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(200)}`);
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
    const response = await fetch(`${served.origin}/v1/runs`, {
      method: "POST",
      headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
      body: typeof text === "string" ? text : text.slice(),
    });
    assert.equal(await problemOf(response), `400 ${code}`);
  }
  assert.deepEqual(served.service.done, []);
});

Deno.test("nothing that is not there is, and no method that is not", async () => {
  await using served = serveFake();
  assert.equal(await problemOf(await served.ask("/v1/nothing")), "404 not-found");
  const wrong = await served.ask("/v1/catalog", { body: {} });
  assert.equal(wrong.headers.get("allow"), "GET");
  assert.equal(await problemOf(wrong), "405 method");
  const both = await served.ask("/v1/runs", { method: "DELETE" });
  assert.equal(both.headers.get("allow"), "GET, POST");
  assert.equal(await problemOf(both), "405 method");
});

Deno.test("a body that comes too slowly is not waited for", async () => {
  const cancelled = Promise.withResolvers<unknown>();
  const awake = setTimeout(() => {}, 10_000); // time limits keep no process alive
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new Uint8Array(3)),
    cancel: (reason) => cancelled.resolve(reason),
  });
  const request = new Request("http://any.example/", { method: "POST", body });
  let bytes = 0;
  const reading = async () => {
    const limits = { pieceMs: 50, wholeMs: 10_000, maxBytes: 100 };
    for await (const piece of pieces(request, limits)) bytes += piece.length;
  };
  try {
    await assert.rejects(reading(), (error) => error instanceof HttpProblem && error.details.code === "slow");
    assert.equal(bytes, 3);
    await cancelled.promise;
  } finally {
    clearTimeout(awake);
  }
});

Deno.test("a body that comes drop by drop is not waited for either", async () => {
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await systemClock.sleep(10);
      controller.enqueue(new Uint8Array(1));
    },
  });
  const request = new Request("http://any.example/", { method: "POST", body });
  const reading = async () => {
    const limits = { pieceMs: 1_000, wholeMs: 100, maxBytes: 10_000 };
    for await (const _piece of pieces(request, limits));
  };
  await assert.rejects(reading(), (error) => error instanceof HttpProblem && error.details.status === 408);
  await systemClock.sleep(20); // the drop that was under way
});
