// Requests that no client would send: each is refused, with a code where HTTP itself does not refuse it; nothing is started, and the server is
// there afterwards. Then those of somebody who has the token.

import assert from "node:assert/strict";
import fc from "fast-check";
import { routesOf, TYPES } from "../_routes.ts";
import { type Served, served } from "../_served_project.ts";
import { codeOf, sendRaw, TOKEN } from "../_server.ts";
import { isThorough } from "../_thorough.ts";
import { anyText } from "../_any_text.ts";

/** What stands for a line break inside of a header: it ends the header for a parser that is not careful. */
const BREAKS = ["\r", "\n", "\0", "\x0b", "\x85", "\u2028"];

const junk = anyText({ maxLength: 60 });
const word = fc.oneof(
  fc.string({ maxLength: 30 }),
  fc.constantFrom("GET", "POST", "DELETE", "PATCH", "get", "TRACE", "CONNECT", ""),
);

async function targets(server: Served): Promise<fc.Arbitrary<string>> {
  const { port } = server;
  const known = (await routesOf(server)).map(({ path }) => path);
  return fc.oneof(
    fc.constantFrom(...known),
    fc.constantFrom(...known).map((path) => path.replaceAll(/\{\w+\}/g, "..%2f..%2fetc%2fpasswd")),
    fc.constantFrom(...known).map((path) => path.replaceAll(/\{\w+\}/g, "%00%ff%")),
    fc.string({ maxLength: 200 }).map((text) => `/${text}`),
    fc.constantFrom(
      "*",
      "",
      "//",
      `http://evil.example/v1/runs`,
      `http://127.0.0.1:${port}@evil.example/`,
      "/v1/runs?%",
      "/%",
    ),
    fc.nat(90_000).map((length) => `/${"a".repeat(length)}`),
  );
}

function headers(port: number): fc.Arbitrary<readonly string[]> {
  const host = `127.0.0.1:${port}`;
  const one = fc.oneof(
    fc.constantFrom(
      `Host: ${host}`,
      "Host: evil.example",
      "Host:",
      `Authorization: Bearer ${TOKEN}x`,
      "Authorization: Bearer",
      `Cookie: orrery_${port}=x`,
      "Origin: http://evil.example",
      "Origin: null",
      "Sec-Fetch-Site: cross-site",
      "Content-Type: text/plain",
      'Content-Type: application/json; charset="',
      "Content-Length: 99999999999999999999",
      "Content-Length: -5",
      "Content-Length: 5\r\nContent-Length: 6",
      "Transfer-Encoding: chunked",
      "Transfer-Encoding: gzip, chunked",
      "Content-Length: 3\r\nTransfer-Encoding: chunked",
      "Expect: 100-continue",
      "Upgrade: websocket\r\nConnection: Upgrade",
      "Connection: close",
      "Range: bytes=0-",
      "Last-Event-ID: \u0000",
      "X: \r\n folded",
    ),
    fc.tuple(fc.string({ maxLength: 20 }), junk).map(([name, value]) => `${name}: ${value}`),
    fc.tuple(fc.constantFrom("Host", "Origin", "Cookie", "Last-Event-ID"), fc.constantFrom(...BREAKS), junk)
      .map(([name, cut, value]) => `${name}: ${host}${cut}Set-Cookie: ${value}`),
    fc.nat(40_000).map((length) => `X-Long: ${"y".repeat(length)}`),
  );
  return fc.array(one, { maxLength: 8 });
}

/** And nothing was told. */
async function nothingBegan(server: Served): Promise<void> {
  assert.equal(server.told(), "");
  assert.deepEqual((await server.json("/v1/runs")).body.runs, []);
  assert.deepEqual((await server.json("/v1/conversations")).body.conversations, []);
}

Deno.test("malformed requests start nothing, read nothing, and break nothing", async () => {
  await using server = await served({}, ["--quiet"]);
  const { port } = server;
  const statuses = new Map<number, number>();
  // Most parts of a request are right more often than not, so that what is behind the first check is seen too.
  const mostly = <T>(right: T, odd: fc.Arbitrary<T>): fc.Arbitrary<T> =>
    fc.oneof({ arbitrary: fc.constant(right), weight: 2 }, { arbitrary: odd, weight: 1 });
  const request = fc.record({
    method: mostly("GET", word),
    target: await targets(server),
    version: mostly("HTTP/1.1", fc.constantFrom("HTTP/1.0", "HTTP/0.9", "HTTP/2", "", "http/1.1")),
    headers: mostly<readonly string[]>([], headers(port)),
    hasHost: mostly(true, fc.constant(false)),
    body: fc.oneof(junk, fc.constantFrom("{}", "5\r\nhello\r\n0\r\n\r\n", "zz\r\n", "[".repeat(500))),
  });
  await fc.assert(
    fc.asyncProperty(request, async ({ method, target, version, headers, hasHost, body }) => {
      const lines = [
        `${method} ${target} ${version}`,
        ...hasHost ? [`Host: 127.0.0.1:${port}`] : [],
        ...headers,
      ];
      const answer = await sendRaw(port, `${lines.join("\r\n")}\r\n\r\n${body}`, { waitMs: 150 });
      const { status } = answer;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      assert.ok(status < 500 || codeOf(answer.body) !== undefined, `${status} ${answer.body}`);
      assert.notEqual(codeOf(answer.body), "internal", lines.join("\n"));
      for (const [name, value] of answer.headers) {
        assert.ok(!name.includes("set-cookie") && !value.includes("evil"), `${name}: ${value}`);
      }
    }),
    { numRuns: isThorough ? 1_000 : 250, interruptAfterTimeLimit: 280_000, markInterruptAsFailure: true },
  );
  await nothingBegan(server);
  assert.ok(
    [...statuses.keys()].filter((status) => status >= 400).length >= 4,
    JSON.stringify([...statuses]),
  );
  const alive = await fetch(`${server.origin}/healthz`);
  assert.equal(alive.status, 200);
  await alive.body?.cancel();
});

/** Names of the fields that bodies and queries have, so that what is behind them is reached. */
const FIELDS = [
  ..."file path input prompt blocks mode out say profile model budget ask stream agent slots user module session"
    .split(" "),
  ..."message text turns name files kind json token messages tools temperature n stop metadata reason rerun skip"
    .split(" "),
  ..."allow jsonrpc id method params after limit before status last wait q a b code".split(" "),
];

/** What stands in them: of the wrong type, of odd text, or of any. */
const value: fc.Arbitrary<unknown> = fc.oneof(
  anyText({ maxLength: 40 }),
  fc.constantFrom<unknown>(
    "\ud800",
    "a\udfff/b",
    "\u0000",
    "..",
    "x".repeat(70_000),
    null,
    true,
    -0,
    -1,
    1e308,
    1.5,
    2 ** 53,
    [],
    {},
    [[[]]],
    [null],
    { "": "" },
    { constructor: { prototype: 1 } },
    { toString: 1, valueOf: null, then: "x" },
    { $ref: "#" },
    "{{x}}",
    "!!!GADGET_START",
    "guide.agent.yml#\ud800",
    "tools/call",
    "2.0",
  ),
  fc.jsonValue({ maxDepth: 3 }),
);

const object = fc.dictionary(fc.oneof(fc.constantFrom(...FIELDS), fc.string({ maxLength: 8 })), value, {
  maxKeys: 5,
});

/** As it is sent: mostly JSON, sometimes only nearly. */
const jsonBody = fc.oneof(
  object.map((given) => JSON.stringify(given)),
  value.map((given) => JSON.stringify(given) ?? "undefined"),
  object.map((given) => JSON.stringify(given).slice(0, -1)),
  object.map((given) => `{"__proto__":${JSON.stringify(given)},"file":"x","file":"y"}`),
  fc.constantFrom(
    "[".repeat(5_000),
    `{"file":${"[".repeat(199)}${"]".repeat(199)}}`,
    "\ufeff{}",
    "1e999",
    "NaN",
    '{"a":1,}',
  ),
  junk,
);

Deno.test("malformed requests of somebody who has the token start nothing, and none is a failure that nobody foresaw", async () => {
  await using server = await served({
    "prompts/one.prompt.md": "Hello {{name}}.",
    "sub/x.md": "# X\n",
  }, ["--quiet"]);
  const { port } = server;
  await (await server.ask("/")).text(); // what pages load is made for the first one
  const routes = (await routesOf(server)).filter(({ accepts }) => accepts !== "calls");
  const statuses = new Map<number, number>();
  const places = fc.oneof(
    fc.constantFrom(
      "x",
      "one",
      "Calculate",
      "sub%2fx",
      "%ed%a0%80",
      "%f0%90",
      "a".repeat(3_000),
      ":",
      "@",
      "-",
    ),
    junk.map((text) => encodeURIComponent(text.toWellFormed())),
  );
  const request = fc.record({
    route: fc.constantFrom(...routes),
    place: places,
    query: fc.oneof(
      fc.constant(""),
      fc.dictionary(fc.constantFrom(...FIELDS), junk, { maxKeys: 3 }).map((fields) =>
        `?${
          Object.entries(fields).map(([name, text]) => `${name}=${encodeURIComponent(text.toWellFormed())}`)
            .join("&")
        }`
      ),
      fc.constantFrom(
        "?",
        "?%",
        "?=&=&",
        "?__proto__=1",
        "?limit=1e9&limit=2",
        "?after=-1",
        "?wait=999999",
        "?before=%00",
        "?q=%ed%a0%80",
      ),
    ),
    body: jsonBody,
    headers: fc.array(
      fc.constantFrom(
        "Last-Event-ID: -1",
        "Last-Event-ID: 99999999999999999999999",
        "Accept: text/event-stream",
        "Accept: ,;q=",
        "Mcp-Session-Id: x",
        "Mcp-Protocol-Version: x",
        "Accept: application/json, text/event-stream",
        "Range: bytes=5-1",
        "Content-Language: \u0081",
        "Expect: 100-continue",
      ),
      { maxLength: 3 },
    ),
  });
  await fc.assert(
    fc.asyncProperty(request, async ({ route, place, query, body, headers }) => {
      const { method, path, accepts } = route;
      // What is there could be started by a body that happens to be right.
      const at = method === "POST" && /\/run$|^\/v1\/gadgets/.test(path) ? `no-${place}` : place;
      const bytes = new TextEncoder().encode(
        accepts === "form" ? body.replaceAll(/["{}:,]+/g, "&kind=") : body,
      );
      const isWritten = method !== "GET";
      const lines = [
        `${method} ${path.replaceAll(/\{\w+\}/g, at)}${query} HTTP/1.1`,
        `Host: 127.0.0.1:${port}`,
        `Authorization: Bearer ${TOKEN}`,
        "Connection: close",
        ...headers,
        ...isWritten
          ? [
            `Content-Type: ${TYPES[accepts]}`,
            `Content-Length: ${bytes.length}`,
          ]
          : [],
      ];
      const head = new TextEncoder().encode(`${lines.join("\r\n")}\r\n\r\n`);
      const answer = await sendRaw(port, isWritten ? new Uint8Array([...head, ...bytes]) : head, {
        waitMs: 10_000,
      });
      const { status } = answer;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const what = `${lines.join("\n")}\n\n${body.slice(0, 500)}: ${status} ${answer.body.slice(0, 500)}`;
      assert.notEqual(status, 0, what);
      assert.ok(status !== 500, what);
      assert.ok(!answer.body.includes(server.project.folder), what);
    }),
    { numRuns: isThorough ? 1_000 : 250, interruptAfterTimeLimit: 280_000, markInterruptAsFailure: true },
  );
  await nothingBegan(server);
  assert.ok([...statuses.keys()].length >= 4, JSON.stringify([...statuses]));
});
