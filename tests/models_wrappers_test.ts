import assert from "node:assert/strict";
import { fakeModel, type Model, ModelError, type ModelPart, virtualClock } from "../mod.ts";
import { tcpConnect } from "../lib/host/http/dial.ts";
import { withLeadingThoughts } from "../lib/models/leading_thoughts.ts";
import { retrying } from "../lib/models/retrying.ts";
import { retryAfterMs } from "../lib/models/problem.ts";

const busy = (retryAfterMs?: number) =>
  new ModelError("busy", { code: "rate-limit", ...(retryAfterMs !== undefined && { retryAfterMs }) });
const random = () => 0.5;

/** The types of the parts, and what was thrown. */
async function outcome(
  model: Model,
  options: { signal?: AbortSignal; retries?: number } = {},
): Promise<readonly string[]> {
  const seen: string[] = [];
  try {
    for await (const part of model.stream({ messages: [], ...options })) seen.push(shown(part));
  } catch (error) {
    seen.push(error instanceof ModelError ? `! ${error.code}: ${error.message}` : `! ${error}`);
  }
  return seen;
}

function shown(part: ModelPart): string {
  if (part.type === "retry") {
    return `retry ${part.attempt} ${part.delayMs}${part.model === undefined ? "" : ` ${part.model}`}`;
  }
  return part.type === "text" ? part.text : part.type;
}

/** A model whose answers are parts and then an error. */
function breaking(parts: readonly ModelPart[], error: Error): Model {
  return fakeModel(() =>
    (async function* () {
      yield* parts;
      throw error;
    })()
  );
}

Deno.test("retrying: 1 s, 2 s, 4 s and no more; what was asked is waited for", async () => {
  const clock = virtualClock();
  const failing = retrying(fakeModel(() => busy()), { clock, random });
  assert.deepEqual(await clock.run(outcome(failing)), [
    "retry 1 1000",
    "retry 2 2000",
    "retry 3 4000",
    "! rate-limit: busy (asked 4 times; try again later, or name another model in models.fallback of orrery.yaml)",
  ]);
  assert.equal(clock.now(), 7000);
  const asked = retrying(fakeModel([busy(1500), busy(0), "ok"]), { clock, random });
  assert.deepEqual(await clock.run(outcome(asked)), ["retry 1 1500", "retry 2 0", "ok", "finish"]);
  assert.equal(clock.now(), 8500);
  const long = retrying(fakeModel([busy(60_001)]), { clock, random });
  assert.deepEqual(await clock.run(outcome(long)), [
    "! rate-limit: busy. It asks to wait 61 s, which is longer than the 60 s that are waited for",
  ]);
  assert.deepEqual(await clock.run(outcome(failing, { retries: 0 })), ["! rate-limit: busy"]);
});

Deno.test("retrying: the jitter is a quarter, and no wait is longer than the longest", async () => {
  const clock = virtualClock();
  const delays = async (deal: number) => {
    const model = retrying(fakeModel(() => busy()), { clock, random: () => deal, retries: 8 });
    return (await clock.run(outcome(model))).flatMap((each) =>
      each.startsWith("retry") ? [Number(each.split(" ")[2])] : []
    );
  };
  assert.deepEqual(await delays(0), [750, 1500, 3000, 6000, 12_000, 24_000, 48_000, 60_000]);
  assert.deepEqual(await delays(1), [1250, 2500, 5000, 10_000, 20_000, 40_000, 60_000, 60_000]);
});

Deno.test("retrying: only what may pass, and nothing after something was shown", async () => {
  const clock = virtualClock();
  for (const code of ["config", "auth", "request", "context", "answer", "permission", "aborted"] as const) {
    const model = retrying(fakeModel([new ModelError("no", { code })]), { clock, random });
    assert.deepEqual(await clock.run(outcome(model)), [`! ${code}: no`]);
  }
  for (const code of ["rate-limit", "server", "network", "timeout"] as const) {
    const model = retrying(fakeModel([new ModelError("no", { code }), "ok"]), { clock, random });
    assert.deepEqual(await clock.run(outcome(model)), ["retry 1 1000", "ok", "finish"]);
  }
  const shownParts: readonly ModelPart[] = [
    { type: "text", text: "a" },
    { type: "reasoning", text: "b" },
    { type: "call", call: { id: "1", name: "n", arguments: "" } },
  ];
  for (const part of shownParts) {
    const model = retrying(breaking([part], busy()), { clock, random });
    assert.deepEqual(await clock.run(outcome(model)), [shown(part), "! rate-limit: busy"]);
  }
  const begun: ModelPart = { type: "call-start", id: "1", name: "n" }; // that is no call yet, so it is asked for again
  const failing = retrying(breaking([begun], busy()), { clock, random, retries: 1 });
  assert.deepEqual((await clock.run(outcome(failing))).slice(0, 3), [
    shown(begun),
    "retry 1 1000",
    shown(begun),
  ]);
  const bug = retrying(fakeModel([new TypeError("bug")]), { clock, random });
  assert.deepEqual(await clock.run(outcome(bug)), ["! TypeError: bug"]);
});

Deno.test("retrying: an abort ends the wait", async () => {
  const clock = virtualClock();
  const stop = new AbortController();
  const model = retrying(fakeModel(() => busy()), { clock, random });
  const seen: string[] = [];
  await clock.run((async () => {
    const error = await (async () => {
      for await (const part of model.stream({ messages: [], signal: stop.signal })) {
        seen.push(shown(part));
        queueMicrotask(() => stop.abort("enough"));
      }
    })().then(() => undefined, (error: unknown) => error);
    assert.ok(error instanceof ModelError);
    assert.deepEqual([error.code, error.cause], ["aborted", "enough"]);
  })());
  assert.deepEqual([seen, clock.now()], [["retry 1 1000"], 0]);
});

Deno.test("leading thoughts: however they are cut, they are reasoning and the rest is text", async () => {
  const rows: readonly (readonly [text: string, thought: string, answer: string])[] = [
    ["<think>one\n</think>\n\ntwo\n", "one", "two\n"],
    ["\n <THINKING>one</thinking>two", "one", "two"],
    ["<think>a < b</think><think>c</think> two", "a < bc", "two"],
    ["<think>never ended </thin", "never ended </thin", ""],
    ["<think></think>\n", "", ""],
    ["<thinker>two</thinker>", "", "<thinker>two</thinker>"],
    ["\n\n two <think>three</think>", "", "\n\n two <think>three</think>"],
    ["two, then `</think>` ends it", "", "two, then `</think>` ends it"],
    ["<", "", "<"],
    ["\n", "", "\n"],
    ["", "", ""],
  ];
  const call: ModelPart = { type: "call", call: { id: "1", name: "n", arguments: "" } };
  for (const [text, thought, answer] of rows) {
    for (let size = 1; size <= text.length + 1; size++) {
      for (const opensUnseen of [false, true]) {
        const pieces = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
        const model = fakeModel([[...pieces.map((piece) => ({ type: "text" as const, text: piece })), call]]);
        const parts = await Array.fromAsync(withLeadingThoughts(model, opensUnseen).stream({ messages: [] }));
        const told = (type: "text" | "reasoning") =>
          parts.map((part) => part.type === type ? part.text : "").join("");
        const kept = parts.map((part) => part.type === "thought" ? part.reasoning.text : "").join("");
        const where = `${JSON.stringify(text)} in pieces of ${size}, ${opensUnseen}`;
        assert.deepEqual([told("text"), told("reasoning").trim(), kept], [answer, thought, thought], where);
        assert.deepEqual(parts.slice(-2).map(({ type }) => type), ["call", "finish"], where);
      }
    }
  }
});

Deno.test("leading thoughts: one without a beginning counts when it ends, and is known the next time", async () => {
  const pieces = ["Well, ", "let me see.\n<", "/think>\n\n", "Yes."];
  const reply = pieces.map((text): ModelPart => ({ type: "text", text }));
  const model = withLeadingThoughts(
    fakeModel([reply, reply, ["No", " thought."].map((text) => ({ type: "text", text }))]),
    false,
  );
  assert.deepEqual(await outcome(model), [
    "Well, ",
    "let me see.\n<",
    "/think>",
    "thought",
    "\n\n",
    "Yes.",
    "finish",
  ]);
  assert.deepEqual(await outcome(model), ["reasoning", "thought", "Yes.", "finish"]);
  assert.deepEqual(await outcome(model), ["No thought.", "finish"]);
  const [first] = await Array.fromAsync(
    withLeadingThoughts(fakeModel([reply]), true).stream({ messages: [] }),
  );
  assert.deepEqual(first, { type: "reasoning", text: "Well, let me see.\n" });
});

Deno.test("models: Retry-After in its forms", () => {
  const wait = (headers: Readonly<Record<string, string>>) => retryAfterMs(new Headers(headers));
  assert.equal(wait({ "retry-after": "7" }), 7000);
  assert.equal(wait({ "retry-after": "0" }), 0);
  assert.equal(wait({ "retry-after-ms": "12.5", "retry-after": "7" }), 13);
  const date = "Wed, 21 Oct 2026 07:28:00 GMT";
  assert.equal(wait({ "retry-after": "Wed, 21 Oct 2026 07:28:30 GMT", date }), 30_000);
  assert.equal(wait({ "retry-after": "Wed, 21 Oct 2026 07:27:30 GMT", date }), 0);
  assert.deepEqual([wait({}), wait({ "retry-after": "soon" })], [undefined, undefined]);
});

Deno.test("models: whether a local server is there is told by a connection alone", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  await tcpConnect({ hostname: "127.0.0.1", port });
  (await listener.accept()).close();
  listener.close();
  await assert.rejects(tcpConnect({ hostname: "127.0.0.1", port }));
});
