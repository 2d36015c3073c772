// What a page of another site, a name that leads here, and a request that is no request can do to a server: nothing. All of it over real
// sockets, with the token and without one where none is needed, and with a service that nothing may touch.

import assert from "node:assert/strict";
import { isSameText } from "../lib/server/guard.ts";
import { openServer } from "../lib/server/server.ts";
import { ROUTES } from "../lib/server/route_table.ts";
import { codeOf, sendRaw, TOKEN } from "./_server.ts";
import { untouchedService } from "./_fake_service.ts";
import { serviceOf } from "./_service.ts";

interface Attacked {
  readonly port: number;
  readonly host: string;
  /** Sends the lines and the body, and gives the answer. */
  send(lines: readonly string[], body?: string): ReturnType<typeof sendRaw>;
}

/** @param token absent: nobody needs one */
async function attacked(token: string | undefined, work: (at: Attacked) => Promise<void>): Promise<void> {
  const { service, touched } = untouchedService();
  const told: string[] = [];
  await using server = openServer(service, {
    port: 0,
    tell: (text) => void told.push(text),
    ...(token !== undefined && { token }),
  });
  const port = Number(new URL(server.origin).port);
  await work({
    port,
    host: `127.0.0.1:${port}`,
    send: (lines, body = "") =>
      sendRaw(port, new TextEncoder().encode(`${lines.join("\r\n")}\r\nConnection: close\r\n\r\n${body}`)),
  });
  assert.deepEqual([touched, told], [[], []]);
}

/** Each path of the table with something in its places, and one that is none. */
const PLACES = [...ROUTES, { method: "GET", path: "/nothing", accepts: "json", access: "token" } as const]
  .map((route) => ({ ...route, path: route.path.replaceAll(/\{\w+\+?\}/g, "x") }));

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
    await attacked(token, async ({ port, send }) => {
      for (const name of REBOUND) {
        const host = name.replaceAll("P", String(port));
        for (
          const { method, path } of [
            { method: "GET", path: "/v1/catalog" },
            { method: "GET", path: "/" },
            { method: "POST", path: "/v1/runs" },
            { method: "GET", path: "/assets/now/lib/browser/page.css" },
            { method: "POST", path: "/mcp" },
            { method: "POST", path: "/login" },
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
  ["Sec-Fetch-Site: cross-site"],
  ["Sec-Fetch-Site: same-site"],
  ["Sec-Fetch-Site: cross-site", "Origin: http://HOST"],
];

Deno.test("no page of another site does anything, with whatever type of body, where nobody needs a token", async () => {
  await attacked(undefined, async ({ host, send }) => {
    for (const { method, path } of PLACES) {
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
    await attacked(token, async ({ host, send }) => {
      for (const { method, path, accepts = "json" } of PLACES) {
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
  await attacked(TOKEN, async ({ host, port, send }) => {
    for (const { method, path, access } of PLACES) {
      if (access === "open") continue;
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

Deno.test("how soon a token is refused says nothing of it", () => {
  const secret = "s".repeat(500);
  const timed = (given: string): number => {
    const start = performance.now();
    for (let n = 0; n < 2_000; n++) assert.ok(!isSameText(given, secret));
    return performance.now() - start;
  };
  const early = `x${secret.slice(1)}`;
  const late = `${secret.slice(1)}x`;
  timed(early);
  timed(late);
  // One that stops at the first difference takes hundreds of times as long for the one as for the other.
  const ratios = Array.from({ length: 9 }, () => timed(late) / timed(early)).sort((a, b) => a - b);
  const [ratio = 0] = ratios.slice(4);
  assert.ok(ratio > 0.2 && ratio < 5, ratios.join(" "));
});

/** What a header must not have from a request, as it is sent in each place where a request has text. */
const MARK = "zq9zq9";
const BREAK = `${MARK}\r\nX-Made: 1\r\nSet-Cookie: a=b`;

Deno.test("nothing of a request comes back in a header", async () => {
  await using test = await serviceOf({ "plan.md": "# Plan\n" });
  await using server = openServer(test.service, { port: 0, token: TOKEN, tell: () => {} });
  const port = Number(new URL(server.origin).port);
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
  for (const { method, path, accepts = "json" } of ROUTES) {
    for (const value of values) {
      const place = encodeURIComponent(value);
      const at = path.replaceAll(/\{\w+\+?\}/g, place);
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
      const type =
        { json: "application/json", form: "application/x-www-form-urlencoded", calls: "text/plain" }[accepts];
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
