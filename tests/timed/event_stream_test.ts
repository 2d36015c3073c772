// Streams of events, wherever they are cut, in a time that is linear.
import assert from "node:assert/strict";
import fc from "fast-check";
import { eventStream } from "../../lib/parse/event_stream.ts";

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
