import assert from "node:assert/strict";
import fc from "fast-check";
import { CallParser } from "../lib/parse/call_parser.ts";
import { completeMarkers, DEFAULT_MARKERS } from "../lib/parse/call_header.ts";
import { wholeCalls } from "../lib/parse/whole_calls.ts";
import { createCatalog, runCalls } from "../mod.ts";
import { undecided } from "../lib/schema/text_value.ts";

const LINES = [
  "!!!GADGET_START:A:a\n",
  "!!!GADGET_START:B:b:a\n",
  "!!!GADGET_START:\n",
  "!!!ARG:x\n",
  "!!!ARG:x/0\n",
  "one\n",
  "\\!!!GADGET_END\n",
  "!!!GADGET_END\n",
  "!!!GADGET_END",
  "text",
  "\r\n",
];

Deno.test("property: a text that was read before is what a parser makes of it", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...LINES), { maxLength: 12 }), (lines) => {
      const text = lines.join("");
      const parser = new CallParser({ leaf: undecided });
      const expected = { read: parser.push(text), rest: parser.end() };
      for (let time = 0; time < 2; time++) {
        const { read, rest } = wholeCalls(text, undefined);
        assert.deepEqual({ read, rest }, expected);
      }
    }),
    { numRuns: 300 },
  );
});

Deno.test("a text is read once for the same markers, and anew for others", () => {
  const text = "<<START:A:a\n<<END\n!!!GADGET_START:B:b\n!!!GADGET_END\n";
  const own = { ...DEFAULT_MARKERS, start: "<<START:", end: "<<END" };
  const names = (markers: typeof own | undefined) =>
    wholeCalls(text, markers).read.flatMap((event) => event.type === "call-end" ? event.call.gadgetName : []);
  assert.deepEqual([names(undefined), names(own), names(undefined)], [["B"], ["A"], ["B"]]);
  assert.equal(wholeCalls(text, undefined).read, wholeCalls(text, undefined).read);
});

Deno.test("long texts, and more than a few, are not kept", () => {
  const long = "!!!GADGET_START:A:a\n" + "x".repeat(20_000);
  assert.notEqual(wholeCalls(long, undefined).read, wholeCalls(long, undefined).read);
  const first = wholeCalls("first", undefined).read;
  for (let n = 0; n < 64; n++) wholeCalls(`other ${n}`, undefined);
  assert.notEqual(wholeCalls("first", undefined).read, first);
});

Deno.test("what is told of one run is not changed for the others", async () => {
  const catalog = createCatalog([{ name: "A", description: "Test.", run: () => 1 }]);
  const dependencies: (readonly string[])[] = [];
  for (let time = 0; time < 2; time++) {
    for await (const event of runCalls(["!!!GADGET_START:A:a:b\n!!!GADGET_END\n"], { catalog })) {
      if (event.type !== "call-open") continue;
      dependencies.push([...event.dependencies]);
      assert.throws(() => Reflect.apply(Array.prototype.push, event.dependencies, ["c"]), TypeError);
    }
  }
  assert.deepEqual(dependencies, [["b"], ["b"]]);
});

Deno.test("the markers as published are complete as they are, and cannot be changed", () => {
  assert.equal(completeMarkers(), DEFAULT_MARKERS);
  assert.equal(completeMarkers(DEFAULT_MARKERS), DEFAULT_MARKERS);
  assert.deepEqual(completeMarkers({ end: "<<END" }), { ...DEFAULT_MARKERS, end: "<<END" });
  assert.equal(Reflect.set(DEFAULT_MARKERS, "end", "x"), false);
});
