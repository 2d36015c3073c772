// Who may ask (server.md, "Security"): each refusal over a real socket, in front of every route, with a service that nothing may touch; the
// names and origins by their properties.
import fc from "fast-check";
import assert from "node:assert/strict";
import { isRecord } from "../lib/core/json.ts";
import { empty } from "../lib/server/answers.ts";
import {
  createHosts,
  createRules,
  guard,
  type GuardSettings,
  isSameText,
  type RequestHead,
  STRICT_RULE,
} from "../lib/server/guard.ts";
import { createApp, openServer } from "../lib/server/server.ts";
import { defineRoute, honoPath, openapiPath, pathPattern } from "../lib/server/route.ts";
import { ROUTES } from "../lib/server/route_table.ts";
import { openapiOf } from "../lib/server/api/openapi.ts";
import { fakeService } from "./_fake_service.ts";
import { codeOf, sendRaw, TOKEN } from "./_server.ts";
import { untouchedService } from "./_fake_service.ts";

const PORT = 7337;
const HOST = `127.0.0.1:${PORT}`;

function settings(given: Partial<GuardSettings> = {}): GuardSettings {
  return {
    isHost: createHosts({ host: "127.0.0.1", port: PORT }),
    token: TOKEN,
    cookie: `orrery_${PORT}`,
    isSession: (id) => id === "a-session",
    ruleOf: () => STRICT_RULE,
    ...given,
  };
}

function head(headers: Readonly<Record<string, string>>, given: Partial<RequestHead> = {}): RequestHead {
  const all = new Map(Object.entries({ host: HOST, authorization: `Bearer ${TOKEN}`, ...headers }));
  return {
    method: "GET",
    url: `http://${all.get("host")}/v1/runs`,
    headers: { get: (name) => all.get(name) ?? null },
    ...given,
  };
}

/** The code of the refusal, or who was let in. */
function verdict(request: RequestHead, given: Partial<GuardSettings> = {}): string {
  const found = guard(request, settings(given));
  return "refusal" in found ? `${found.refusal.status} ${found.refusal.code}` : found.caller;
}

Deno.test("a Host is let in by its exact name and port, and nothing else is", () => {
  for (const host of [HOST, `localhost:${PORT}`, `LOCALHOST:${PORT}`, `[::1]:${PORT}`]) {
    assert.equal(verdict(head({ host })), "token", host);
  }
  const wrong = [
    "127.0.0.1",
    "127.0.0.1:7338",
    `127.0.0.1:${PORT}.evil.example`,
    `evil.example:${PORT}`,
    `127.0.0.1.nip.io:${PORT}`,
    `localhost.evil.example:${PORT}`,
    `localhost.:${PORT}`,
    `user@127.0.0.1:${PORT}`,
    `0.0.0.0:${PORT}`,
    `127.1:${PORT}`,
    `2130706433:${PORT}`,
    `${HOST}, ${HOST}`,
    ` ${HOST}`,
    "",
  ];
  for (const host of wrong) assert.equal(verdict(head({ host })), "421 host", host);
});

Deno.test("no Host but the own ones is let in, whatever it looks like", () => {
  const isHost = createHosts({ host: "127.0.0.1", port: PORT });
  const own = new Set([HOST, `localhost:${PORT}`, `[::1]:${PORT}`]);
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.tuple(fc.domain(), fc.nat(65_535)).map(([name, port]) => `${name}:${port}`),
        fc.tuple(fc.ipV4(), fc.constantFrom(PORT, 80, 443)).map(([name, port]) => `${name}:${port}`),
        fc.tuple(fc.ipV6(), fc.constant(PORT)).map(([name, port]) => `[${name}]:${port}`),
        fc.tuple(fc.constantFrom(...own), fc.string()).map(([name, more]) => name + more),
        fc.tuple(fc.string(), fc.constantFrom(...own)).map(([more, name]) => more + name),
      ),
      (host) => {
        assert.equal(isHost(host), own.has(host));
        const isOwn = own.has(host.toLowerCase());
        assert.equal(verdict(head({ host })) === "421 host", !isOwn);
      },
    ),
    { numRuns: 500 },
  );
});

Deno.test("bound to all addresses, each address of its port is one, and no name but those that were given", () => {
  const isHost = createHosts({
    host: "0.0.0.0",
    port: PORT,
    names: ["orrery.example", "behind.example:443"],
  });
  for (
    const host of [
      `192.168.1.7:${PORT}`,
      `[fe80::1]:${PORT}`,
      `orrery.example:${PORT}`,
      "behind.example:443",
      `localhost:${PORT}`,
    ]
  ) {
    assert.ok(isHost(host), host);
  }
  for (const host of [`evil.example:${PORT}`, "192.168.1.7", `orrery.example`, `behind.example:${PORT}`]) {
    assert.ok(!isHost(host), host);
  }
  fc.assert(fc.property(fc.domain(), (name) => !isHost(`${name}:${PORT}`) || name === "orrery.example"));
});

Deno.test("an Origin is the one of the same request, or there is none", () => {
  assert.equal(verdict(head({ origin: `http://${HOST}` })), "token");
  assert.equal(verdict(head({ host: `localhost:${PORT}`, origin: `http://localhost:${PORT}` })), "token");
  const wrong = [
    "null",
    `https://${HOST}`,
    `http://localhost:${PORT}`,
    "http://127.0.0.1",
    `http://${HOST}.evil.example`,
    `http://evil.example?http://${HOST}`,
    `http://${HOST}/`,
    "",
  ];
  for (const origin of wrong) assert.equal(verdict(head({ origin })), "403 origin", origin);
  fc.assert(fc.property(
    fc.oneof(fc.webUrl(), fc.string(), fc.domain().map((name) => `http://${name}:${PORT}`)),
    (origin) => origin === `http://${HOST}` || verdict(head({ origin })) === "403 origin",
  ));
});

Deno.test("a browser that says where the request came from is believed", () => {
  for (const site of ["same-origin", "none"]) {
    assert.equal(verdict(head({ "sec-fetch-site": site })), "token");
  }
  for (const site of ["cross-site", "same-site", "x"]) {
    assert.equal(verdict(head({ "sec-fetch-site": site })), "403 origin", site);
  }
});

Deno.test("the target is a path of this server", () => {
  for (
    const url of [
      "http://evil.example/v1/runs",
      `http://${HOST}.evil.example/v1/runs`,
      `https://${HOST}/v1/runs`,
      `http://user@${HOST}/v1/runs`,
      `http://${HOST}`,
      "*",
    ]
  ) {
    assert.equal(verdict(head({}, { url })), "400 target", url);
  }
  const throwing: RequestHead = {
    ...head({}),
    get url(): string {
      throw new TypeError("Invalid URL");
    },
  };
  assert.equal(verdict(throwing), "400 target");
});

Deno.test("a token is wanted, and it is that one", () => {
  assert.equal(verdict(head({ authorization: `bearer ${TOKEN}` })), "token");
  for (
    const authorization of [
      "",
      "Bearer",
      "Bearer ",
      TOKEN,
      `Basic ${TOKEN}`,
      `Bearer ${TOKEN}x`,
      `Bearer x${TOKEN}`,
    ]
  ) {
    assert.equal(verdict(head({ authorization })), "401 token", authorization);
  }
  assert.equal(
    verdict(head({ authorization: "x" }), { ruleOf: () => ({ access: "open", accepts: "json" }) }),
    "nobody",
  );
  fc.assert(fc.property(fc.string(), fc.string({ minLength: 1 }), (given, secret) => {
    assert.equal(isSameText(given, secret), given === secret);
  }));
});

Deno.test("the cookie of the page reads, and writes with the Origin only", () => {
  const page = (more: Readonly<Record<string, string>>, method = "GET") => {
    const all = new Map(Object.entries({ host: HOST, ...more }));
    return {
      method,
      url: `http://${HOST}/v1/runs`,
      headers: { get: (name: string) => all.get(name) ?? null },
    };
  };
  const cookie = `theme=dark; orrery_${PORT}=a-session`;
  const origin = `http://${HOST}`;
  assert.equal(verdict(page({ cookie })), "page");
  assert.equal(verdict(page({ cookie: `orrery_${PORT}=old; orrery_${PORT}=a-session` })), "page");
  assert.equal(verdict(page({ cookie: `orrery_${PORT + 1}=a-session` })), "401 token");
  assert.equal(verdict(page({ cookie: `orrery_${PORT}=another` })), "401 token");
  assert.equal(verdict(page({ cookie }, "POST")), "403 origin");
  assert.equal(verdict(page({ cookie, origin }, "POST")), "page");
  assert.equal(verdict(page({ cookie, origin }, "DELETE")), "page");
  assert.equal(
    verdict(page({ cookie, origin }), { ruleOf: () => ({ access: "bearer", accepts: "json" }) }),
    "401 token",
  );
});

Deno.test("a body has its type, its length, and no encoding", () => {
  const post = (headers: Readonly<Record<string, string>>, accepts: "json" | "form" | "calls" = "json") =>
    verdict(head(headers, { method: "POST" }), { ruleOf: () => ({ access: "token", accepts }) });
  const json = { "content-type": "application/json" };
  assert.equal(post({ ...json, "content-length": "20" }), "token");
  assert.equal(post({ "content-type": "application/json; charset=utf-8" }), "token");
  assert.equal(post({ "content-length": "0" }), "token");
  const wrong: readonly Readonly<Record<string, string>>[] = [
    { "content-length": "20" },
    { "transfer-encoding": "chunked" },
    { "content-type": "text/plain" },
    { "content-type": "text/plain", "content-length": "0" },
    { "content-type": "application/x-www-form-urlencoded" },
    { "content-type": "multipart/form-data; boundary=x" },
    { "content-type": "application/json; charset=utf-16" },
    { "content-type": "application/json, text/plain" },
    { "content-type": "application/jsonx" },
  ];
  for (const headers of wrong) assert.equal(post(headers), "415 content-type", JSON.stringify(headers));
  assert.equal(post({ ...json, "content-encoding": "gzip" }), "415 content-encoding");
  assert.equal(post({ ...json, "content-length": "10485761" }), "413 too-large");
  assert.equal(post({ ...json, "content-length": "-1" }), "400 length");
  assert.equal(post({ ...json, "content-length": "5", "transfer-encoding": "chunked" }), "400 length");
  assert.equal(
    post({ "content-type": "application/x-orrery-calls", "content-length": "99999999" }, "calls"),
    "token",
  );
  assert.equal(post(json, "calls"), "415 content-type");
  assert.equal(post({ "content-type": "application/x-www-form-urlencoded" }, "form"), "token");
});

Deno.test("the rule of a route is found by the path as it stands in the request line", () => {
  const rules = createRules(ROUTES);
  assert.equal(rules("GET", "/healthz").access, "open");
  assert.equal(rules("HEAD", "/healthz").access, "open");
  assert.equal(rules("POST", "/healthz").access, "token");
  assert.equal(rules("GET", "/%68ealthz").access, "token");
  assert.equal(rules("POST", "/v1/calls").accepts, "calls");
  assert.equal(rules("GET", "/link/x").access, "open");
  assert.equal(rules("GET", "/link/x/y").access, "token");
  assert.equal(rules("GET", "/nothing").access, "token");
});

Deno.test("no route can be had without the guard: the table, Hono and the OpenAPI document have the same ones", () => {
  const app = createApp({
    service: fakeService(),
    settings: openSettings(),
    routes: ROUTES,
    isHost: () => true,
  });
  const table = ROUTES.map(({ method, path }) => `${method} ${openapiPath(path)}`);
  assert.equal(new Set(table).size, table.length, "a path is twice in the table");
  assert.deepEqual(
    app.routes.map(({ method, path }) => `${method} ${path}`).toSorted(),
    ROUTES.map(({ method, path }) => `${method} ${honoPath(path)}`).toSorted(),
  );
  const { paths } = openapiOf(ROUTES, { version: "0" });
  assert.ok(isRecord(paths));
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    isRecord(methods) ? Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`) : []
  );
  assert.deepEqual(documented.toSorted(), table.toSorted());
});

Deno.test("a route that is reached without the guard answers nobody", async () => {
  let calls = 0;
  const route = defineRoute({
    method: "GET",
    path: "/x",
    summary: "x",
    responses: { 204: { description: "x" } },
    access: "bearer",
    handle() {
      calls++;
      return empty();
    },
  });
  const app = createApp({
    service: fakeService(),
    settings: openSettings(),
    routes: [route],
    isHost: () => true,
  });
  const asked = (headers: Readonly<Record<string, string>>) =>
    app.fetch(new Request("http://any.example/x", { headers: { host: "any.example", ...headers } }));
  assert.equal((await asked({})).status, 401);
  assert.equal(calls, 0);
  assert.equal((await asked({ authorization: `Bearer ${TOKEN}` })).status, 204);
});

/** Each bad request of the contract, for a route. `%M` and `%P` are its method and path, `%H` the Host. */
const BAD: readonly (readonly [what: string, head: string, status: number, code: string | undefined])[] = [
  ["no Host", "%M %P HTTP/1.1\r\nAuthorization: %T\r\n", 421, "host"],
  ["another Host", "%M %P HTTP/1.1\r\nHost: evil.example\r\nAuthorization: %T\r\n", 421, "host"],
  [
    "a name that leads here",
    "%M %P HTTP/1.1\r\nHost: 127.0.0.1.nip.io:%N\r\nAuthorization: %T\r\n",
    421,
    "host",
  ],
  ["two Hosts", "%M %P HTTP/1.1\r\nHost: %H\r\nHost: evil.example\r\nAuthorization: %T\r\n", 421, "host"],
  ["another port", "%M %P HTTP/1.1\r\nHost: 127.0.0.1:1\r\nAuthorization: %T\r\n", 421, "host"],
  ["another target", "%M http://evil.example%P HTTP/1.1\r\nHost: %H\r\nAuthorization: %T\r\n", 400, "target"],
  [
    "a foreign Origin",
    "%M %P HTTP/1.1\r\nHost: %H\r\nOrigin: http://evil.example\r\nAuthorization: %T\r\n",
    403,
    "origin",
  ],
  [
    "no Origin of its own",
    "%M %P HTTP/1.1\r\nHost: %H\r\nOrigin: null\r\nAuthorization: %T\r\n",
    403,
    "origin",
  ],
  [
    "another site",
    "%M %P HTTP/1.1\r\nHost: %H\r\nSec-Fetch-Site: cross-site\r\nAuthorization: %T\r\n",
    403,
    "origin",
  ],
  ["a method", "OPTIONS %P HTTP/1.1\r\nHost: %H\r\nAuthorization: %T\r\n", 405, "method"],
  ["another method", "PUT %P HTTP/1.1\r\nHost: %H\r\nAuthorization: %T\r\n", 405, "method"],
];

/** The same for what needs the token. */
const UNKNOWN: typeof BAD = [
  ["no token", "%M %P HTTP/1.1\r\nHost: %H\r\n", 401, undefined],
  ["another token", "%M %P HTTP/1.1\r\nHost: %H\r\nAuthorization: Bearer x\r\n", 401, undefined],
  ["another cookie", "%M %P HTTP/1.1\r\nHost: %H\r\nCookie: orrery_%N=x\r\n", 401, undefined],
];

Deno.test("every bad request is refused at every route, and the service is not touched", async () => {
  const { service, touched } = untouchedService();
  await using server = openServer(service, { port: 0, token: TOKEN, tell: () => {} });
  const port = Number(new URL(server.origin).port);
  const filled = (text: string, method: string, path: string) =>
    text.replaceAll("%M", method).replaceAll("%P", path).replaceAll("%H", `127.0.0.1:${port}`)
      .replaceAll("%N", String(port)).replaceAll("%T", `Bearer ${TOKEN}`);
  const unknown = [{ method: "GET", path: "/nothing/here", access: "token" }, {
    method: "POST",
    path: "/v2/runs",
    access: "token",
  }] as const;
  for (const { method, path, access } of [...ROUTES, ...unknown]) {
    const at = path.replaceAll(/\{\w+\+?\}/g, "x");
    for (const [what, text, status, code] of [...BAD, ...access === "open" ? [] : UNKNOWN]) {
      const answer = await sendRaw(
        port,
        `${filled(text, method, at)}Content-Length: 0\r\nConnection: close\r\n\r\n`,
      );
      // A text that HTTP itself does not allow is refused before us, and who looks with a browser is sent to where the token is asked for.
      const isSent = answer.status === 303 && answer.headers.get("location") === "/login" && status === 401;
      const isRefused = answer.status === status || answer.status === 400 || isSent;
      assert.ok(isRefused, `${method} ${path} with ${what}: ${answer.status} ${answer.body}`);
      if (
        code !== undefined && answer.status === status && answer.body.startsWith("{") &&
        !path.includes("chat")
      ) {
        assert.equal(codeOf(answer.body), code, `${method} ${path} with ${what}`);
      }
      assert.equal(answer.headers.get("access-control-allow-origin"), undefined);
    }
    if (method === "GET") continue;
    const plain = `${method} ${at} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${TOKEN}\r\n`;
    const simple = await sendRaw(
      port,
      `${plain}Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
    );
    assert.equal(simple.status, 415, `${method} ${path}`);
    const huge = await sendRaw(
      port,
      `${plain}Content-Type: application/json\r\nContent-Length: 999999999\r\nConnection: close\r\n\r\n{}`,
    );
    assert.ok(huge.status === 413 || huge.status === 415, `${method} ${path}: ${huge.status}`);
  }
  assert.deepEqual(touched, []);
});

Deno.test("the pattern of a path means what Hono means by it", () => {
  assert.ok(pathPattern("/v1/prompts/{path+}/run").test("/v1/prompts/a/b/run"));
  assert.ok(!pathPattern("/v1/prompts/{path+}/run").test("/v1/prompts/run"));
  assert.ok(!pathPattern("/v1/runs/{id}").test("/v1/runs/a/b"));
  assert.ok(!pathPattern("/openapi.json").test("/openapiXjson"));
});

function openSettings() {
  const { service } = untouchedService();
  const server = openServer(service, { port: 0, token: TOKEN, tell: () => {} });
  void server.stop({ graceMs: 0 });
  return server.settings;
}
