// The JSON that the process of a gadget writes is what `toJson` gives, and so are the words where it is none. Frames come whole however
// they are cut.

import assert from "node:assert/strict";
import fc from "fast-check";
import { encodeFrame, FrameReader } from "../lib/core/frames.ts";
import { toJson } from "../lib/core/json.ts";
import { frameOf, GadgetFrameReader } from "../lib/sandbox/inside/frames.ts";
import { jsonText } from "../lib/sandbox/inside/json.ts";

function outcome(work: () => unknown): unknown {
  try {
    return { value: work() };
  } catch (error) {
    return { error: error instanceof Error ? error.message : error };
  }
}

const anything = fc.anything({
  withBigInt: true,
  withBoxedValues: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withObjectString: true,
  withSet: true,
  withSparseArray: true,
  withTypedArray: true,
  withUnicodeString: true,
});

Deno.test("property: written JSON is what toJson gives", () => {
  fc.assert(
    fc.property(anything, (value) => {
      const expected = outcome(() => JSON.parse(JSON.stringify(toJson(value))));
      assert.deepEqual(outcome(() => JSON.parse(jsonText(value))), expected);
    }),
    { numRuns: 2000 },
  );
});

const nested = (levels: number): unknown => levels === 0 ? 1 : [nested(levels - 1)];
const cycle: { a: unknown[] } = { a: [1] };
cycle.a.push(cycle);

for (
  const [what, value] of Object.entries({
    "a cycle": cycle,
    "500 levels": nested(500),
    "501 levels": nested(501),
    "502 levels": nested(502),
    "a class": { x: new (class Point {})() },
    "an own toJSON": { x: { toJSON: () => ({ y: [undefined, new Date(0)] }) } },
    "a toJSON that gives no JSON": { x: { toJSON: () => () => 1 } },
    "__proto__": JSON.parse(`{"__proto__": {"a": 1}}`),
    "-0 and exponents": [-0, 1e21, 1e-7, 5e-324],
    "lone surrogates": "\ud800 \udc00",
    "undefined": undefined,
    "a symbol": Symbol("x"),
  })
) {
  Deno.test(`written JSON is what toJson gives: ${what}`, () => {
    const text = outcome(() => jsonText(value));
    assert.deepEqual(text, outcome(() => JSON.stringify(toJson(value))));
  });
}

Deno.test("property: both sides make the same frames", () => {
  fc.assert(
    fc.property(fc.json(), fc.uint8Array(), (text, bytes) => {
      const value: unknown = JSON.parse(text);
      assert.deepEqual(frameOf(JSON.stringify(value), bytes), encodeFrame(value, bytes));
      const [frame] = new FrameReader({ maxBytes: 1e6 }).push(frameOf(JSON.stringify(value), bytes));
      assert.deepEqual(frame?.value, value);
      assert.deepEqual(frame?.bytes, bytes);
    }),
  );
});

Deno.test("property: frames come whole however they are cut", () => {
  const frames = fc.array(fc.record({ value: fc.jsonValue(), bytes: fc.uint8Array() }), { maxLength: 6 });
  fc.assert(
    fc.property(frames, fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), (sent, cuts) => {
      const all = new Uint8Array(sent.flatMap(({ value, bytes }) => [...encodeFrame(value, bytes)]));
      const got: unknown[] = [];
      const reader = new GadgetFrameReader(({ text, bytes }) => got.push({ value: JSON.parse(text), bytes }));
      for (let at = 0, turn = 0; at < all.length; turn++) {
        const piece = all.slice(at, at + (cuts[turn % cuts.length] ?? 1));
        reader.push(piece.buffer, piece.length);
        at += piece.length;
      }
      const expected = sent.map(({ value, bytes }) => ({ value: JSON.parse(JSON.stringify(value)), bytes }));
      assert.deepEqual(got, expected);
    }),
  );
});
