// What a process says is foreign: whatever it is, it is a message of a known shape, or an error of one known kind.
import fc from "fast-check";
import assert from "node:assert/strict";
import { FrameError, FrameReader } from "../lib/core/frames.ts";
import type { FromGadget } from "../lib/core/gadget_message.ts";
import { MessageError, readMessage } from "../lib/sandbox/gadget/messages.ts";

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
