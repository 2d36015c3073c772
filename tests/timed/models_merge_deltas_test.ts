import fc from "fast-check";
import assert from "node:assert/strict";
import { MergedDeltas } from "../../lib/models/provider/merge_deltas.ts";
import { type AnswerPart, wireEvents, type WireFormat } from "../_provider_wire.ts";

function through(bytes: Uint8Array<ArrayBuffer>, cuts: readonly number[]): string {
  const places = [0, ...[...cuts].map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  const chunks = places.slice(1).map((end, i) => bytes.slice(places[i], end)).filter(({ length }) =>
    length > 0
  );
  const merged = new MergedDeltas();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const pieces = [...chunks.map((chunk) => merged.push(chunk)), merged.end()];
  return pieces.map((piece) => piece === undefined ? "" : decoder.decode(piece, { stream: true })).join("");
}

const DATA = "data: {";

interface Read {
  readonly text: string;
  /** Everything that is no text delta, in order, with how much text stood before it. */
  readonly others: readonly string[];
}

// deno-lint-ignore no-explicit-any
function deltaText(data: any): string | undefined {
  if (data.choices !== undefined) {
    const delta = data.choices[0]?.delta;
    const isText = typeof delta?.content === "string" && Object.keys(delta).length === 1;
    return isText && data.choices[0].finish_reason == null ? delta.content : undefined;
  }
  if (data.type === "response.output_text.delta") return data.delta;
  if (data.type === "content_block_delta" && data.delta.type === "text_delta") return data.delta.text;
  const parts = data.candidates?.[0]?.content?.parts;
  const isPlain = parts?.length === 1 && Object.keys(parts[0]).join() === "text";
  return isPlain && data.candidates[0].finishReason === undefined ? parts[0].text : undefined;
}

function read(stream: string): Read {
  let text = "";
  const others: string[] = [];
  for (const event of stream.split("\n\n")) {
    const data = event.split("\n").find((line) => line.startsWith(DATA))?.slice(DATA.length - 1); // U+2028 ends no line here
    const delta = data === undefined ? undefined : deltaText(JSON.parse(data));
    if (delta === undefined) others.push(`${text.length} ${event}`);
    else text += delta;
  }
  return { text, others };
}

const character = fc.oneof({ weight: 9, arbitrary: fc.string({ unit: "binary", maxLength: 6 }) }, {
  weight: 1,
  arbitrary: fc.constantFrom("\u2028", "\u2029", "\u0085", "\ufeff", "\n\n", "\r", "data: {"),
});
const texts = fc.array(character, { maxLength: 12 });
const part: fc.Arbitrary<AnswerPart> = fc.oneof(
  texts.map((text) => ({ text })),
  fc.constant<AnswerPart>({ call: { name: "Now", arguments: ['{"a":', "1}"] } }),
  fc.constant<AnswerPart>({ reasoning: ["hm", "m"], signature: "s" }),
);

Deno.test("property: the text and all other events are the same, wherever the stream is cut", () => {
  const format = fc.constantFrom<WireFormat>("chat", "responses", "anthropic", "google");
  fc.assert(
    fc.property(
      format,
      fc.array(part, { maxLength: 4 }),
      fc.array(fc.nat(), { maxLength: 9 }),
      (...given) => {
        const [wire, parts, cuts] = given;
        const stream = wireEvents(wire, { parts }).join("");
        assert.deepEqual(read(through(new TextEncoder().encode(stream), cuts)), read(stream));
      },
    ),
    { numRuns: 300 },
  );
});

Deno.test("a thousand deltas that came together are one event", () => {
  const pieces = Array.from({ length: 1_000 }, (_, i) => `w${i} `);
  for (const format of ["chat", "anthropic", "google"] as const) {
    const stream = wireEvents(format, { parts: [{ text: pieces }] }).join("");
    const merged = through(new TextEncoder().encode(stream), []);
    assert.ok(merged.split("\n\n").length < 15, `${format}: ${merged.split("\n\n").length}`);
    assert.equal(read(merged).text, pieces.join(""));
  }
});

Deno.test("line ends of another kind go through at once, and a huge event in small pieces costs what it is long", () => {
  const crlf = "data: 1\r\n\r\n";
  const merged = new MergedDeltas();
  for (const _ of [1, 2]) {
    const passed = merged.push(new TextEncoder().encode(crlf));
    assert.equal(new TextDecoder().decode(passed), crlf);
  }
  const time = (size: number): number => {
    const bytes = new TextEncoder().encode(`data: ${"x".repeat(size)}\n\n`);
    const start = performance.now();
    const out = through(bytes, Array.from({ length: size / 1_000 }, (_, i) => i * 1_000));
    assert.equal(out.length, bytes.length);
    return performance.now() - start;
  };
  time(200_000);
  const [small, large] = [time(500_000), time(4_000_000)];
  assert.ok(large < small * 40 + 200, `${large} ms for 8 times ${small} ms`);
});

Deno.test("what it does not understand goes through as it is", () => {
  const strange = [
    "data: {oops\n\ndata: {oops\n\ndata: [DONE]\n\n",
    ": keep-alive\n\n: keep-alive\n\n: keep-alive\n\n",
    'data: {"choices":[]}\r\n\r\ndata: 1\r\n\r\n',
    "<html>no stream</html>",
    'data: {"choices":[{"delta":{"content":"a","role":"assistant"}}]}\n\n'.repeat(3),
    "id: 1\ndata: {}\n\n".repeat(4),
    "",
  ];
  for (const stream of strange) assert.equal(through(new TextEncoder().encode(stream), [3, 7]), stream);
});
