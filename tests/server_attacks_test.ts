// What a page of another site, a name that leads here, and a request that is no request can do to a server: nothing. All of it over real
// sockets, with the token and without one where none is needed, at every route.

import assert from "node:assert/strict";
import { type KnownRoute, routesOf, TYPES } from "./_routes.ts";
import { type Served, served } from "./_served_project.ts";
import { codeOf, sendRaw, TOKEN } from "./_server.ts";

interface Attacked {
  readonly server: Served;
  readonly port: number;
  readonly host: string;
  /** Each path with something in its places, and one that is none. */
  readonly places: readonly Pick<KnownRoute, "method" | "path" | "accepts" | "isOpen">[];
  /** Sends the lines and the body, and gives the answer. */
  send(lines: readonly string[], body?: string): ReturnType<typeof sendRaw>;
}

/** A project whose files are all that could be started; what was begun or told is looked at when the work is done. */
async function attacked(token: string | undefined, work: (at: Attacked) => Promise<void>): Promise<void> {
  await using server = await served({ "plan.md": "# Plan\n", "a.calls": "" }, [
    "--quiet",
    ...token === undefined ? ["--no-token"] : [],
  ]);
  const { port } = server;
  const none = { method: "GET", path: "/nothing/{here}", accepts: "json", isOpen: false } as const;
  await work({
    server,
    port,
    host: `127.0.0.1:${port}`,
    places: [...await routesOf(server), none].map((route) => ({
      ...route,
      path: route.path.replaceAll(/\{\w+\}/g, "x"),
    })),
    send: (lines, body = "") =>
      sendRaw(port, new TextEncoder().encode(`${lines.join("\r\n")}\r\nConnection: close\r\n\r\n${body}`)),
  });
  assert.equal(server.told(), "");
  assert.deepEqual((await server.json("/v1/runs")).body.runs, []);
  assert.deepEqual((await server.json("/v1/conversations")).body.conversations, []);
}

const bearer = (token: string | undefined) => token === undefined ? [] : [`Authorization: Bearer ${token}`];

/** Names of hosts that lead to this machine, or look as if they did. `P` is the port. */
const REBOUND: readonly string[] = [
  "evil.example",
  "evil.example:P",
  "localhost.evil.com",
  "localhost.evil.com:P",
  "127.0.0.1.nip.io:P",
  "127-0-0-1.nip.io:P",
  "localtest.me:P",
  "localhost.:P",
  "127.0.0.1.:P",
  "localhost.localdomain:P",
  "localhost",
  "127.0.0.1",
  "[::1]",
  "localhost:80",
  "127.0.0.1:80",
  "127.0.0.1:0P",
  "127.0.0.1:P0",
  "127.0.0.1:P:P",
  "127.0.0.1:",
  "127.1:P",
  "127.0.1:P",
  "127.0.0.2:P",
  "0:P",
  "0.0.0.0:P",
  "2130706433:P",
  "0x7f000001:P",
  "017700000001:P",
  "127.000.000.001:P",
  "[::]:P",
  "[::1%25lo]:P",
  "[0:0:0:0:0:0:0:1]:P",
  "[::ffff:127.0.0.1]:P",
  "[::ffff:7f00:1]:P",
  "::1:P",
  "user@127.0.0.1:P",
  "127.0.0.1:P@evil.example",
  "127.0.0.1:P/evil.example",
  "127.0.0.1:P#.evil.example",
  "127.0.0.1:P?.evil.example",
  "127.0.0.1:P\\.evil.example",
  "127.0.0.1:P.evil.example",
  "127.0.0.1:P, 127.0.0.1:P",
  "127.0.0.1:P evil.example",
  "127.0.0.1%3aP",
  "127%2e0.0.1:P",
  "\u24db\u24de\u24d2alhost:P",
  "127\u30020.0.1:P",
  "http://127.0.0.1:P",
];

for (const token of [TOKEN, undefined]) {
  Deno.test(`no name but the own ones is let in${token === undefined ? ", where nobody needs a token" : ""}`, async () => {
    await attacked(token, async ({ port, places, send }) => {
      for (const [turn, name] of REBOUND.entries()) {
        const host = name.replaceAll("P", String(port));
        for (
          const { method, path } of [
            { method: "GET", path: "/v1/catalog" },
            { method: "GET", path: "/" },
            { method: "POST", path: "/v1/runs" },
            { method: "GET", path: "/assets/now/lib/browser/page.css" },
            { method: "POST", path: "/mcp" },
            { method: "POST", path: "/login" },
            // Every route with some of them.
            ...places.filter((_place, index) => index % 12 === turn % 12),
          ]
        ) {
          const { status, body } = await send([
            `${method} ${path} HTTP/1.1`,
            `Host: ${host}`,
            `Origin: http://${host}`,
            ...bearer(token),
            "Content-Type: application/json",
            "Content-Length: 2",
          ], "{}");
          const isKnown = status === 421 ? path === "/mcp" || codeOf(body) === "host" : status === 400;
          assert.ok(isKnown, `${method} ${path} at ${host}: ${status} ${body}`);
        }
      }
    });
  });
}

/** What a form, a picture or a script of another site can send without being asked for leave. */
const SIMPLE: readonly (string | undefined)[] = [
  undefined,
  "",
  "text/plain",
  "text/plain;charset=UTF-8",
  "text/plain; application/json",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "multipart/form-data; boundary=application/json",
  "application/json, text/plain",
  "text/plain, application/json",
];

/** Who a browser says is asking. */
const FOREIGN: readonly (readonly string[])[] = [
  ["Origin: http://evil.example"],
  ["Origin: null"],
  ["Origin: https://HOST"],
  ["Origin: http://localhost:3000"],
  ["Origin: http://HOST.evil.example"],
  ["Origin: http://HOST", "Origin: http://evil.example"],
  ["Origin: http://127.0.0.1"],
  ["Origin: http://evil.example?http://HOST"],
  ["Origin: http://HOST/"],
  ["Origin: "],
  ["Sec-Fetch-Site: cross-site"],
  ["Sec-Fetch-Site: same-site"],
  ["Sec-Fetch-Site: x"],
  ["Sec-Fetch-Site: cross-site", "Origin: http://HOST"],
];

Deno.test("no page of another site does anything, with whatever type of body, where nobody needs a token", async () => {
  await attacked(undefined, async ({ host, places, send }) => {
    for (const { method, path } of places) {
      for (const foreign of FOREIGN) {
        const type = SIMPLE[(path.length + foreign.length) % SIMPLE.length];
        const { status, body, headers } = await send([
          `${method} ${path} HTTP/1.1`,
          `Host: ${host}`,
          ...foreign.map((line) => line.replaceAll("HOST", host)),
          ...type === undefined ? [] : [`Content-Type: ${type}`],
          ...method === "GET" ? [] : ["Content-Length: 2"],
        ], method === "GET" ? "" : "{}");
        assert.equal(status, 403, `${method} ${path} of ${foreign}: ${status} ${body}`);
        assert.equal(headers.get("access-control-allow-origin"), undefined);
      }
      const asked = await send([
        `OPTIONS ${path} HTTP/1.1`,
        `Host: ${host}`,
        "Origin: http://evil.example",
        "Access-Control-Request-Method: POST",
        "Access-Control-Request-Headers: content-type, authorization",
        "Access-Control-Request-Private-Network: true",
      ]);
      assert.equal(asked.status, 403);
      assert.ok(![...asked.headers.keys()].some((name) => name.startsWith("access-control")));
    }
  });
});

for (const token of [TOKEN, undefined]) {
  Deno.test(`a body of a simple type is not read${token === undefined ? ", where nobody needs a token" : ""}`, async () => {
    await attacked(token, async ({ host, places, send }) => {
      for (const { method, path, accepts } of places) {
        if (method === "GET") continue;
        for (const type of SIMPLE) {
          if (
            accepts === "calls" && type?.startsWith("text/plain") === true && !type.includes("application")
          ) continue;
          if (accepts === "form" && type === "application/x-www-form-urlencoded") continue;
          for (const length of ["Content-Length: 2", "Transfer-Encoding: chunked"]) {
            const { status, body } = await send([
              `${method} ${path} HTTP/1.1`,
              `Host: ${host}`,
              ...bearer(token),
              ...type === undefined ? [] : [`Content-Type: ${type}`],
              length,
            ], length.startsWith("C") ? "{}" : "2\r\n{}\r\n0\r\n\r\n");
            assert.equal(status, 415, `${method} ${path} ${type}: ${status} ${body}`);
          }
        }
      }
    });
  });
}

Deno.test("no token, another one, one in another place: nobody is let in", async () => {
  const wrong = [
    "Authorization: Bearer",
    "Authorization: Bearer x",
    `Authorization: Bearer ${TOKEN}x`,
    `Authorization: Bearer ${TOKEN.slice(0, -1)}`,
    `Authorization: Bearer ${TOKEN.toUpperCase()}`,
    `Authorization: Bearer ${TOKEN} ${TOKEN}`,
    `Authorization: Bearer, ${TOKEN}`,
    `Authorization: Basic ${btoa(`x:${TOKEN}`)}`,
    `Authorization: ${TOKEN}`,
    `Authorization: Bearer x\r\nAuthorization: Bearer ${TOKEN}`,
    `X-Authorization: Bearer ${TOKEN}`,
    `Cookie: token=${TOKEN}`,
    `Cookie: orrery_PORT=${TOKEN}`,
    `Cookie: orrery_PORT=`,
    `Proxy-Authorization: Bearer ${TOKEN}`,
  ];
  await attacked(TOKEN, async ({ host, port, places, send }) => {
    for (const { method, path, isOpen } of places) {
      if (isOpen) continue;
      for (const line of ["X: none", ...wrong]) {
        const { status, body, headers } = await send([
          `${method} ${path}?token=${TOKEN}&access_token=${TOKEN} HTTP/1.1`,
          `Host: ${host}`,
          line.replaceAll("PORT", String(port)),
          ...method === "GET" ? [] : ["Content-Type: application/json", "Content-Length: 2"],
        ], method === "GET" ? "" : "{}");
        // A page leads to where the token is asked for.
        const isRefused = status === 401 || (status === 303 && headers.get("location") === "/login");
        assert.ok(isRefused, `${method} ${path} with ${line}: ${status} ${body}`);
        assert.ok(!body.includes(TOKEN));
      }
    }
  });
});

Deno.test("the own names, the own Origin and the token are let in", async () => {
  await attacked(TOKEN, async ({ host, port, send }) => {
    const named = (given: string) => [`Host: ${given}`, `Authorization: Bearer ${TOKEN}`];
    const heads: readonly (readonly string[])[] = [
      ...[host, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`].map(named),
      [...named(host), `Origin: http://${host}`],
      [...named(`localhost:${port}`), `Origin: http://localhost:${port}`],
      [...named(host), "Sec-Fetch-Site: same-origin"],
      [...named(host), "Sec-Fetch-Site: none"],
      [`Host: ${host}`, `Authorization: bearer ${TOKEN}`],
    ];
    for (const head of heads) {
      assert.equal((await send(["GET /v1/models HTTP/1.1", ...head])).status, 200, head.join());
    }
  });
});

Deno.test("each bad request has its code: of its target, its length, its type, and of who asks", async () => {
  await attacked(TOKEN, async ({ host, port, send }) => {
    const token = `Authorization: Bearer ${TOKEN}`;
    const json = "Content-Type: application/json";
    const heads: readonly (readonly [string, readonly string[], string])[] = [
      ["GET http://evil.example/v1/runs", [token], "400 target"],
      [`GET http://HOST.evil.example/v1/runs`, [token], "400 target"],
      ["GET https://HOST/v1/runs", [token], "400 target"],
      ["GET http://user@HOST/v1/runs", [token], "400 target"],
      ["GET *", [token], "400 target"],
      ["OPTIONS /v1/runs", [token], "405 method"],
      ["PUT /v1/runs", [token], "405 method"],
      // The rule of a route is found by the path as it stands in the request line.
      ["GET /%68ealthz", [], "401 token"],
      ["POST /healthz", ["Content-Length: 0"], "401 token"],
      ["GET /link/x/y", [], "401 token"],
      ["GET /openapiXjson", [token], "404 not-found"],
      ["GET /v1/runs/a/b", [token], "404 not-found"],
      ["GET /link/x", [], "404 link"],
      ["GET /v1/runs", [`Cookie: orrery_${port + 1}=x`], "401 token"],
      ["POST /v1/runs", [token, json, "Content-Length: 10485761"], "413 too-large"],
      ["POST /v1/calls", [token, json, "Content-Length: 2"], "415 content-type"],
      [
        "POST /login",
        ["Content-Type: application/x-www-form-urlencoded", "Content-Length: 0"],
        "400 invalid",
      ],
      ["POST /v1/runs", [token, json, "Content-Encoding: gzip", "Content-Length: 2"], "415 content-encoding"],
      ["POST /v1/runs", [token, json, "Content-Length: -1"], "400 length"],
      ["POST /v1/runs", [token, json, "Content-Length: 2", "Transfer-Encoding: chunked"], "400 length"],
      ...[
        "application/json; charset=utf-16",
        "application/json, text/plain",
        "application/jsonx",
        "multipart/form-data; boundary=x",
      ].map((type) =>
        ["POST /v1/runs", [token, `Content-Type: ${type}`, "Content-Length: 2"], "415 content-type"] as const
      ),
      ["POST /v1/runs", [token, "Content-Type: text/plain", "Content-Length: 0"], "415 content-type"],
    ];
    for (const [line, head, expected] of heads) {
      const { status, body } = await send([
        `${line.replace("HOST", host)} HTTP/1.1`,
        `Host: ${host}`,
        ...head,
      ], head.includes("Content-Length: 2") ? "{}" : "");
      // A head that HTTP itself does not allow is refused before us.
      const isBefore = status === 400 && body === "";
      assert.ok(`${status} ${codeOf(body)}` === expected || isBefore, `${line} ${head}: ${status} ${body}`);
    }
    const utf8 = `${json}; charset=utf-8`;
    const fine = await send(
      ["POST /v1/check HTTP/1.1", `Host: ${host}`, token, utf8, "Content-Length: 2"],
      "{}",
    );
    assert.equal(fine.status, 200, fine.body);
    assert.equal((await send(["HEAD /healthz HTTP/1.1", `Host: ${host}`])).status, 200);
  });
});

/** What a header must not have from a request, as it is sent in each place where a request has text. */
const MARK = "zq9zq9";
const BREAK = `${MARK}\r\nX-Made: 1\r\nSet-Cookie: a=b`;

Deno.test("nothing of a request comes back in a header", async () => {
  await using server = await served({ "plan.md": "# Plan\n" });
  const { port } = server;
  const coded = encodeURIComponent(BREAK);
  const values = [
    BREAK,
    `//${MARK}.example/`,
    `\\\\${MARK}.example`,
    `http://${MARK}.example`,
    `"${MARK}"; filename=x`,
    `${MARK}\u0085X-Made: 1`,
    `${MARK}\u2028X-Made: 1`,
    `\u560d\u560aX-Made: ${MARK}`,
  ];
  const look = async (lines: readonly string[], body = "") => {
    const answer = await sendRaw(
      port,
      new TextEncoder().encode(
        `${lines.join("\r\n")}\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n${body}`,
      ),
    );
    const what = `${lines.join(" | ")}: ${answer.status} ${answer.body.slice(0, 200)}`;
    assert.ok(answer.status > 0 && answer.status !== 500, what);
    for (const [name, value] of answer.headers) {
      assert.ok(!/x-made|set-cookie/i.test(name) && !value.includes(MARK), `${name}: ${value} of ${what}`);
    }
  };
  for (const { method, path, accepts } of await routesOf(server)) {
    for (const value of values) {
      const place = encodeURIComponent(value);
      const at = path.replaceAll(/\{\w+\}/g, place);
      const fields = Object.fromEntries(
        [
          "file",
          "path",
          "agent",
          "model",
          "name",
          "text",
          "ask",
          "token",
          "json",
          "user",
          "session",
          "kind",
          "say",
        ].map((name) => [name, value]),
      );
      const body = accepts === "form"
        ? new URLSearchParams(fields).toString()
        : JSON.stringify({ ...fields, metadata: { conversation: value } });
      const type = TYPES[accepts];
      const isWritten = method !== "GET" && accepts !== "calls";
      const length = new TextEncoder().encode(body).length;
      await look([
        `${method} ${at}?q=${place}&file=${place}&after=${coded} HTTP/1.1`,
        `Authorization: Bearer ${TOKEN}`,
        `Accept: text/html, ${MARK}/x`,
        `Last-Event-ID: ${MARK}`,
        `Mcp-Session-Id: ${MARK}`,
        `Mcp-Protocol-Version: ${MARK}`,
        `X-Request-Id: ${MARK}`,
        `X-Forwarded-Host: ${MARK}.example`,
        `Forwarded: host=${MARK}.example`,
        `Range: bytes=0-${MARK}`,
        `If-None-Match: "${MARK}"`,
        ...isWritten ? [`Content-Type: ${type}`, `Content-Length: ${length}`] : [],
      ], isWritten ? body : "");
    }
  }
  for (
    const target of [
      `//${MARK}.example`,
      `//${MARK}.example/%2e%2e`,
      `/\\${MARK}.example`,
      `/${MARK}/`,
      `/login?next=http://${MARK}.example`,
      `/;@${MARK}.example`,
    ]
  ) {
    await look([`GET ${target} HTTP/1.1`, "Accept: text/html"]);
    await look([`GET ${target} HTTP/1.1`, "Accept: text/html", `Authorization: Bearer ${TOKEN}`]);
  }
});
