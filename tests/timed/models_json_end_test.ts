import assert from "node:assert/strict";
import fc from "fast-check";
import { JsonEnd } from "../../lib/models/json_end.ts";

/** How many characters were taken when the end was seen; undefined when it was not. */
function endOf(pieces: readonly string[]): number | undefined {
  const end = new JsonEnd();
  let taken = 0;
  for (const piece of pieces) {
    taken += piece.length;
    if (end.push(piece)) return taken;
  }
  return undefined;
}

/** The text in pieces of these lengths, over and over. */
function cut(text: string, lengths: readonly number[]): readonly string[] {
  const pieces: string[] = [];
  for (let at = 0, n = 0; at < text.length; n++) {
    const length = lengths[n % lengths.length] ?? 1;
    pieces.push(text.slice(at, at + length));
    at += length;
  }
  return pieces;
}

const objects = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue({ stringUnit: "binary" }));
const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

Deno.test("json end: the end of an object is seen at its last character, however it is cut", () => {
  fc.assert(fc.property(objects, fc.constantFrom(0, 2), lengths, (object, indent, lengths) => {
    const text = JSON.stringify(object, undefined, indent);
    assert.equal(endOf(cut(text, [1])), text.length);
    assert.equal(endOf(cut(text.slice(0, -1), lengths)), undefined);
    const found = endOf([...cut(` \n${text}`, lengths)]);
    assert.ok(found !== undefined && found >= text.length);
  }));
});

Deno.test("json end: what follows the object changes nothing", () => {
  fc.assert(fc.property(objects, fc.string(), (object, rest) => {
    const end = new JsonEnd();
    assert.ok(end.push(JSON.stringify(object)));
    assert.ok(end.push(rest));
  }));
});

Deno.test("json end: no other value ever ends", () => {
  const others = fc.jsonValue().filter((value) =>
    typeof value !== "object" || value === null || Array.isArray(value)
  );
  fc.assert(fc.property(others, objects, lengths, (value, object, lengths) => {
    const text = JSON.stringify(value) + JSON.stringify(object);
    assert.equal(endOf(cut(text, lengths)), undefined);
  }));
});

Deno.test("json end: linear in the text, whatever the pieces", () => {
  const time = (characters: number) => {
    const text = `{"a":"${"x".repeat(characters)}"}`;
    const start = performance.now();
    assert.equal(endOf(cut(text, [1])), text.length);
    return performance.now() - start;
  };
  time(100_000);
  const [small, large] = [time(100_000), time(1_000_000)];
  assert.ok(large < Math.max(small, 2) * 40, `${small} ms, then ${large} ms`);
});
