// What people, servers and programs may do to a conversation, and what must not come of it: hang, break it for good, lead elsewhere.
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import {
  loadAgent,
  memoryFiles,
  memoryJournal,
  openCollection,
  openConversation,
  openJournal,
  type RunEvent,
} from "../../../mod.ts";
import {
  agentOf,
  ask,
  chain,
  endOf,
  go,
  say,
  set,
  type StepJson,
  talk,
  told,
  turn,
  when,
} from "../../_conversation_turns.ts";

const LONG = 1_000_000;

/** Fails when the work takes so long that it cannot be linear: a linear one takes milliseconds. */
async function isQuick<Value>(work: () => Promise<Value>): Promise<Value> {
  const begun = performance.now();
  const value = await work();
  const ms = Math.round(performance.now() - begun);
  assert.ok(ms < 3000, `it took ${ms} ms`);
  return value;
}

function call(url: string, more: Readonly<Record<string, unknown>> = {}): StepJson {
  const target = { slot: { name: "answer" } };
  const flows = { success: { goto: "good" }, fail: { goto: "bad" } };
  return { id: "call", "api-call": { url, method: "GET", target, ...flows, ...more } };
}

const ENDS = [say("good"), go("stop", "end"), say("bad")];

Deno.test("long texts: conditions and extracted values are read in linear time", async () => {
  const digits = `${"1".repeat(LONG)}x`;
  const guarded = when(say("m"), "n", { "greater-than": 1 });
  const conditional = await talk(chain([guarded, say("end")]), { slots: { n: digits } });
  assert.deepEqual(told(await isQuick(() => conditional.start())), ["skip m", "say end: end"]);
  const found = async (type: string, value: string) => {
    const values = [{ description: "d", type, target: { slot: { name: "x" } } }];
    const flows = { success: { action: "continue" }, fail: { action: "continue" } };
    const one = await talk({ id: "e", extractor: { values, ...flows } }, {
      model: () => Promise.resolve({ x: value }),
    });
    await isQuick(() => one.start());
    return one.conversation.slots()["conversation.x"];
  };
  assert.equal(await found("number", digits), undefined);
  const blanks = `${" ".repeat(LONG)}x`;
  assert.ok(await found("string", blanks) === blanks);
  assert.equal(await found("boolean", blanks), undefined);
});

Deno.test("patterns of a JSONPath: choices and optional parts multiply their ways, and are bounded as repetitions are", async () => {
  const select = async (pattern: string, text: string) => {
    const one = await talk(
      chain([call("http://a.test/", { "response-path": `$[?match(@, '${pattern}')]` }), ...ENDS]),
      {
        fetch: () => Promise.resolve(Response.json([text])),
      },
    );
    const [line] = told(await isQuick(() => one.start()));
    return one.conversation.slots()["conversation.answer"] ?? line;
  };
  for (const part of ["a?", "a??", "(?:a|aa)", "(a|aa|x)", "(?:aa?)", "(b|(a|aa))"]) {
    const pattern = `${part.repeat(40)}b`;
    for (const text of ["a".repeat(80), ""]) {
      assert.match(
        String(await select(pattern, text)),
        /^warn step "call": GET http:\/\/a\.test\/: .*it takes more than/,
        pattern,
      );
    }
  }
  const names = Array.from({ length: 200 }, (_, n) => `name${n}`).join("|");
  assert.equal(await select(`(?:${names})`, "name199"), "name199");
  const url = "https://www.example.com/a";
  assert.equal(await select("https?://(www\\\\.)?[a-z.]+(/.*)?", url), url);
});

Deno.test("slots: one that grows without end fails its step, and the conversation can still be kept", async () => {
  const grows = (value: unknown): StepJson => ({
    id: "grow",
    "set-slot": { values: [{ path: { name: "x" }, value }] },
  });
  const cases = [
    ["{{x}}{{x}}", "more than 16 MB"],
    [["{{x}}"], "more than 400 levels"],
    [["{{x}}", "{{x}}"], "more than 16 MB"],
  ] as const;
  for (const [value, problem] of cases) {
    const one = await talk(
      chain([ask("q"), set("s", { x: "0123456789".repeat(100) }), grows(value), go("again", "grow")]),
      {
        limits: { steps: 2000 },
      },
    );
    await one.start();
    const events = await one.say("go");
    assert.equal(
      endOf(events).error,
      `step "grow": slot "conversation.x" cannot hold the value: it has ${problem}`,
    );
    assert.equal(one.conversation.status, "failed");
    assert.deepEqual(one.lines, ["bot q: q", "user q: go"]);
  }
});

Deno.test("api-call: an answer that cannot be kept, or whose parts are selected again and again, takes fail", async () => {
  const nested = (levels: number, end: unknown): string =>
    `${'{"a":'.repeat(levels)}${JSON.stringify(end)}${"}".repeat(levels)}`;
  const cases = [
    [nested(450, 1), undefined, /more than 400 levels/],
    [nested(390, "x".repeat(1_000_000)), "$..a", /selects has more than 16 MB/],
  ] as const;
  for (const [body, path, problem] of cases) {
    const more = path === undefined ? {} : { "response-path": path };
    const one = await talk(chain([call("http://example.com/", more), ...ENDS]), {
      fetch: () => Promise.resolve(new Response(body)),
    });
    const lines = told(await one.start());
    assert.match(lines[0] ?? "", problem);
    assert.deepEqual(lines.slice(1), ["jump call to bad", "say bad: bad"]);
    assert.equal(one.conversation.status, "completed");
  }
});

Deno.test("requests: a slot cannot lead the path of a URL elsewhere", async () => {
  const asked: string[] = [];
  const fetch = (url: string) => {
    asked.push(url);
    return Promise.resolve(new Response("1"));
  };
  const PATHS = ["/users/{{x}}/orders", "/users/{{x}}", "/users/{{x}}?a", "/users/{{x}}{{none}}/a#b"];
  for (const path of PATHS) {
    for (const x of ["..", "."]) {
      const one = await talk(chain([call(`http://example.com${path}`), ...ENDS]), { fetch, slots: { x } });
      const [warning = "", ...lines] = told(await one.start());
      assert.match(warning, /a slot puts "\." or "\.\." into its path, which would lead elsewhere$/);
      assert.deepEqual(lines, ["jump call to bad", "say bad: bad"]);
    }
  }
  const stream = { id: "s", "sse-call": { url: "http://example.com/a/{{x}}/b", method: "GET" } };
  const one = await talk(stream, { fetch, slots: { x: ".." } });
  assert.match(String(endOf(await one.start()).error), /^step "s": .* would lead elsewhere$/);
  assert.deepEqual(asked, []);
  for (
    const [path, x] of [["/a/../{{x}}", "b"], ["/{{x}}/a?b={{x}}", "..."], ["/a/{{x}}", "../b"], [
      "/a?{{x}}",
      "..",
    ]]
  ) {
    await (await talk(chain([call(`http://example.com${path}`), ...ENDS]), { fetch, slots: { x: x ?? "" } }))
      .start();
  }
  assert.deepEqual(asked.map((url) => new URL(url).href), [
    "http://example.com/b",
    "http://example.com/.../a?b=...",
    "http://example.com/a/..%2Fb",
    "http://example.com/a?..",
  ]);
});

Deno.test("requests: a slot cannot name an address that is not public, however it is written", async () => {
  const hosts = ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "0", "①②⑦.0.0.1", "127。0。0。1"];
  for (
    const host of [
      ...hosts,
      "[::1]",
      "[::ffff:127.0.0.1]",
      "%31%32%37.0.0.1",
      "169.254.169.254",
      "x@127.0.0.1",
    ]
  ) {
    const agent = await agentOf(chain([call("http://{{host}}:1/"), ...ENDS]));
    const conversation = await openConversation(agent, { slots: { host } });
    const lines = told(await turn(conversation.start()));
    assert.match(lines[0] ?? "", /is not allowed|expected a whole URL/, host);
    assert.deepEqual(lines.slice(1), ["jump call to bad", "say bad: bad"]);
  }
});

Deno.test("sse-call: events that select nothing are no reason to go on for ever", async () => {
  const chunk = new TextEncoder().encode(`data: "${"x".repeat(100_000)}"\n\n`);
  const body = new ReadableStream({ pull: (stream) => stream.enqueue(chunk) });
  const headers = { "content-type": "text/event-stream" };
  const one = await talk(
    { id: "s", "sse-call": { url: "http://e.test", method: "GET", "response-path": "$.text" } },
    { fetch: () => Promise.resolve(new Response(body, { headers })) },
  );
  const { error } = endOf(await one.start());
  assert.equal(error, 'step "s": http://e.test sent more events than anybody waits for');
});

Deno.test("requests: a value of the environment that a server repeats in its headers is not kept", async () => {
  const value = "s3cr3t-of-the-environment";
  Deno.env.set("CONVERSATION_SAFETY_KEY", value);
  try {
    const store = memoryJournal();
    const headers = [{ key: "X-Key", value: "${env.CONVERSATION_SAFETY_KEY}" }];
    const one = await talk(
      chain([call("http://example.com/", { headers }), ask("q", "{{answer}}"), ...ENDS]),
      {
        store,
        fetch: (_url, init) => {
          const key = new Headers(init?.headers).get("x-key") ?? "";
          assert.equal(key, value);
          return Promise.resolve(
            new Response(key, { headers: { "content-type": `text/plain; x="${key}"` } }),
          );
        },
      },
    );
    const events = await one.start();
    const kept = store.read(one.conversation.id);
    assert.equal(
      JSON.stringify([events, kept, one.conversation.log, one.conversation.slots()]).includes(value),
      false,
    );
    assert.match(JSON.stringify(kept.steps), /\$\{env\.CONVERSATION_SAFETY_KEY\}/);
  } finally {
    Deno.env.delete("CONVERSATION_SAFETY_KEY");
  }
});

Deno.test("slots of others: no name of a user, module or session is read as two", async () => {
  const store = memoryJournal();
  const keep = {
    id: "keep",
    "set-slot": { values: [{ path: { name: "x", destination: "session" }, value: "mine" }] },
  };
  const scope = { user: "a", module: "b", session: "c" };
  await (await talk(chain([keep, ask("q")]), { store, ...scope })).start();
  const others = [
    { user: 'a","b', module: "c" },
    { module: 'b","c', session: "" },
    { module: "b\0c" },
    { user: "A" },
    { user: "a " },
    { user: "" },
    { user: "[secret NAME]" },
  ];
  for (const other of others) {
    const one = await talk(ask("q"), { store, ...scope, ...other });
    assert.deepEqual(one.conversation.slots(), {}, JSON.stringify(other));
  }
  assert.deepEqual((await talk(ask("q"), { store, ...scope })).conversation.slots(), { "session.x": "mine" });
});

Deno.test("a conversation that another process took over in the middle of a turn: nothing is written twice, and it can be answered later", async () => {
  const root = Deno.makeTempDirSync({ prefix: "orrery-safety-" });
  try {
    using store = openJournal(root);
    const query = (sql: string) => {
      using database = new DatabaseSync(`${root}/.orrery/orrery.db`);
      database.exec(sql);
    };
    let asked = 0;
    const add = (id: string): StepJson => ({ id, counter: { slot: { name: "n", destination: "global" } } });
    const one = await talk(
      chain([add("a"), { id: "l", llm: { prompts: [{ user: "x" }] } }, add("b"), ask("q")]),
      {
        store,
        model: () => {
          if (++asked === 1) query("UPDATE runs SET owner_token = owner_token || 'x'");
          return Promise.resolve("hi");
        },
      },
    );
    const end = endOf(await turn(one.conversation.start()));
    assert.deepEqual([end.status, end.reason, one.conversation.slots()], ["failed", "journal", {}]);
    for (let n = 0; n < 2; n++) {
      await assert.rejects(turn(one.conversation.retry()), { name: "ConversationError", code: "busy" });
    }
    query(
      "UPDATE runs SET owner_token = NULL, owner_host = NULL, owner_pid = NULL, owner_started = NULL, " +
        "owner_since = NULL, owner_seen = NULL, status = 'stopped'",
    );
    assert.equal(endOf(await one.retry()).status, "held");
    assert.deepEqual(one.conversation.slots(), { "global.n": 2 });
    assert.deepEqual(one.lines, ["bot l: hi", "bot q: q"]);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("programs without types: what is no text is no message, and a limit is a whole number", async () => {
  const one = await talk(chain([ask("q"), say("end")]));
  const read = async (events: AsyncIterable<unknown>) => {
    for await (const _event of events);
  };
  const untyped: unknown = one.conversation;
  const { start, say: answer } = untyped as Record<
    "start" | "say",
    (text: unknown) => AsyncIterable<unknown>
  >;
  for (const text of [null, 42, { trim: () => "x" }]) {
    await assert.rejects(read(start.call(untyped, text)), {
      name: "TypeError",
      message: /^start\(\) takes the text of a message/,
    });
  }
  await one.start();
  for (const text of [undefined, null, 42, ["x"]]) {
    await assert.rejects(read(answer.call(untyped, text)), {
      name: "TypeError",
      message: /^say\(\) takes the text of a message/,
    });
  }
  assert.deepEqual([one.conversation.status, one.lines], ["held", ["bot q: q"]]);
  for (const steps of [0, -1, 1.5, NaN]) {
    await assert.rejects(talk(say("a"), { limits: { steps } }), RangeError);
  }
  assert.equal((await talk(say("a"), { limits: { steps: Infinity } })).conversation.status, "held");
});

Deno.test("retrieval: nothing that is asked is syntax of the full text search", async () => {
  const files = memoryFiles({
    "/p/a.collection.yml": 'version: "0.1"\ndocuments:\n  - { id: a, file: a.md }\n',
    "/p/a.md": "In winter we open at ten.\n",
  });
  using collection = await openCollection("a.collection.yml", { world: { root: "/p", files } });
  const search = (query: string) => collection.search(query, { limit: 2, secondary: true });
  for (
    const query of [
      'winter" OR text:*',
      "NEAR(winter x)",
      "-winter ^open",
      "winter*",
      "\0winter",
      "{titles}: winter",
    ]
  ) {
    assert.equal((await search(query)).length, 1, query);
  }
  // Marks and numbers that are words here and none for SQLite.
  const odd = Array.from({ length: 0x3000 }, (_, code) => String.fromCodePoint(code)).filter((text) =>
    /[\p{M}\p{N}]/u.test(text)
  );
  for (const text of odd) await search(text.repeat(5));
});

Deno.test("conversation: a file gets no variable of the environment that its program did not name", async () => {
  Deno.env.set("ORRERY_TEST_PLANTED", "planted-value-of-a-variable");
  const text = `version: "0.1"
structure:
  id: env
  action:
    id: call
    api-call:
      url: "https://api.test/x"
      method: GET
      headers: [ { key: X-Key, value: "\${env.ORRERY_TEST_PLANTED}" } ]
      target: { slot: { name: x } }
      success: { action: continue }
      fail: { action: continue }
`;
  const agent = await loadAgent({ file: "env.agent.yml", text });
  const seen: (string | null)[] = [];
  const fetch = (_url: string, init?: RequestInit) => {
    seen.push(new Headers(init?.headers).get("x-key"));
    return Promise.resolve(new Response("{}"));
  };
  for (const env of [[], ["ORRERY_TEST_PLANTED"]]) {
    const conversation = await openConversation(agent, { fetch, env });
    let last: RunEvent | undefined;
    for await (const event of conversation.start()) last = event;
    assert.ok(last?.type === "run-end");
    if (env.length === 0) {
      assert.match(
        last.error ?? "",
        /^step "call": .*"ORRERY_TEST_PLANTED" is not allowed: add it to the option "env"/,
      );
    }
    assert.equal(last.status, env.length === 0 ? "failed" : "completed");
  }
  assert.deepEqual(seen, ["planted-value-of-a-variable"]);
  Deno.env.delete("ORRERY_TEST_PLANTED");
});
