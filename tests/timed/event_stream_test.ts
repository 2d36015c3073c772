// Streams of events: read, and with their deltas of text merged; wherever they are cut, in a time that is linear.
import assert from "node:assert/strict";
import fc from "fast-check";
import { MergedDeltas } from "../../lib/models/provider/merge_deltas.ts";
import { eventStream } from "../../lib/parse/event_stream.ts";
import { type AnswerPart, wireEvents, type WireFormat } from "../_provider_wire.ts";
import { anyText } from "../_any_text.ts";

const encoder = new TextEncoder();

async function eventsOf(
  chunks: Iterable<Uint8Array>,
  options?: Parameters<typeof eventStream>[1],
): Promise<readonly string[]> {
  const events: string[] = [];
  const source = async function* () {
    yield* chunks;
  };
  for await (const event of eventStream(source(), options)) events.push(event);
  return events;
}

const read = (text: string) => eventsOf([encoder.encode(text)]);

/** The bytes cut behind these places. */
function cut(bytes: Uint8Array, places: readonly number[]): readonly Uint8Array[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

Deno.test("event stream: what is an event", async () => {
  const rows: readonly (readonly [text: string, events: readonly string[]])[] = [
    ["data: a\n\ndata: b\n\n", ["a", "b"]],
    ["data: a\r\rdata: b\r\r", ["a", "b"]],
    ["data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
    ["data: a\n\rdata: b\r\n\n", ["a", "b"]],
    ["\ufeffdata: a\n\n", ["a"]],
    ["\ufeff\ufeffdata: a\n\n", []],
    ["data:a\ndata:  b\ndata\n\n", ["a\n b\n"]],
    ["data\n\n", [""]],
    ["data:\n\n", [""]],
    [": note\n\n:\n\ndata: a\n: note\ndata: b\n\n", ["a\nb"]],
    ["event: x\nid: 1\nretry: 5\n\n", []],
    ["event: x\ndata: a\nid: 1\nretry: 5\n\n", ["a"]],
    ["Data: a\n data: b\ndata : c\ndatas: d\n\n", []],
    ["\n\n\n\ndata: a\n\n\n", ["a"]],
    ["data: a\n\ndata: b\n", ["a"]],
    ["data: a\n\ndata: b", ["a"]],
    ['data: {"a": "b: c"}\n\n', ['{"a": "b: c"}']],
    ["", []],
  ];
  for (const [text, events] of rows) assert.deepEqual(await read(text), events, JSON.stringify(text));
});

Deno.test("event stream: bytes that are no UTF-8 do not end it", async () => {
  assert.deepEqual(await eventsOf([Uint8Array.of(0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0x0a, 0x0a)]), [
    "\ufffd",
  ]);
});

Deno.test("event stream: any cut of any stream gives the same events", async () => {
  const line = fc.constantFrom(
    ...[
      "data: a",
      "data:é\u{1f600}",
      "data",
      ": note",
      "event: x",
      "",
      "",
      "x",
      "\ufeffdata: y",
      "data:  z ",
    ],
  );
  const stream = fc.array(fc.tuple(line, fc.constantFrom("\n", "\r", "\r\n")))
    .map((lines) => encoder.encode(lines.flat().join("")));
  await fc.assert(
    fc.asyncProperty(stream, fc.array(fc.nat()), async (bytes, places) => {
      const whole = await eventsOf([bytes]);
      assert.deepEqual(await eventsOf(cut(bytes, places)), whole);
      assert.deepEqual(await eventsOf(Array.from(bytes, (byte) => Uint8Array.of(byte))), whole);
    }),
    { numRuns: 300 },
  );
});

Deno.test("event stream: the time for an event of 5 MB is linear", async () => {
  const stream = (size: number) => encoder.encode(`data: ${"x".repeat(size)}\n\n`);
  const pieces = (bytes: Uint8Array) =>
    Array.from(
      { length: Math.ceil(bytes.length / 1000) },
      (_, at) => bytes.subarray(at * 1000, at * 1000 + 1000),
    );
  const time = async (size: number): Promise<number> => {
    const chunks = pieces(stream(size));
    const started = performance.now();
    const [event = ""] = await eventsOf(chunks);
    assert.equal(event.length, size);
    return performance.now() - started;
  };
  await time(500_000);
  const [small, large] = [await time(500_000), await time(5_000_000)];
  assert.ok(large < 60 * small + 200, `0.5 MB took ${small} ms, 5 MB ${large} ms`);
});

Deno.test("event stream: an event has a bound, comments have none", async () => {
  const message = /^an event is longer than 1,000 characters$/;
  const bound = { maxEventLength: 1000 };
  const half = encoder.encode(`data: ${"x".repeat(600)}\n`);
  await assert.rejects(eventsOf([half, half], bound), { message });
  await assert.rejects(eventsOf([encoder.encode(`data: ${"x".repeat(1001)}`)], bound), { message });
  const end = encoder.encode("\n");
  assert.equal((await eventsOf([half, end, half, end], bound)).length, 2);
  const notes = Array.from({ length: 100 }, () => encoder.encode(`: ${"n".repeat(100)}\n`));
  assert.deepEqual(await eventsOf([...notes, half, end], bound), ["x".repeat(600)]);
});

Deno.test("event stream: its source is closed when the loop is left", async () => {
  let isClosed = false;
  const source = async function* () {
    try {
      while (true) yield encoder.encode("data: a\n\n");
    } finally {
      isClosed = true;
    }
  };
  for await (const _event of eventStream(source())) break;
  assert.ok(isClosed);
});

// Deltas of text that came together are one event before the SDK reads them

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

interface ReadDeltas {
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

function readDeltas(stream: string): ReadDeltas {
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

const character = fc.oneof({ weight: 9, arbitrary: anyText({ maxLength: 6 }) }, {
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
        assert.deepEqual(readDeltas(through(new TextEncoder().encode(stream), cuts)), readDeltas(stream));
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
    assert.equal(readDeltas(merged).text, pieces.join(""));
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
