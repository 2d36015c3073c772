// What an agent meets that it was not made for, through the public door: each ends in a flow that the file has, or in an error that says
// which step and why, and the conversation can be gone on with.
import assert from "node:assert/strict";
import { join } from "node:path";
import { type ConversationOptions, loadAgent, memoryJournal, virtualClock } from "../mod.ts";
import {
  agentOf,
  ask,
  chain,
  count,
  endOf,
  eventsOf,
  go,
  say,
  set,
  type StepJson,
  type Talk,
  talk,
  told,
  turn,
  when,
} from "./_conversation_turns.ts";

const FLOWS = { success: { action: "continue" }, fail: { goto: "sorry" } };
const TARGET = { target: { slot: { name: "r" } } };

function api(id: string, more: Readonly<Record<string, unknown>> = {}): StepJson {
  return { id, "api-call": { url: "https://api.example/x", method: "GET", ...TARGET, ...FLOWS, ...more } };
}

function sse(id: string, more: Readonly<Record<string, unknown>> = {}): StepJson {
  return { id, "sse-call": { url: "https://api.example/events", method: "GET", ...more } };
}

const AFTER = [say("went", "went on: {{r}}"), go("end", "end"), say("sorry", "sorry: {{r}}")];

/** The error of the first turn. */
async function errorOf(steps: StepJson, options?: ConversationOptions): Promise<string | undefined> {
  const one = await talk(steps, options);
  const end = endOf(await one.start());
  assert.equal(end.status, end.error === undefined ? one.conversation.status : "failed");
  return end.error;
}

/** The answer of a server that sends so many MB. */
function megabytes(count: number, type: string): { readonly fetch: typeof fetch; sent(): number } {
  let sent = 0;
  const block = new TextEncoder().encode(`data: ${"x".repeat(1024 * 1024 - 8)}\n\n`);
  const pieces = async function* (): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    for (; sent < count; sent++) {
      await Promise.resolve();
      yield block;
    }
  };
  return {
    fetch: () =>
      Promise.resolve(new Response(ReadableStream.from(pieces()), { headers: { "content-type": type } })),
    sent: () => sent,
  };
}

Deno.test("bad input: a slot of another type than a step wants", async () => {
  const counted = (value: unknown): Promise<string | undefined> =>
    errorOf(chain([count("c", "n")]), { slots: { n: value } });
  const rows: readonly (readonly [unknown, string | undefined])[] = [
    ["12", undefined],
    [" -3 ", undefined],
    [0, undefined],
    [null, undefined],
    ["many", 'step "c": slot "conversation.n" holds "many", not a whole number'],
    ["", 'step "c": slot "conversation.n" holds "", not a whole number'],
    [1.5, 'step "c": slot "conversation.n" holds "1.5", not a whole number'],
    [true, 'step "c": slot "conversation.n" holds "true", not a whole number'],
    [[1], 'step "c": slot "conversation.n" holds "[1]", not a whole number'],
    [{ a: 1 }, 'step "c": slot "conversation.n" holds "{\\"a\\":1}", not a whole number'],
    ["9".repeat(30), `step "c": slot "conversation.n" holds "${"9".repeat(30)}", not a whole number`],
    ["x".repeat(999), `step "c": slot "conversation.n" holds "${"x".repeat(60)}", not a whole number`],
  ];
  for (const [value, expected] of rows) assert.equal(await counted(value), expected, JSON.stringify(value));
  const look = { id: "look", retriever: { query: { name: "q" }, ...TARGET } };
  assert.equal(
    await errorOf(look, { slots: { q: { a: 1 } } }),
    'step "look": query slot "conversation.q" must hold text or a list of texts',
  );
  const compared = chain([when(say("never"), "n", { "greater-than": 1 }), say("end", "{{n}}")]);
  for (const n of ["many", [5], { a: 1 }, true, null, "1e3", "0x10", "Infinity"]) {
    const one = await talk(compared, { slots: { n } });
    assert.deepEqual(
      eventsOf(await one.start(), "step-skip").map(({ step }) => step),
      ["never"],
      JSON.stringify(n),
    );
  }
});

Deno.test("bad input: a slot of another type is mended in the conversation, and the step tried again", async () => {
  const store = memoryJournal();
  const counter = { id: "c", counter: { slot: { name: "n", destination: "global" } } };
  const one = await talk(chain([counter, say("end", "{{global.n}}")]), {
    store,
    slots: { "global.n": "many" },
  });
  assert.equal(endOf(await one.start()).status, "failed");
  await (await talk(say("mend"), { store, slots: { "global.n": 4 } })).start();
  await one.say("and now?");
  assert.deepEqual(one.lines, ["user c: and now?", "bot end: 5"]);
});

Deno.test("bad input: an endless loop is stopped, and the steps in it are named", async () => {
  const loops: readonly StepJson[] = [
    chain([say("a", ""), go("b", "a")]),
    chain([
      { id: "both", combined: [say("a", ""), go("b", "end of it")] },
      say("end of it", ""),
      go("c", "both"),
    ]),
    when(chain([set("a", { x: 1 }), chain([go("b", "repeat")], "inner")]), "y", { exists: false }),
    chain([go("a", "{{to}}"), go("b", "a")]),
  ];
  for (const steps of loops) {
    const one = await talk(steps, { slots: { to: "b" } });
    const events = await one.start();
    assert.match(
      endOf(events).error ?? "",
      /^step "[^"]+": stopped after 250 steps without waiting for the user; there is probably a loop without a hold$/,
    );
    assert.match(
      eventsOf(events, "warning").at(-1)?.text ?? "",
      /^the last steps were (?:[\w ]+, ){11}[\w ]+$/,
    );
  }
});

Deno.test("bad input: a header out of a slot is a single line, and nothing is sent", async () => {
  let sent = 0;
  const fetching = {
    fetch: () => {
      sent++;
      return Promise.resolve(Response.json({}));
    },
  };
  const headers = [{ key: "X-Name", value: "n={{name}}" }];
  for (const step of [api("call", { headers }), sse("call", { headers })]) {
    for (const name of ["a\r\nX-Admin: yes", "a\nb", "\r", "a\r\n\r\nGET / HTTP/1.1"]) {
      const error = await errorOf(chain([step, ...AFTER]), { ...fetching, slots: { name } });
      assert.equal(error, 'step "call": header "X-Name" must be a single line');
    }
    for (const name of ["a\u0000b", "☃"]) {
      const error = await errorOf(chain([step, ...AFTER]), { ...fetching, slots: { name } });
      assert.match(error ?? "", /^step "call": header "X-Name" holds a character that no header can have/);
    }
  }
  assert.equal(sent, 0);
});

Deno.test("bad input: what people say goes into URLs and bodies as data", async () => {
  const seen: string[] = [];
  const one = await talk(
    chain([
      api("call", {
        url: "https://api.example/{{name}}?q={{name}}",
        method: "POST",
        body: { text: "{{name}}", "{{name}}": ["{{name}}!"] },
      }),
      ...AFTER,
    ]),
    {
      slots: { name: '../x?a=1&b=2#c "{{r}}"' },
      fetch: (url, init) => {
        seen.push(String(url), String(init?.body));
        return Promise.resolve(Response.json("ok"));
      },
    },
  );
  await one.start();
  const encoded = encodeURIComponent('../x?a=1&b=2#c "{{r}}"');
  const text = '../x?a=1&b=2#c \\"{{r}}\\"';
  assert.deepEqual(seen, [
    `https://api.example/${encoded}?q=${encoded}`,
    `{"text":"${text}","{{name}}":["${text}!"]}`,
  ]);
});

Deno.test("bad input: a server that never answers takes fail, and ends a stream as an error", async () => {
  const clock = virtualClock();
  let aborted = 0;
  const never = (_url: unknown, init?: RequestInit): Promise<Response> =>
    new Promise((_resolve, reject) =>
      init?.signal?.addEventListener("abort", () => {
        aborted++;
        reject(init.signal?.reason);
      })
    );
  const called = await talk(chain([api("call"), ...AFTER]), { fetch: never, clock });
  assert.deepEqual(told(await clock.run(called.start())), [
    'warn step "call": GET https://api.example/x: no answer within 30 s',
    "jump call to sorry",
    "say sorry: sorry: ",
  ]);
  assert.equal(clock.now(), 30_000);
  const streamed = await talk(sse("call"), { fetch: never, clock });
  const { error } = endOf(await clock.run(streamed.start()));
  assert.equal(error, 'step "call": https://api.example/events stopped sending');
  assert.deepEqual([clock.now(), aborted], [90_000, 2]);
  const asking = { id: "ask", llm: { prompts: [{ user: "x" }] } };
  const asked = await talk(asking, { model: () => new Promise(() => {}), clock });
  const end = endOf(await clock.run(asked.start()));
  assert.equal(end.error, 'step "ask": program/model did not answer within 60 s');
  assert.ok(clock.now() >= 210_000 && clock.now() < 220_000, `${clock.now()}`); // it is asked twice
});

Deno.test("bad input: an answer of 100 MB is left early", async () => {
  const plain = megabytes(100, "text/plain");
  const called = await talk(chain([api("call"), ...AFTER]), { fetch: plain.fetch });
  assert.deepEqual(told(await called.start()), [
    'warn step "call": GET https://api.example/x: the answer is longer than 5 MB',
    "jump call to sorry",
    "say sorry: sorry: ",
  ]);
  assert.ok(plain.sent() < 10, `${plain.sent()} MB were taken`);
  const events = megabytes(100, "text/event-stream");
  const error = await errorOf(sse("call"), { fetch: events.fetch });
  assert.equal(error, 'step "call": https://api.example/events sent more than 16 MB of text');
  assert.ok(events.sent() < 25, `${events.sent()} MB were taken`);
});

Deno.test("bad input: what is not JSON", async () => {
  const answering = (body: string, type = "application/json"): ConversationOptions => ({
    fetch: () => Promise.resolve(new Response(body, { headers: { "content-type": type } })),
  });
  const path = { "response-path": "$.a" };
  for (const body of ["{", "<html>", "", '{"a": NaN}', "{a: 1}"]) {
    const one = await talk(chain([api("call", path), ...AFTER]), answering(body));
    const events = await one.start();
    assert.deepEqual(eventsOf(events, "jump").map(({ to }) => to), ["sorry"], body);
    assert.match(eventsOf(events, "warning")[0]?.text ?? "", /is not JSON|is empty/);
  }
  const text = await talk(chain([api("call"), ...AFTER]), answering("<html>", "text/html"));
  await text.start();
  assert.deepEqual(text.lines, ["bot went: went on: <html>"]);
  assert.equal(
    await errorOf(sse("call", path), answering("data: {\n\n", "text/event-stream")),
    'step "call": an event is not JSON',
  );
  const judged = (answer: string): Promise<string | undefined> =>
    errorOf({
      id: "v",
      validator: { goals: [{ name: "polite", goal: "x" }], success: FLOWS.success, fail: FLOWS.success },
    }, {
      model: () => Promise.resolve(answer),
    });
  for (const answer of ["no", "{", "[]", "null", '"polite"', '{"polite": "yes"}']) {
    assert.match(
      await judged(answer) ?? "",
      /^step "v": the model (?:did not answer in the requested form|gave no verdict for goal "polite")$/,
    );
  }
});

Deno.test("bad input: names of built-in properties are names", async () => {
  const words = ["__proto__", "constructor", "toString", "hasOwnProperty"];
  const values = words.map((name, index) => ({ path: { name }, value: index }));
  const missing = words.map((name) => when(say(`no ${name}`), name, { exists: true }));
  const one = await talk(
    chain([
      ...missing,
      say("empty", "[{{constructor}}{{__proto__}}{{toString}}]"),
      {
        id: "find",
        extractor: {
          values: words.map((name) => ({ description: "x", target: { slot: { name } } })),
          ...FLOWS,
          fail: { goto: "set" },
        },
      },
      { id: "set", "set-slot": { values } },
      say("full", words.map((name) => `{{${name}}}`).join(" ")),
    ]),
    { model: () => Promise.resolve({}), constants: {} },
  );
  const events = await one.start();
  assert.equal(eventsOf(events, "step-skip").length, words.length);
  assert.deepEqual(one.lines, ["bot empty: []", "bot full: 0 1 2 3"]);
  assert.equal(Object.keys(one.conversation.slots()).length, words.length);
});

Deno.test("bad input: an agent file that is gone, or is none any more, leaves the conversation as it is", async () => {
  const folder = await Deno.makeTempDir({ prefix: "orrery-agent-" });
  const file = join(folder, "a.agent.yml");
  const text =
    'version: "0.1"\nstructure:\n  id: a\n  action: { id: q, message: { message: Q?, hold: true } }\n';
  try {
    await Deno.writeTextFile(file, text);
    const store = memoryJournal();
    const one = await talk(await loadAgent(file), { store });
    await one.start();
    await Deno.writeTextFile(file, "structure: [");
    await assert.rejects(loadAgent(file), { name: "AgentFileError" });
    await Deno.remove(file);
    await assert.rejects(loadAgent(file), { name: "FileError" });
    assert.equal(store.list()[0]?.status, "held");
    await Deno.writeTextFile(file, text.replace("Q?", "New?"));
    const again = await talk(await loadAgent(file), { store, id: one.conversation.id });
    await again.say("here");
    assert.deepEqual(again.lines, ["bot q: Q?", "user q: here"]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("bad input: ten thousand messages in one breath are refused one by one, and one is taken", async () => {
  const one = await talk(chain([ask("q"), ask("r")]));
  await one.start();
  const all = await Promise.allSettled(
    Array.from({ length: 10_000 }, (_, n) => turn(one.conversation.say(`${n}`))),
  );
  assert.equal(all.filter(({ status }) => status === "fulfilled").length, 1);
  assert.deepEqual(one.lines, ["bot q: q", "user q: 0", "bot r: r"]);
});

Deno.test("bad input: a message of 5 MB is a message", async () => {
  const text = "{{x}} ".repeat(900_000);
  const one: Talk = await talk(
    chain([ask("q"), { id: "ask", llm: { prompts: [], memory: [{ selector: "all" }] } }]),
    {
      model: ({ messages }) => Promise.resolve(`${String(messages.at(-1)?.content).length}`),
    },
  );
  await one.start(text);
  assert.deepEqual([one.conversation.log[1]?.text === text, one.lines.at(-1)], [
    true,
    `bot ask: ${text.length}`,
  ]);
});

Deno.test("bad input: sixty chains in each other, and ten thousand steps in one", async () => {
  let deep: StepJson = ask("q");
  for (let n = 0; n < 60; n++) deep = chain([say(`s${n}`, ""), deep], `c${n}`);
  const nested = await talk(deep);
  await nested.start();
  assert.deepEqual((await nested.say("x")).length > 0 && nested.lines, ["bot q: q", "user q: x"]);
  const wide = await agentOf(
    chain(Array.from({ length: 10_000 }, (_, n) => say(`s${n}`, n % 100 === 0 ? `${n}` : ""))),
  );
  const one = await talk(wide, { limits: { steps: 10_000 } });
  await one.start();
  assert.equal(one.lines.length, 100);
  const looped = await agentOf(
    chain([
      ...Array.from({ length: 3000 }, (_, n) => say(`s${n}`, "")),
      count("n", "n"),
      go("back", "s2999"),
    ], "main"),
  );
  const start = performance.now();
  const jumped = await talk(looped, { limits: { steps: 9000 } });
  assert.equal(endOf(await jumped.start()).status, "failed");
  assert.ok(performance.now() - start < 10_000, "each jump looks at every step of the chain, and no more");
});
