// Who may ask, as properties of the names, the origins and the token: what the door shows of it is in server_attacks_test.ts.
import fc from "fast-check";
import assert from "node:assert/strict";
import { systemClock } from "../mod.ts";
import { createHosts, guard, type GuardSettings, isSameText, type RequestHead } from "../lib/server/guard.ts";
import { failureOf } from "../lib/server/problem.ts";
import { Sessions } from "../lib/server/session.ts";
import { TOKEN } from "./_server.ts";

const PORT = 7337;
const HOST = `127.0.0.1:${PORT}`;

function settings(given: Partial<GuardSettings> = {}): GuardSettings {
  return {
    isHost: createHosts({ host: "127.0.0.1", port: PORT }),
    token: TOKEN,
    cookie: `orrery_${PORT}`,
    isSession: (id) => id === "a-session",
    ruleOf: () => undefined,
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
  fc.assert(fc.property(
    fc.oneof(
      fc.string(),
      fc.tuple(fc.constantFrom("http", "https"), fc.domain()).map((parts) => parts.join("://")),
      fc.domain().map((name) => `http://${name}:${PORT}`),
    ),
    (origin) => origin === `http://${HOST}` || verdict(head({ origin })) === "403 origin",
  ));
});

Deno.test("a token is that one, and how soon another is refused says nothing of it", () => {
  fc.assert(fc.property(fc.string(), fc.string({ minLength: 1 }), (given, secret) => {
    assert.equal(isSameText(given, secret), given === secret);
  }));
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

Deno.test("a session is that of a token: a server that starts again with the same one knows it, none that has another, and not for ever", () => {
  const has = (key: string, id: string, time?: () => number): boolean =>
    new Sessions(systemClock, { key, ...(time && { time }) }).has(id);
  const session = new Sessions(systemClock, { key: TOKEN }).begin();
  assert.equal(has(TOKEN, session), true);
  assert.equal(has(`${TOKEN}.`, session), false);
  const [until = "", name = "", seal = ""] = session.split(".");
  for (
    const forged of [
      "",
      ".",
      `${Number(until) + 1}.${name}.${seal}`,
      `${until}.${name}x.${seal}`,
      `${until}.${name}.${seal.slice(1)}`,
      `${until}.${name}`,
      ` ${session}`,
    ]
  ) assert.equal(has(TOKEN, forged), false, forged);
  const later = (hours: number) => () => Date.now() + hours * 3_600_000;
  assert.deepEqual([11, 13].map((hours) => has(TOKEN, session, later(hours))), [true, false]);
});

Deno.test("what nobody foresaw says nothing of itself but the reference under which it was told", () => {
  const told: string[] = [];
  const tell = (text: string) => void told.push(text);
  const { status, code, detail, more } = failureOf(new Error("/project/secret went wrong"), {
    root: "/project",
    tell,
  });
  assert.deepEqual([status, code], [500, "internal"]);
  assert.doesNotMatch(JSON.stringify([detail, more]), /secret|server_guard_test/);
  assert.match(told.join(), new RegExp(`${more?.reference}.*secret went wrong`));
});
