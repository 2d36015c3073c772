import fc from "fast-check";
import assert from "node:assert/strict";
import {
  type CallBlock,
  type CallEvent,
  CallParser,
  type CallParserOptions,
  createCatalog,
  type Markers,
  parseCalls,
  runCalls,
  writeCalls,
} from "../mod.ts";
import parseCases from "./spec/calls/parse.json" with { type: "json" };
import { anyText } from "./_any_text.ts";

interface ExpectedCall extends Omit<CallBlock, "parseError"> {
  readonly parseError?: readonly string[];
}

interface ParseCase {
  readonly name: string;
  readonly markers?: { start?: string; end?: string; arg?: string };
  readonly input: string;
  readonly calls?: readonly ExpectedCall[];
  readonly text?: string;
  readonly throws?: readonly string[];
}

const cases: readonly ParseCase[] = JSON.parse(JSON.stringify(parseCases));

function read(chunks: readonly string[], options?: CallParserOptions): CallEvent[] {
  const parser = new CallParser(options);
  return [...chunks.flatMap((chunk) => parser.push(chunk)), ...parser.end()];
}

function cut(text: string, size: number): string[] {
  const out: string[] = [];
  for (let at = 0; at < text.length; at += size) out.push(text.slice(at, at + size));
  return out;
}

function* splits(text: string): Generator<string[]> {
  yield [text];
  for (const size of [1, 2, 3, 7]) yield cut(text, size);
  if (text.length <= 700) {
    for (let at = 1; at < text.length; at++) {
      yield [text.slice(0, at), text.slice(at)];
    }
  }
}

const textOf = (events: readonly CallEvent[]): string =>
  events.map((event) => event.type === "text-delta" ? event.text : "").join("");

const callsOf = (events: readonly CallEvent[]): CallBlock[] =>
  events.flatMap((event) => event.type === "call-end" ? [event.call] : []);

/** Arguments of each call, in order, from the deltas alone. */
function valuesOf(events: readonly CallEvent[]): string[] {
  const values: string[] = [];
  let last = "";
  for (const event of events) {
    if (event.type === "call-start") last = "";
    if (event.type !== "argument-delta") continue;
    const place = `${event.invocationId} ${event.pointer}`;
    if (place === last) values[values.length - 1] += event.delta;
    else values.push(event.delta);
    last = place;
  }
  return values;
}

function checkCase(expected: ParseCase, chunks: readonly string[]): CallEvent[] {
  const events = read(chunks, expected.markers === undefined ? {} : { markers: expected.markers });
  const where = `${expected.name} in ${chunks.length} chunks (first ${
    JSON.stringify(chunks[0]?.slice(-20))
  })`;
  assert.equal(textOf(events), expected.text, `text of ${where}`);
  const calls = callsOf(events);
  const plain = calls.map(({ parseError: _, ...call }) => call);
  assert.deepEqual(plain, expected.calls?.map(({ parseError: _, ...call }) => call), where);
  calls.forEach((call, index) => {
    const wanted = expected.calls?.[index]?.parseError;
    if (wanted === undefined) return assert.equal(call.parseError, undefined, where);
    assert.ok(call.parseError !== undefined, `${where}: expected a parseError`);
    for (const part of wanted) {
      assert.ok(call.parseError.includes(part), `${where}: ${call.parseError} lacks ${part}`);
    }
  });
  return events;
}

Deno.test("calls: every case of parse.json, whole, in small chunks and at every two-way split", () => {
  const before = Object.getOwnPropertyNames(Object.prototype).join();
  for (const expected of cases) {
    if (expected.throws !== undefined) continue;
    const whole = valuesOf(checkCase(expected, [expected.input]));
    for (const chunks of splits(expected.input)) {
      assert.deepEqual(valuesOf(checkCase(expected, chunks)), whole, `deltas of ${expected.name}`);
    }
  }
  assert.equal(Object.getOwnPropertyNames(Object.prototype).join(), before);
});

Deno.test("calls: markers that cannot be told apart are refused, and the message names the two", () => {
  const refused = cases.filter((one) => one.throws !== undefined);
  assert.ok(refused.length > 8);
  for (const { name, markers = {}, throws = [] } of refused) {
    assert.throws(() => new CallParser({ markers }), (error: unknown) => {
      assert.ok(error instanceof TypeError, name);
      for (const part of throws) assert.ok(error.message.includes(part), `${name}: ${error.message}`);
      return true;
    });
  }
});

Deno.test("parseCalls gives the events of CallParser, from arrays and from streams, and closes its source", async () => {
  for (const { input, markers } of cases.filter((one) => one.throws === undefined)) {
    const options = markers === undefined ? {} : { markers };
    const events: CallEvent[] = [];
    for await (const event of parseCalls(cut(input, 5), options)) events.push(event);
    assert.deepEqual(events, read(cut(input, 5), options));
  }
  const text = "Hi.\n!!!GADGET_START:A:a\n!!!GADGET_END\n";
  const events: CallEvent[] = [];
  for await (const event of parseCalls(text)) events.push(event);
  assert.deepEqual(events, read([text])); // a text is one piece, not a piece for each letter
  let closed = false;
  async function* slow(): AsyncGenerator<string> {
    try {
      yield "text\n";
      await Promise.resolve();
      yield "!!!GADGET_START:A:a\n!!!GADGET_END\n";
      yield "never read";
    } finally {
      closed = true;
    }
  }
  for await (const event of parseCalls(slow())) if (event.type === "call-end") break;
  assert.ok(closed);
});

Deno.test("parseCalls passes on the error of its source after the events before it", async () => {
  async function* broken(): AsyncGenerator<string> {
    yield "!!!GADGET_START:A:a\n!!!GADGET_END\n";
    throw new Error("cable cut");
  }
  const types: string[] = [];
  await assert.rejects(async () => {
    for await (const event of parseCalls(broken())) types.push(event.type);
  }, /cable cut/);
  assert.deepEqual(types, ["call-start", "call-end"]);
});

Deno.test("CallParser: after end, end gives nothing and push is an error", () => {
  const parser = new CallParser();
  parser.push("!!!GADGET_START:A");
  assert.equal(parser.end().length, 2);
  assert.deepEqual(parser.end(), []);
  assert.throws(() => parser.push("x"), /push after end/);
});

Deno.test("CallParser: every repeated id is told with its first line, also after another one and among thousands", () => {
  const ids = Array.from({ length: 3000 }, (_, i) => `w${i}`);
  const lines = ["w0", "w0", ...ids, ...ids].map((id) => `!!!GADGET_START:A:${id}\n`);
  const calls = callsOf(read([lines.join("")]));
  const told = (id: string, line: number) => `Duplicate invocation id "${id}" (first used on line ${line})`;
  assert.deepEqual(calls.map((call) => call.parseError), [
    undefined,
    told("w0", 1),
    told("w0", 1),
    ...ids.slice(1).map(() => undefined),
    ...ids.map((id, i) => told(id, i === 0 ? 1 : i + 3)),
  ]);
});

Deno.test("CallParser: an escaped END line with a CR, cut off by the end of the text, is kept whole", () => {
  const [call] = callsOf(read(["!!!GADGET_START:A:a\n!!!ARG:x\n\\!!!GADGET_END\r"]));
  assert.deepEqual(call?.parameters, { x: "!!!GADGET_END\r" });
  assert.equal(call?.parametersRaw, "!!!ARG:x\n\\!!!GADGET_END\r");
});

/** Text that is dense in everything the parser looks at. */
const marked = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        "!!!GADGET_START:",
        "!!!GADGET_END",
        "!!!ARG:",
        "!!!",
        "\\",
        "\\\\",
        "\n",
        "\r\n",
        "\r",
        " ",
        "\t",
      ),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        "A:a",
        "B::a,b",
        "x",
        "x/0",
        "x/1",
        "x/-1",
        "__proto__",
        '{"a":1}',
        "```",
        ":",
        "é",
        "\ud800",
        "42",
        "true",
      ),
    },
    anyText({ maxLength: 6 }),
  ),
  { maxLength: 60, size: "max" },
).map((parts) => parts.join(""));

Deno.test("property: no input throws, and every way to cut it gives the same calls, text and values", () => {
  fc.assert(
    fc.property(marked, fc.array(fc.nat({ max: 200 }), { maxLength: 8 }), (text, cuts) => {
      const at = [...new Set(cuts)].filter((n) => n > 0 && n < text.length).sort((a, b) => a - b);
      const chunks = [0, ...at].map((from, i) => text.slice(from, at[i] ?? text.length));
      const whole = read([text]);
      for (const other of [read(chunks), read(cut(text, 1))]) {
        assert.deepEqual(callsOf(other), callsOf(whole));
        assert.equal(textOf(other), textOf(whole));
        assert.deepEqual(valuesOf(other), valuesOf(whole));
      }
    }),
    { numRuns: 3000 },
  );
});

Deno.test("property: the text deltas are the input without its blocks, and a block is its header, raw body and END line", () => {
  fc.assert(
    fc.property(marked, (text) => {
      let rest = text;
      let found = "";
      const events = read([text]);
      for (const event of events) {
        if (event.type === "text-delta") {
          assert.ok(rest.startsWith(event.text));
          found += event.text;
          rest = rest.slice(event.text.length);
        } else if (event.type === "call-end") {
          const header = /^!!!GADGET_START:[^\n]*(?:\n|$)/.exec(rest)?.[0] ??
            assert.fail(`no header at ${rest}`);
          rest = rest.slice(header.length);
          assert.ok(rest.startsWith(event.call.parametersRaw));
          rest = rest.slice(event.call.parametersRaw.length).replace(/^!!!GADGET_END[ \t\r]*(?:\n|$)/, "");
        }
      }
      assert.equal(rest, "");
      assert.equal(found, textOf(events));
    }),
    { numRuns: 3000 },
  );
});

const identifier = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_.-]{0,8}$/);
const key = fc.oneof(identifier, anyText({ maxLength: 6 })).filter((name) => name !== "__proto__");
const text = fc.oneof(
  marked,
  anyText(),
  fc.constantFrom("42", "true", " 1 ", "x\r", "", "\n", "007"),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.boolean(),
    fc.constant(null),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n === 0 ? 0 : n),
    fc.maxSafeInteger(),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(key, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));

Deno.test("property: any value survives writeCalls and back, under the default and under custom markers", () => {
  const call = fc.record({
    gadgetName: identifier,
    dependencies: fc.uniqueArray(identifier, { maxLength: 3 }),
    parameters: fc.dictionary(key, value, { maxKeys: 4, noNullPrototype: true }),
  });
  const markers = fc.constantFrom({}, { start: "<<<START:", end: "<<<END:", arg: "@param:" }, {
    start: "{",
    end: "}",
    arg: '"',
  });
  fc.assert(
    fc.property(fc.array(call, { maxLength: 4 }), markers, (calls, markers) => {
      const named = calls.map((one, i) => ({ ...one, invocationId: i % 2 === 0 ? `id${i}` : "" }));
      const asJson = callsOf(
        read([writeCalls(named, { markers, asJson: true })], { markers, leaf: () => "no leaf" }),
      );
      assert.equal(
        JSON.stringify(asJson.map(({ parameters }) => sorted(parameters))),
        JSON.stringify(named.map(({ parameters }) => sorted(parameters))),
      );
      const read1 = callsOf(read([writeCalls(named, { markers })], { markers }));
      read1.forEach((one, i) => {
        assert.equal(one.parseError, undefined);
        assert.deepEqual(
          JSON.stringify(sorted(one.parameters)),
          JSON.stringify(sorted(named[i]?.parameters)),
        );
        assert.deepEqual(one.dependencies, named[i]?.dependencies);
        assert.equal(one.gadgetName, named[i]?.gadgetName);
      });
      const read2 = callsOf(read([writeCalls(read1, { markers })], { markers }));
      const bare = (calls: readonly CallBlock[]) =>
        calls.map(({ line: _l, parametersRaw: _r, ...call }) => call);
      assert.deepEqual(bare(read2), bare(read1));
    }),
    { numRuns: 2000 },
  );
});

/** Key order is not part of a JSON object. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map(([k, v]) => [k, sorted(v)]),
  );
}

/** What a run warns of in a text that comes in these pieces. */
async function warned(chunks: readonly string[], markers: Partial<Markers>): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const event of runCalls(chunks, { catalog: createCatalog([]), markers })) {
    if (event.type === "warning") found.push(`${event.line} ${event.text}`);
  }
  return found;
}

Deno.test("OddMarkers: what looks like a marker and is none, and blocks inside arguments, however the text is cut", async () => {
  const rows: readonly (readonly [text: string, found: readonly string[], markers?: Markers])[] = [
    ["!!!GADGET_START:A:a\n!!!ARG:x\nso:\n!!!GADGET_START:B\n!!!GADGET_END\n", [
      "4 ends the block before it",
    ]],
    ["!!!GADGET_START:A:a\n!!!GADGET_START:B\n!!!ARG:x\n1\n!!!GADGET_END \n!!!GADGET_START:C", []],
    ["!!!ARG:x\n!!!GADGET_START:A", []],
    [
      "!!!GADGET_START:A\n!!!ARG:x\n\\!!!GADGET_START:B\n\\!!!GADGET_END:b\n!!!GADGET_ENDPOINT\n!!!GADGET_END",
      [],
    ],
    ["!!!GADGET_END:m\n!!!GADGET_END m\n!!!GADGET_END.", [
      "1 ends no block",
      "2 ends no block",
      "3 ends no block",
    ]],
    ["\n \t!!!GADGET_START:A\n  !!!ARG:x\n !!!GADGET_END", ["2 blanks", "3 blanks", "4 blanks"]],
    [
      "!!!GADGET_STRT:A\r\n!!!gadget_start:A\n!!!GADGET_START A\n!!!ARGS:x\n !!!GADGET_ENDS",
      [
        'mean "!!!GADGET_START:"',
        'mean "!!!GADGET_START:"',
        'mean "!!!GADGET_START:"',
        'mean "!!!ARG:"',
        'mean "!!!GADGET_END"',
      ].map((words, index) => `${index + 1} ${words}`),
    ],
    ["Write !!!GADGET_START:A, or `!!!GADGET_END:x`.\n!!! Note\n!!!ERR: x\n", []],
    ["@@call B\n @@calls C\n{\n }", ['2 mean "@@call "'], { start: "@@call ", end: "}", arg: "{" }],
  ];
  for (const [text, found, markers = {}] of rows) {
    for (let size = 1; size <= text.length; size++) {
      const all = await warned(cut(text, size), markers);
      assert.equal(all.length, found.length, JSON.stringify([text, all]));
      all.forEach((told, index) => {
        const [at, ...words] = found[index]?.split(" ") ?? [];
        assert.ok(told.startsWith(`${at} `) && told.includes(words.join(" ")), told);
      });
    }
  }
  const long = Array.from({ length: 100_000 }, (_, i) => "x !!!ARG:".slice(0, 1 + i % 9));
  assert.match((await warned([...long, "\n !!!ARG:x"], {})).join(), /^2 /);
});

Deno.test("CallParser: a JSON object with a number that would lose digits is an error that names it", () => {
  for (const number of ["1234567890123456789", "-9007199254740993", "12345678901234567.5", "1e999"]) {
    const body = `{"a": ["\\"${number}", 1e300, 0.12345678901234567890, 12345678901234567000, ${number}]}`;
    const [call] = callsOf(read([`!!!GADGET_START:A:a\n${body}\n!!!GADGET_END\n`]));
    assert.ok(call?.parseError?.includes(`: the number ${number} is beyond`), call?.parseError);
  }
  const [call] = callsOf(
    read(['!!!GADGET_START:A:a\n{"a": ["1234567890123456789", 18446744073709551616]}\n']),
  );
  assert.deepEqual(call?.parameters, { a: ["1234567890123456789", 2 ** 64] });
});

Deno.test("writeCalls refuses what no block can say, and keeps a broken call's body", () => {
  assert.throws(() => writeCalls([{ gadgetName: "A b" }]), /Cannot read header "A b"/);
  assert.throws(() => writeCalls([{ gadgetName: "A", invocationId: "a b" }]), /"a b"/);
  assert.throws(
    () => writeCalls([{ gadgetName: "A", parameters: JSON.parse('{"__proto__":1}') }]),
    /__proto__/,
  );
  const lines = "!!!ARG:x\n\\!!!GADGET_END \n!!!GADGET_ENDPOINT\n";
  assert.equal(
    writeCalls([{ gadgetName: "A", parameters: { x: lines } }]),
    "!!!GADGET_START:A\n!!!ARG:x\n\\!!!ARG:x\n\\\\!!!GADGET_END \n!!!GADGET_ENDPOINT\n\n!!!GADGET_END\n",
  );
  const [broken] = callsOf(read(["!!!GADGET_START:A:a\n!!!ARG:x\n1\n!!!ARG:x\n2"]));
  assert.ok(broken !== undefined);
  const [again] = callsOf(read([writeCalls([broken])]));
  assert.deepEqual(again?.parameters, broken.parameters);
  assert.equal(again?.parseError, broken.parseError);
});
