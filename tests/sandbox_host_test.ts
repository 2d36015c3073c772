// Orrery's side of a gadget's process, against a process in memory: every call settles exactly once, whatever the process does.
// A gadget that runs elsewhere is one like any other for the engines.
// What a process says is foreign: whatever it is, it is a message of a known shape, or an error of one known kind.
import assert from "node:assert/strict";
import fc from "fast-check";
import { type AnyGadget, PermissionRefused } from "../mod.ts";
import { encodeFrame, FrameError, FrameReader } from "../lib/core/frames.ts";
import { hasLateFormat, InputError, ResultError } from "../lib/core/gadget.ts";
import { isStream } from "../lib/core/async.ts";
import type { EffectOp, FromGadget } from "../lib/core/gadget_message.ts";
import { GadgetHosts } from "../lib/sandbox/gadget/host.ts";
import {
  type Behaviour,
  echoing,
  fakeHost,
  FakeStart,
  joined,
  LIMITS,
  listening,
  loading,
  turn,
  until,
} from "./_fake_gadget.ts";
import type { Run } from "../lib/run/run.ts";
import { runGadget } from "../lib/run/calls/gadget.ts";
import { toldResult } from "../lib/run/turn/tool_round.ts";
import { sandboxedGadget } from "../lib/sandbox/gadget/gadget.ts";
import { checkGadget } from "../lib/schema/define_gadget.ts";
import { MessageError, readMessage } from "../lib/sandbox/gadget/messages.ts";
import { endWords, thrownInGadget } from "../lib/sandbox/gadget/failure.ts";

const READ: EffectOp = { kind: "read", path: "a.txt" };

Deno.test("a call gives what the gadget gives, and one process serves many", async () => {
  const { host, fake } = fakeHost(echoing);
  assert.equal((await host.describe()).name, "Fake");
  assert.deepEqual(await host.call({ a: [1, null] }, listening()), { a: [1, null] });
  assert.equal(await host.call(null, listening()), null);
  assert.equal(await host.format(3, listening().call), "text 3");
  assert.equal(fake.processes.length, 1);
  await until(() => !fake.last.isHeld); // a moment later
  await host.end();
  assert.equal(fake.last.isKilled, true);
  await assert.rejects(host.call(1, listening()), /gadgets\/fake\.ts was ended with the run/);
});

Deno.test("a call is sent when the one before has begun: one that loops for ever keeps the others from nothing but their turn", async () => {
  const calls: number[] = [];
  const behave: Behaviour = (message, process) => {
    if (message.type === "load") return loading()(message, process);
    if (message.type !== "call") return; // it hears nothing more once it loops
    calls.push(message.id);
    if (message.input !== "loop") process.say({ type: "result", id: message.id, value: message.input });
  };
  const { host, fake } = fakeHost(behave);
  const sent: string[] = [];
  const call = (name: string, signal?: AbortSignal) =>
    host.call(name, listening({ ...(signal && { signal }), onSent: () => void sent.push(name) }));
  await host.describe();
  const timeout = new AbortController();
  const looping = assert.rejects(call("loop", timeout.signal), /out of time/);
  const others = Promise.all(["a", "b", "c"].map((name) => call(name)));
  await turn(20);
  assert.deepEqual(sent, ["loop"]);
  timeout.abort(new Error("out of time"));
  await looping;
  assert.deepEqual(await others, ["a", "b", "c"]);
  assert.deepEqual([sent, fake.processes.length, calls], [["loop", "a", "b", "c"], 2, [1, 1, 2, 3]]);
  await host.end();
});

Deno.test("ten thousand calls leave nothing behind", async () => {
  const { host, fake } = fakeHost(echoing);
  const listener = listening();
  for (let at = 0; at < 10_000; at++) assert.equal(await host.call(at, listener), at);
  fake.last.told.length = 0;
  assert.equal(fake.processes.length, 1);
  await host.end();
});

Deno.test("pieces come as a stream, in a window", async () => {
  let sent = 0;
  const { host, fake } = fakeHost(loading((message, process) => {
    const most = message.type === "call" ? 16 : message.type === "more" ? message.count : 0;
    for (let left = most; left > 0 && sent < 40; left--) {
      process.say({ type: "piece", id: 1, text: `${++sent},` });
    }
    if (sent === 40) process.say({ type: "result", id: 1 });
  }));
  const stream = await host.call(1, listening());
  assert.ok(isStream(stream));
  await turn();
  assert.equal(sent, 16);
  assert.equal(String(await joined(stream)).length, 9 * 2 + 31 * 3);
  await until(() => !fake.last.isHeld); // a moment later
  await host.end();
});

Deno.test("an empty stream is the empty text, and one that is left is cancelled", async () => {
  const { host, fake } = fakeHost(loading((message, process) => {
    if (message.type === "call" && message.id === 1) process.say({ type: "result", id: 1 });
    if (message.type === "call" && message.id === 2) process.say({ type: "piece", id: 2, text: "a" });
    if (message.type === "cancel") process.say({ type: "cancelled", id: message.id });
  }));
  assert.equal(await host.call(1, listening()), "");
  for await (const piece of await host.call(1, listening()) as AsyncIterable<string>) {
    assert.equal(piece, "a");
    break;
  }
  await until(() => fake.last.told.some(({ type }) => type === "cancel"));
  await until(() => !fake.last.isHeld); // a moment later
  await host.end();
});

Deno.test("when a call held a process up, those that were not sent yet, or of which nothing has come, are made in the next one", async () => {
  const calls: string[] = [];
  const { host, fake } = fakeHost(loading((message, process) => {
    if (message.type !== "call") return;
    calls.push(`${fake.processes.indexOf(process)} ${message.input}`);
    if (message.input === "stuck") process.isReading = false;
    else process.say({ type: "result", id: message.id, value: message.input });
  }));
  await host.describe();
  const abort = new AbortController();
  const stuck = host.call("stuck", listening({ invocationId: "a", signal: abort.signal }));
  await until(() => calls.length === 1);
  const sent = host.call("sent", listening({ invocationId: "b" }));
  await until(() => !fake.last.isReading);
  const unsent = host.call("unsent", listening({ invocationId: "c" }));
  const late = host.call("late", listening({ invocationId: "d" }));
  abort.abort(new Error("enough"));
  await assert.rejects(stuck, /^Error: enough$/);
  assert.deepEqual(await Promise.all([sent, unsent, late]), ["sent", "unsent", "late"]);
  assert.deepEqual(calls.toSorted(), ["0 stuck", "1 late", "1 sent", "1 unsent"]);
  assert.equal(fake.processes.length, 2);
  await host.end();
});

Deno.test("calls that were not sent when the run ended are made nowhere", async () => {
  const { host, fake } = fakeHost(loading((_message, process) => process.isReading = false));
  await host.describe();
  const calls = [1, 2, 3].map((at) => host.call(at, listening()));
  const failed = Promise.allSettled(calls);
  await turn();
  await host.end();
  for (const each of await failed) {
    assert.ok(each.status === "rejected");
    assert.match(String(each.reason), /was ended with the run$/);
  }
  assert.equal(fake.processes.length, 1);
});

const OUTRAGES: readonly (readonly [what: string, Behaviour, expected: RegExp])[] = [
  ["more pieces than there is room for", (_m, p) => {
    for (let at = 0; at < 17; at++) p.say({ type: "piece", id: 1, text: "x" });
  }, /no message: it sent pieces for which there was no room/],
  ["a second answer", (_m, p) => {
    for (let at = 0; at < 2; at++) p.say({ type: "result", id: 2, value: 1 });
  }, /spoke of a call that is not open/],
  [
    "an unknown message",
    (_m, p) => p.sayBytes(encodeFrame({ type: "give", id: 1 })),
    /no message: it found a string as "type"/,
  ],
  [
    "no JSON",
    (_m, p) => p.sayBytes(new Uint8Array([0, 0, 0, 1, 0, 0, 0, 0, 0x7b])),
    /no message: it found a frame that is not JSON/,
  ],
  [
    "a frame that is too big",
    (_m, p) => p.sayBytes(new Uint8Array([6, 0, 0, 0, 0, 0, 0, 0])),
    /found a frame of 100663296 bytes, expected at most/,
  ],
  [
    "loaded again",
    (_m, p) => p.say({ type: "load-failed", error: { name: "E", message: "" } }),
    /loaded when nobody asked/,
  ],
  ["a call that never was", (_m, p) => p.say({ type: "log", id: 99, text: "" }), /a call that never was/],
  [
    "a cancel that nobody wanted",
    (_m, p) => p.say({ type: "cancelled", id: 1 }),
    /cancelled a call by itself/,
  ],
  [
    "bytes beside a result",
    (_m, p) => p.say({ type: "result", id: 1 }, new Uint8Array(1)),
    /bytes beside "result"/,
  ],
  [
    "something else on stdout",
    (_m, p) => p.sayWaiting({ type: "result", id: 1 }),
    /found "result" on its stdout/,
  ],
  ["the same effect twice", (_m, p) => {
    for (let at = 0; at < 2; at++) p.say({ type: "effect", effect: 1, op: READ });
  }, /a number that is taken/],
  [
    "the end of the socket",
    (_m, p) => p.exit({ exitCode: 3, stderr: "bad\u001b[31m luck\n" }),
    /ended with exit code 3; it said: bad \[31m luck \(in the call "c\d", which is not made again; the next one starts a new process\)$/,
  ],
  [
    "the beginning of something that is no text",
    (_m, p) => p.sayBytes(encodeFrame({ type: "result", id: 1, value: [1], wholeBytes: 9 })),
    /no message: it found a list as "value" of the message, expected a text/,
  ],
  ["the end of the socket in the middle of a frame", (_m, p) => {
    p.sayBytes(encodeFrame({ type: "result", id: 1, value: "x" }).subarray(0, 20));
    p.exit({ exitCode: 1 });
  }, /ended with exit code 1 \(in the call "c\d", /],
  [
    "a signal",
    (_m, p) => p.exit({ exitCode: 139, signal: "SIGSEGV" }),
    /ended by the signal SIGSEGV \(in the call "c\d", which is not made again; the next one starts a new process\)$/,
  ],
  [
    "out of memory",
    (_m, p) => p.exit({ exitCode: 133, stderr: "#\n# Fatal JavaScript out of memory: CALL\n#" }),
    /ran out of memory: a gadget may take 256 MiB; raise limits.gadget-memory-mb,/,
  ],
  ["too much memory beside the heap", (_m, p) => {
    p.memory = 400 * 1024 * 1024;
  }, /ran out of memory: a gadget may take 256 MiB/],
];

for (const [what, outrage, expected] of OUTRAGES) {
  Deno.test(`a process that does this is killed, and the next call has another one: ${what}`, async () => {
    let isBad = true;
    const { host, fake } = fakeHost(
      loading((message, process) => {
        if (message.type !== "call") return;
        if (!isBad) return process.say({ type: "result", id: message.id, value: "fine" });
        if (message.id === 10) outrage(message, process);
      }),
      { perform: () => new Promise(() => {}) },
    );
    const calls = Array.from({ length: 10 }, () => host.call(1, listening()).then(unread));
    const outcomes = await Promise.allSettled(calls);
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.status === "fulfilled") assert.ok(index < 2, "only what was answered before"); // a streamed or an answered one
      else assert.match(outcome.reason.message, expected);
    }
    assert.equal(fake.last.isKilled, true);
    isBad = false;
    assert.equal(await host.call(1, listening()), "fine");
    assert.equal(fake.processes.length, 2);
    await host.end();
  });
}

/** A stream's error comes when it is read. */
async function unread(result: unknown): Promise<unknown> {
  return isStream(result) ? await joined(result) : result;
}

Deno.test("what fails says why", async () => {
  const refused = new PermissionRefused("no", { request: { kind: "read", value: "a" }, flag: "--f" });
  const { host } = fakeHost(
    loading((message, process) => {
      if (message.type === "call") {
        if (message.input === "invalid") process.say({ type: "invalid", id: message.id, issues: "a: wrong" });
        else if (message.input === "json") {
          process.say({ type: "error", id: message.id, error: { name: "ResultError", message: "no JSON" } });
        } else if (message.input === "refused") {
          process.say({ type: "effect", effect: 7, call: message.id, op: READ });
        } else {
          const error = {
            name: "RangeError",
            message: "x".repeat(70_000),
            stack: "RangeError: x\n at 0.js",
            refusal: 99,
          };
          process.say({ type: "error", id: message.id, error });
        }
      }
      if (message.type === "effect-failed") {
        assert.deepEqual(message.error, { code: "refused", message: "no" });
        process.say({
          type: "error",
          id: 3,
          error: { name: "NotCapable", message: "x", refusal: message.effect },
        });
      }
    }),
    { perform: () => Promise.reject(refused), mapStack: (stack, url) => `${url}|${stack}` },
  );
  await assert.rejects(
    host.call("invalid", listening()),
    (error) => error instanceof InputError && error.message === "a: wrong",
  );
  await assert.rejects(host.call("json", listening()), (error) => error instanceof ResultError);
  await assert.rejects(host.call("refused", listening()), (error) => error === refused);
  await assert.rejects(host.call("thrown", listening()), (error: Error) => {
    assert.equal(error.name, "RangeError");
    assert.equal(error.stack, "file:///tmp/fake/|RangeError: x\n at 0.js");
    assert.match(error.message, /\[cut: 4464 characters of this error are missing\]$/);
    return true;
  });
  await assert.rejects(
    host.call("x".repeat(2 ** 20), listening()),
    /its input and the results it depends on take more than 1048576 bytes/,
  );
  await host.end();
});

Deno.test("logs and progress reach their call; a flood is cut, with a word", async () => {
  const { host } = fakeHost(loading((message, process) => {
    if (message.type !== "call") return;
    const { id } = message;
    process.say({ type: "log", id, text: "one" });
    process.say({ type: "log", text: "two" });
    process.say({ type: "progress", id, done: 1, total: 2 });
    if (message.input === "flood") {
      for (let at = 0; at < 20_000; at++) process.say({ type: "log", id, text: "12345" });
      for (let at = 0; at < 20_000; at++) process.say({ type: "progress", id, done: at });
    }
    process.say({ type: "result", id, value: 0 });
    process.say({ type: "log", id, text: "too late" });
    process.say({ type: "log", text: "for the next" });
  }));
  const first = listening();
  await host.call(1, first);
  assert.deepEqual([first.logs, first.steps], [["one", "two"], [[1, 2]]]);
  await turn();
  const second = listening();
  await host.call("flood", second);
  assert.equal(second.logs.length, 10_002);
  assert.equal(second.logs[0], "for the next");
  assert.match(
    second.logs.at(-1) ?? "",
    /^\n\[cut: 50010 characters in \d+ messages of this log are missing; a call may log 10000 times/,
  );
  assert.equal(second.steps.length, 10_000);
  await host.end();
});

Deno.test("a cancelled call fails at once; a process that does not hear it is killed, and says whose fault that was", async () => {
  const { host, fake } = fakeHost(loading((message, process) => {
    if (message.type !== "call") return;
    if (message.input === "quick") process.say({ type: "result", id: message.id, value: 1 });
    if (message.input !== "other") return;
    const op = { kind: "write", path: "out.txt", how: "replace" } as const;
    process.say({ type: "effect", effect: 1, call: message.id, op }); // so it is not made again
  }));
  const abort = new AbortController();
  const stuck = host.call("stuck", listening({ signal: abort.signal, invocationId: "culprit" }));
  const other = host.call("other", listening());
  await until(() => fake.processes[0]?.told.length === 4);
  abort.abort(new Error("enough"));
  await assert.rejects(stuck, /^Error: enough$/);
  const later = host.call("quick", listening()); // waits for the next process
  await assert.rejects(
    other,
    /was ended: the call "(c1|culprit)" held it up and did not stop when it was cancelled \(in the call "[^"]+", which is not made again; /,
  );
  assert.equal(await later, 1);
  assert.equal(fake.processes.length, 2);
  assert.equal(fake.processes[0]?.isKilled, true);
  await host.end();
});

Deno.test("a cancel that is answered costs nobody else anything, also when the result was on its way", async () => {
  const { host, fake } = fakeHost(loading((message, process) => {
    if (message.type !== "cancel") return;
    const late = { type: "result", id: message.id, value: 1 } as const;
    process.say(message.reason === "late" ? late : { type: "cancelled", id: message.id });
    if (message.id === 3) process.say({ type: "result", id: 1, value: "other" });
  }));
  const other = host.call(1, listening());
  for (const reason of ["late", "at once"]) {
    const abort = new AbortController();
    const call = host.call(1, listening({ signal: abort.signal }));
    await turn();
    abort.abort(reason);
    await assert.rejects(call, (error) => error === reason);
  }
  assert.equal(await other, "other");
  assert.equal(fake.processes.length, 1);
  await turn(60);
  assert.equal(fake.last.isKilled, false);
  await host.end();
});

Deno.test("a cancel while another call blocks the process with an effect waits for that", async () => {
  const done = Promise.withResolvers<void>();
  const { host, fake } = fakeHost(
    loading((message, process) => {
      if (message.type === "call" && message.id === 2) {
        process.sayWaiting({ type: "effect", effect: 1, call: 2, op: READ });
      }
    }),
    {
      perform: async () => (await done.promise, { ok: 5, bytes: new Uint8Array() }),
      limits: { ...LIMITS, cancelMs: 300 },
    },
  );
  const abort = new AbortController();
  const first = host.call(1, listening({ signal: abort.signal }));
  const second = host.call(1, listening());
  await until(() => fake.processes[0]?.told.length === 3);
  abort.abort("x");
  await assert.rejects(first);
  await turn(700);
  assert.equal(fake.last.isKilled, false);
  done.resolve();
  await until(() => fake.last.answers.length === 1);
  assert.deepEqual(fake.last.answers, [{ type: "effect-done", effect: 1, ok: 5 }]);
  fake.last.say({ type: "cancelled", id: 1 });
  fake.last.say({ type: "result", id: 2, value: 2 });
  assert.equal(await second, 2);
  await host.end();
});

Deno.test("effects: sixteen at once, aborted with their call, given up by the gadget, and never answered after the end", async () => {
  const signals: AbortSignal[] = [];
  const { host, fake } = fakeHost(
    loading((message, process) => {
      if (message.type === "cancel") process.say({ type: "cancelled", id: message.id });
      if (message.type !== "call") return;
      for (let effect = 0; effect < 100; effect++) {
        process.say({ type: "effect", effect, call: message.id, op: READ });
      }
      process.say({ type: "effect-cancel", effect: 0 });
      process.say({ type: "effect-cancel", effect: 4000 });
    }),
    {
      perform: (_op, _bytes, { signal }) => {
        signals.push(signal);
        return new Promise((_resolve, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason))
        );
      },
    },
  );
  const abort = new AbortController();
  const call = host.call(1, listening({ signal: abort.signal }));
  await until(() => signals.length === 17);
  assert.equal(signals[0]?.aborted, true);
  abort.abort(new Error("over"));
  await assert.rejects(call, /over/);
  await until(() => fake.last.told.filter(({ type }) => type === "effect-failed").length === 100);
  assert.ok(signals.every(({ aborted }) => aborted));
  const answer = fake.last.told.find((told) => told.type === "effect-failed" && told.effect === 50);
  assert.deepEqual(answer, {
    type: "effect-failed",
    effect: 50,
    error: { code: "aborted", message: "over" },
  });
  await host.end();
});

Deno.test("a process that never reads does not fill our memory", async () => {
  const fake = new FakeStart(loading());
  let performed = 0;
  const { host } = fakeHost(() => {}, {
    start: fake.start,
    perform: () => {
      performed++;
      return Promise.resolve({ ok: null, bytes: new Uint8Array(512 * 1024) });
    },
  });
  const call = host.call(1, listening()).catch((error: Error) => error.message);
  await until(() => fake.processes[0]?.told.length === 2);
  fake.last.isReading = false;
  for (let effect = 0; effect < 1_000; effect++) fake.last.say({ type: "effect", effect, call: 1, op: READ });
  await turn(50);
  assert.ok(performed <= 18, `${performed} answers wait in memory`);
  await host.end();
  assert.match(String(await call), /ended with the run/);
});

Deno.test("starts that fail", async (t) => {
  await t.step("the start itself", async () => {
    const { host } = fakeHost(echoing, { start: () => Promise.reject(new Error("no such program")) });
    await assert.rejects(host.call(1, listening()), /could not be started: no such program/);
  });
  await t.step("it ends while it is loaded", async () => {
    const { host } = fakeHost((_message, process) => process.exit({ exitCode: 1, stderr: "oh" }));
    await assert.rejects(host.call(1, listening()), /ended with exit code 1; it said: oh/);
  });
  await t.step("its module throws", async () => {
    const { host, fake } = fakeHost((message, process) => {
      if (message.type === "load") {
        process.say({ type: "load-failed", error: { name: "TypeError", message: "bad" } });
      }
    });
    await assert.rejects(host.describe(), /^TypeError: bad$/);
    assert.equal(fake.last.isKilled, true);
  });
  await t.step("its module never ends", async () => {
    const { host, fake } = fakeHost(() => {});
    await assert.rejects(
      host.call(1, listening()),
      /^GadgetProcessError: The module of gadget gadgets\/fake\.ts was not loaded within 200 ms: what stands at its top, .* do that in run$/,
    );
    assert.equal(fake.last.isKilled, true);
  });
  await t.step("its module never ends while it is described", async () => {
    const { host, fake } = fakeHost(() => {});
    await assert.rejects(host.describe({ loadMs: 20 }), /was not loaded within 20 ms/);
    assert.equal(fake.last.isKilled, true);
    const abort = new AbortController();
    const described = host.describe({ signal: abort.signal });
    await turn();
    abort.abort(new Error("enough"));
    await assert.rejects(described, /^Error: enough$/);
    assert.deepEqual(fake.processes.map(({ isKilled }) => isKilled), [true, true]);
  });
  await t.step("half a frame, and then nothing", async () => {
    const { host, fake } = fakeHost((_message, process) =>
      process.sayBytes(new Uint8Array([0, 0, 1, 0, 0, 0, 0, 0, 1]))
    );
    await assert.rejects(host.call(1, listening()), /was not loaded within 200 ms/);
    assert.equal(fake.last.isKilled, true);
  });
  await t.step("a call that is cancelled meanwhile", async () => {
    const { host } = fakeHost(() => {});
    const abort = new AbortController();
    const call = host.call(1, listening({ signal: abort.signal }));
    abort.abort("x");
    await assert.rejects(call, (error) => error === "x");
    await host.end();
  });
});

Deno.test("format is bounded too, and is a text", async () => {
  const { host, fake } = fakeHost(
    loading((message, process) => {
      if (message.type === "format" && message.result === 1) {
        process.say({ type: "result", id: message.id, value: 1 });
      }
      if (message.type === "cancel") {
        process.say({ type: "cancelled", id: message.id });
      }
    }),
    { limits: { ...LIMITS, formatMs: 20 } },
  );
  await assert.rejects(host.format(1, listening().call), /format of "Fake" must return a string/);
  await assert.rejects(host.format(2, listening().call), /format took longer than 20 ms/);
  assert.equal(fake.last.isKilled, false);
  await host.end();
});

Deno.test("what nobody uses is ended, and started again; with too many, the one that waits for longest", async () => {
  const { host, fake } = fakeHost(echoing, { limits: { ...LIMITS, idleMs: 20 } });
  await host.call(1, listening());
  await until(() => fake.last.isKilled);
  assert.equal((await host.describe()).name, "Fake");
  assert.equal(fake.processes.length, 1); // known still
  await host.call(1, listening());
  assert.equal(fake.processes.length, 2);
  await host.end();

  const starts = Array.from({ length: 3 }, () => new FakeStart(echoing));
  await using hosts = new GadgetHosts({ mostRunning: 2 });
  const several = starts.map(({ start }) =>
    hosts.add({
      graph: { hash: "", modules: [] },
      facades: {},
      root: "/",
      surroundings: () => ({ env: {}, sys: {} }),
      limits: LIMITS,
      start,
      shownFile: "f.ts",
      perform: () => new Promise(() => {}),
      mapStack: (stack) => stack,
    })
  );
  for (const one of several) {
    await one.call(1, listening());
    await turn(2);
  }
  assert.deepEqual(starts.map(({ last }) => last.isKilled), [true, false, false]);
});

const step = fc.record({
  gadget: fc.constantFrom(
    "result",
    "error",
    "piece",
    "log",
    "effect",
    "waiting",
    "nothing",
    "exit",
    "junk",
    "late",
  ),
  abortAfter: fc.option(fc.nat(4), { nil: undefined }),
  pause: fc.boolean(),
  endAfter: fc.option(fc.nat(30), { nil: undefined, freq: 12 }),
});

Deno.test("whatever happens in whatever order: each call settles once, and nothing is left", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      const { host, fake } = fakeHost(
        loading((message, process) => {
          if (message.type === "cancel" && message.id % 5 !== 0) {
            if (message.id % 2 === 0) process.say({ type: "result", id: message.id, value: 1 });
            else process.say({ type: "cancelled", id: message.id });
          }
          if (message.type === "call") act(message.id, message.input, process);
        }),
        {
          perform: (_op, _bytes, { signal }) =>
            new Promise((resolve, reject) => {
              signal.addEventListener("abort", () => reject(signal.reason));
              setTimeout(() => resolve({ ok: 1, bytes: new Uint8Array() }), 1);
            }),
          limits: { ...LIMITS, cancelMs: 5 },
        },
      );
      let settled = 0;
      const all: Promise<unknown>[] = [];
      for (const { gadget, abortAfter, pause, endAfter } of steps) {
        const abort = new AbortController();
        const listener = listening({ signal: abort.signal });
        all.push(host.call(gadget, listener).then(unread).catch(() => undefined).then(() => settled++));
        if (abortAfter !== undefined) setTimeout(() => abort.abort(new Error("stop")), abortAfter);
        if (endAfter === 30) void host.end();
        if (pause) await turn();
      }
      await turn(8);
      await host.end();
      await Promise.all(all);
      assert.equal(settled, steps.length);
      assert.ok(fake.processes.every(({ isKilled }) => isKilled));
    }),
    { numRuns: 150 },
  );
});

function act(id: number, input: unknown, process: Parameters<Behaviour>[1]): void {
  switch (input) {
    case "error":
      return process.say({ type: "error", id, error: { name: "E", message: "m" } });
    case "piece":
      process.say({ type: "piece", id, text: "a" });
      return id % 2 === 0 ? process.say({ type: "result", id }) : undefined;
    case "log":
      return process.say({ type: "log", id, text: "a" });
    case "effect":
      return process.say({ type: "effect", effect: id, call: id, op: READ });
    case "waiting":
      return process.sayWaiting({ type: "effect", effect: id, call: id, op: READ });
    case "exit":
      return process.exit();
    case "junk":
      return process.sayBytes(new Uint8Array(9));
    case "late":
      setTimeout(() => process.say({ type: "result", id, value: 1 }), 2);
      return;
    case "result":
      return process.say({ type: "result", id, value: 1 });
  }
}

const description = {
  name: "Fake",
  description: "d",
  input: { type: "object", properties: { a: { type: "number", default: 4 } } },
  timeoutMs: 100,
  isLinked: true,
  hasFormat: true,
  isValidating: true,
  warnings: ["w"],
} as const;

function run(gadget: AnyGadget, input: unknown, logs: string[] = []): unknown {
  return runGadget({
    gadget,
    input,
    maxBytes: 1_000,
    mask: (value) => value,
    maskStart: (text) => text,
    onStart: () => {},
    context: (parameters) => ({
      ...listening({ log: (text) => void logs.push(text) }),
      call: { gadgetName: "Fake", invocationId: "c1", parameters },
    }),
  });
}

const RUN = {
  lookUp: (_key: string, look: () => unknown) => look(),
} as unknown as Run; // all that is asked of one here

const CALL = listening().call;

Deno.test("it is described, checked, run and told like any other", async () => {
  const { host } = fakeHost(echoing);
  const gadget = sandboxedGadget(description, host);
  assert.deepEqual(Object.keys(gadget), ["name", "description", "input", "timeoutMs", "run", "format"]);
  checkGadget(gadget, "gadgets/fake.ts");
  assert.deepEqual(await run(gadget, {}), { a: 4 });
  assert.throws(() => run(gadget, { a: "x" }), /a: /);
  const copy = { ...gadget };
  assert.ok(hasLateFormat(copy));
  assert.deepEqual(await toldResult(RUN, { key: "k", gadget: copy, call: CALL, result: 7 }), {
    text: "text 7",
  });
  assert.throws(() => gadget.format?.(1, CALL), /asked for in its process/);
  await host.end();
  const gone = await toldResult(RUN, { key: "k", gadget, call: CALL, result: 7 });
  assert.deepEqual(gone, { error: "The process of gadget gadgets/fake.ts was ended with the run" });
});

Deno.test("a streamed result is joined, and told as it comes", async () => {
  const { host } = fakeHost(loading((message, process) => {
    if (message.type !== "call") return;
    for (const text of ["a", "b", ""]) process.say({ type: "piece", id: message.id, text });
    process.say({ type: "result", id: message.id });
  }));
  const logs: string[] = [];
  assert.equal(await run(sandboxedGadget(description, host), {}, logs), "ab");
  assert.deepEqual(logs, ["a", "b", ""]);
  await host.end();
});

Deno.test("a stream that is longer than a result may be is ended, and its source closed", async () => {
  const { host, fake } = fakeHost(loading((message, process) => {
    if (message.type === "call" || message.type === "more") {
      const count = message.type === "call" ? 16 : message.count;
      for (let at = 0; at < count; at++) process.say({ type: "piece", id: 1, text: "é".repeat(20) });
    }
    if (message.type === "cancel") process.say({ type: "cancelled", id: message.id });
  }));
  const logs: string[] = [];
  const result = await run(sandboxedGadget(description, host), {}, logs);
  const marker =
    "the stream was ended here, so nobody knows how much is missing; limits.result-bytes is 1000";
  assert.equal(result, `${"é".repeat(500)}\n[cut: ${marker}]`);
  assert.equal(logs.join(""), "é".repeat(500));
  await until(() => fake.last.told.some(({ type }) => type === "cancel"));
  await host.end();
});

Deno.test("what was cut in the process tells the size of the whole", async () => {
  const { host } = fakeHost(loading((message, process) => {
    if (message.type === "call") {
      process.say({ type: "result", id: message.id, value: "x".repeat(2_000), wholeBytes: 5_000_000 });
    }
    if (message.type === "format") {
      process.say({ type: "result", id: message.id, value: "ab", wholeBytes: 9 });
    }
  }));
  assert.equal(
    await run(sandboxedGadget(description, host), {}),
    `${"x".repeat(1_000)}\n[cut: 4999000 of 5000000 bytes are missing; limits.result-bytes is 1000]`,
  );
  assert.equal(
    await host.format(1, CALL),
    "ab\n[cut: 7 of 9 bytes are missing; it was too long to be handed on]",
  );
  await host.end();
});

Deno.test("without run it is declared only; a format of a program itself stays one that gives text at once", async () => {
  const { host } = fakeHost(echoing);
  const gadget = sandboxedGadget({ ...description, isLinked: false, hasFormat: false }, host);
  assert.equal("run" in gadget || "format" in gadget, false);
  const late = { name: "Late", run: () => 1, format: () => Promise.resolve("x") } as unknown as AnyGadget;
  assert.deepEqual(await toldResult(RUN, { key: "k", gadget: late, call: CALL, result: 1 }), {
    error: 'format of "Fake" must return a string, found an object',
  });
});

const error = { name: "Error", message: "m", stack: "s", refusal: 3 };
const gadget = {
  name: "A",
  description: "d",
  input: { type: "object" },
  output: {},
  permissions: { read: true, net: ["a:1"] },
  examples: [{ input: { a: 1 }, comment: "c" }],
  timeoutMs: 5,
  maxConcurrent: 2,
  exclusive: false,
  untrusted: true,
  repeatable: true,
  idempotent: true,
  isLinked: true,
  hasFormat: false,
  isValidating: true,
  warnings: ["w"],
} as const;

const OPERATIONS = [
  { kind: "read", path: "p" },
  { kind: "write", path: "p", how: "append" },
  { kind: "stat", path: "p", isLink: true },
  { kind: "list", path: "" },
  { kind: "make-folder", path: "p", isRecursive: true },
  { kind: "remove", path: "p", isRecursive: false },
  { kind: "rename", path: "p", to: "q" },
  { kind: "copy", path: "p", to: "q" },
  { kind: "real-path", path: "p" },
  { kind: "fetch", url: "u", method: "GET", headers: [["a", "b"]], redirect: "manual" },
  { kind: "run", command: "c", args: ["a"], cwd: "d", env: { A: "1" } },
] as const;

const MESSAGES: readonly FromGadget[] = [
  { type: "loaded", gadget },
  { type: "load-failed", error },
  { type: "log", id: 1, text: "t" },
  { type: "log", text: "t" },
  { type: "progress", id: 1, done: 1.5, total: 2 },
  { type: "piece", id: 1, text: "t" },
  { type: "invalid", id: 1, issues: "i" },
  { type: "result", id: 1, value: { a: [null, true, 1, "x"] } },
  { type: "result", id: 1 },
  { type: "error", id: 1, error },
  { type: "cancelled", id: 1 },
  ...OPERATIONS.map((op) => ({ type: "effect", effect: 1, call: 2, op }) as const),
  { type: "effect-cancel", effect: 1 },
];

Deno.test("every message is read as it was said, and nothing that does not belong to it comes along", () => {
  for (const message of MESSAGES) {
    assert.deepEqual(readMessage(structuredClone(message)), message);
    const more = { ...message, extra: 1, ...JSON.parse('{"__proto__": {"id": 5}}') };
    assert.deepEqual(readMessage(more), message);
  }
});

Deno.test("with any field missing, or something else, it is a message still, or a MessageError", () => {
  let refused = 0;
  for (const message of MESSAGES) {
    for (const path of pathsOf(message)) {
      for (const value of [undefined, null, {}, [[]], -1, "\u0000odd", Infinity]) {
        const changed = structuredClone(message);
        set(changed, path, value);
        if (sound(() => readMessage(changed)) === undefined) refused++;
      }
    }
  }
  assert.ok(refused > 500, `only ${refused} were refused`);
});

Deno.test("what is no message is refused with words that quote nothing of it", () => {
  const bad: readonly (readonly [unknown, RegExp])[] = [
    [null, /found null as the message, expected an object/],
    [[], /found a list as the message/],
    [{}, /found nothing as "type" of the message, expected a known name/],
    [{ type: "constructor" }, /found a string as "type"/],
    [{ type: "toString", id: 1 }, /found a string as "type"/],
    [{ type: "result", id: -1 }, /found a number as "id"/],
    [{ type: "result", id: 1.5 }, /found a number as "id"/],
    [{ type: "result", id: 2 ** 53 }, /found a number as "id"/],
    [{ type: "result", id: 1, value: JSON.parse("1e999") }, /expected JSON of at most 500 levels/],
    [
      { type: "result", id: 1, value: JSON.parse("[".repeat(100_000) + "]".repeat(100_000)) },
      /expected JSON of at most 500/,
    ],
    [{ type: "effect", effect: 1, op: { kind: "ffi" } }, /found a string as "kind"/],
    [{ type: "effect", effect: 1, op: { ...OPERATIONS[9], headers: [["a"]] } }, /a header that is no pair/],
    [{ type: "effect", effect: 1, op: { ...OPERATIONS[10], env: { A: 1 } } }, /found a number as "A" of env/],
    [{ type: "loaded", gadget: { ...gadget, name: "a b" } }, /a name that no gadget can have/],
    [{ type: "loaded", gadget: { ...gadget, permissions: { ffi: true } } }, /a permission of no known kind/],
    [{ type: "loaded", gadget: { ...gadget, timeoutMs: 0 } }, /expected at least 1/],
  ];
  for (const [value, expected] of bad) {
    assert.throws(() => readMessage(value), (error) => {
      assert.ok(error instanceof MessageError);
      assert.match(error.message, expected);
      return true;
    });
  }
  assert.throws(() => readMessage({ type: "cancelled", id: 1 }, 1), /bytes beside/);
  assert.equal(readMessage({ type: "effect", effect: 1, op: OPERATIONS[0] }, 5).type, "effect");
});

Deno.test("no JSON throws anything but its own error, and what passes has the shape of its type", () => {
  const json = fc.jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value))); // in which -0 is 0
  const field = fc.oneof(
    json,
    fc.constantFrom(...MESSAGES.flatMap((message) => Object.values(message))),
  );
  const name = fc.constantFrom(
    "id",
    "text",
    "op",
    "effect",
    "call",
    "value",
    "error",
    "gadget",
    "done",
    "token",
    "issues",
  );
  const message = fc.tuple(fc.constantFrom(...MESSAGES), fc.dictionary(name, field)).map(([base, more]) => ({
    ...base,
    ...more,
  }));
  fc.assert(
    fc.property(fc.oneof(json, message), fc.nat(2), (value, bytes) => {
      const read = sound(() => readMessage(value, bytes));
      if (read === undefined) return;
      assert.deepEqual(readMessage(JSON.parse(JSON.stringify(read)), bytes), read);
      if ("id" in read && read.id !== undefined) assert.ok(Number.isSafeInteger(read.id) && read.id >= 0);
      if ("text" in read) assert.equal(typeof read.text, "string");
    }),
    { numRuns: 3_000 },
  );
});

Deno.test("any bytes at all are frames, or a FrameError", () => {
  const head = fc.tuple(fc.nat(40), fc.nat(8)).map(([text, bytes]) => [0, 0, 0, text, 0, 0, 0, bytes]);
  const stream = fc.tuple(head, fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 80 })).map((
    [a, b],
  ) => [...a, ...b]);
  fc.assert(
    fc.property(
      fc.oneof(stream, fc.array(fc.integer({ min: 0, max: 255 }))),
      fc.integer({ min: 1, max: 9 }),
      (bytes, size) => {
        const reader = new FrameReader({ maxBytes: 64 });
        try {
          for (let at = 0; at < bytes.length; at += size) {
            for (const { value, bytes: beside } of reader.push(Uint8Array.from(bytes.slice(at, at + size)))) {
              sound(() => readMessage(value, beside.length));
            }
          }
        } catch (error) {
          assert.ok(error instanceof FrameError, String(error));
        }
      },
    ),
    { numRuns: 2_000 },
  );
});

function sound<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch (error) {
    assert.ok(error instanceof MessageError, String(error));
    return undefined;
  }
}

function pathsOf(value: unknown, above: readonly string[] = []): readonly (readonly string[])[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap((
    [name, child],
  ) => [[...above, name], ...pathsOf(child, [...above, name])]);
}

function set(target: unknown, [name = "", ...rest]: readonly string[], value: unknown): void {
  const record = target as Record<string, unknown>;
  if (rest.length > 0) set(record[name], rest, value);
  else if (value === undefined) delete record[name];
  else record[name] = value;
}

Deno.test("what is thrown without a stack has none of ours", () => {
  const places = { folderUrl: "file:///tmp/orrery-gadget-1/", mapStack: (stack: string) => stack };
  const { stack = "" } = thrownInGadget({ name: "Error", message: "undefined" }, places);
  assert.equal(stack, "Error: undefined");
});

Deno.test("the last words of a process name files, and no folders", () => {
  const said = (stderr: string): string => endWords({ exitCode: 1, stderr }, 2 ** 28);
  const cases: Readonly<Record<string, string>> = {
    "error: Uncaught Error: x\n    at f (file:///home/me/orrery/lib/sandbox/inside/inside.ts:3:4)":
      "error: Uncaught Error: x     at f (inside.ts:3:4)",
    "cannot read /tmp/orrery-gadget-12-ab/0.js": "cannot read 0.js",
    "file:///tmp/deno-compile-orrery/lib/host/a.ts:1:1": "a.ts:1:1",
    "see https://example.com/a/b": "see https://example.com/a/b",
    "C:\\Users\\me\\orrery\\lib\\a.ts:1:1": "a.ts:1:1",
    "1/2 of the memory, and/or more": "1/2 of the memory, and/or more",
  };
  for (const [stderr, words] of Object.entries(cases)) {
    assert.equal(said(stderr), `ended with exit code 1; it said: ${words}`);
  }
});
