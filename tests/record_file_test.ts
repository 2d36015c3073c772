import assert from "node:assert/strict";
import fc from "fast-check";
import { SourceError } from "../mod.ts";
import type { RecordLine } from "../lib/core/journal.ts";
import { jsonProblem } from "../lib/core/json_fault.ts";
import { fileRecorder, readRecord } from "../lib/journal/record_file.ts";
import { createSecrets } from "../lib/journal/secrets.ts";

const RUN: RecordLine = { type: "run", version: 1, id: "r1", kind: "calls", input: { a: 1 } };

function written(lines: readonly RecordLine[]): string {
  let text = "";
  const recorder = fileRecorder((line) => text += line);
  for (const line of lines) recorder.write(line);
  return text;
}

/** Where a record is wrong, and why. */
function problemOf(text: string): string {
  try {
    readRecord(text, { file: "run.jsonl" });
  } catch (error) {
    assert.ok(error instanceof SourceError, String(error));
    assert.equal(error.source?.split("\n").length, error.span?.line, "the source shows the line");
    return `${error.place}: ${error.message}${error.hint === undefined ? "" : ` (${error.hint})`}`;
  }
  return "nothing";
}

const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)));
const text = fc.string({ unit: "binary" });

const line: fc.Arbitrary<RecordLine> = fc.oneof(
  fc.record({ type: fc.constant("source" as const), text }),
  fc.record({
    type: fc.constant("step" as const),
    key: text,
    kind: fc.constantFrom("model" as const, "gadget" as const),
    name: text,
    input: json,
    idempotent: fc.boolean(),
  }),
  fc.record({ type: fc.constant("part" as const), key: text, part: json }),
  fc.record({
    type: fc.constant("outcome" as const),
    key: text,
    outcome: fc.oneof(
      fc.record({ ok: json }),
      fc.record({ error: fc.record({ message: text, code: text }, { requiredKeys: ["message"] }) }),
    ),
  }),
  fc.record({
    type: fc.constant("event" as const),
    event: fc.record({ type: fc.constant("warning" as const), text, seq: fc.nat(), at: fc.nat(), run: text }),
  }),
);

const first: fc.Arbitrary<RecordLine> = fc.record({
  type: fc.constant("run" as const),
  version: fc.constant(1 as const),
  id: text,
  kind: text,
  file: text,
  files: fc.array(fc.record({ path: text, text })),
  input: json,
}, { requiredKeys: ["type", "version", "id", "kind", "input"] });

Deno.test("property: what was recorded is read back, a line each", () => {
  fc.assert(fc.property(first, fc.array(line), (start, lines) => {
    const file = written([start, ...lines]);
    assert.equal(file.split("\n").length, lines.length + 2);
    const { type: _type, version: _version, ...run } = JSON.parse(JSON.stringify(start));
    assert.deepEqual(readRecord(file, { file: "x" }), { run, lines: JSON.parse(JSON.stringify(lines)) });
  }));
});

Deno.test("a record without its last line end is read, and so is one with the line ends of Windows", () => {
  const lines: readonly RecordLine[] = [{ type: "source", text: "a" }];
  const file = written([RUN, ...lines]);
  assert.deepEqual(readRecord(file.slice(0, -1), { file: "x" }).lines, lines);
  assert.deepEqual(readRecord(file.replaceAll("\n", "\r\n"), { file: "x" }).lines, lines);
});

Deno.test("a recorder masks what it writes", () => {
  const secrets = createSecrets();
  secrets.add("KEY", "a-long-secret");
  let file = "";
  const recorder = fileRecorder((line) => file += line, { secrets });
  recorder.write(RUN);
  recorder.write({ type: "part", key: "k", part: { "a-long-secret": "is a-long-secret" } });
  assert.equal(file.split("\n")[1], `{"type":"part","key":"k","part":{"[secret KEY]":"is [secret KEY]"}}`);
});

Deno.test("what is wrong with a record is said with its place", () => {
  const start = written([RUN]);
  const cases: readonly (readonly [text: string, problem: string])[] = [
    ["", "run.jsonl:1:1: The record is empty"],
    ["\n", "run.jsonl:1:1: Expected a line of JSON, found an empty one"],
    ["hello\n", "run.jsonl:1:1: This is not JSON"],
    [`${start}{"type":"source","text":"a",}\n`, "run.jsonl:2:29: This is not JSON"],
    [
      `${start}{"type":"source","te`,
      "run.jsonl:2:18: This is not JSON (The record ends in the middle of a line: what wrote it was ended)",
    ],
    [`${start}\n`, "run.jsonl:2:1: Expected a line of JSON, found an empty one"],
    [`[1]\n`, `run.jsonl:1:1: Expected an object with a "type"`],
    [
      `{"type":"source","text":"a"}\n`,
      `run.jsonl:1:1: Expected a first line of type "run", found "source" (This is no record of a run)`,
    ],
    [
      `{"a":1}\n`,
      `run.jsonl:1:1: Expected a first line of type "run", found none (This is no record of a run)`,
    ],
    [
      start.replace('"version":1', '"version":2'),
      "run.jsonl:1:1: The record is of version 2, and this Orrery reads version 1 (Replay it with the Orrery that wrote it)",
    ],
    [
      start.replace('"version":1,', ""),
      "run.jsonl:1:1: The record is of version none, and this Orrery reads version 1",
    ],
    [`${start}${start}`, `run.jsonl:2:1: A second line of type "run" (A file holds the record of one run)`],
    [
      `${start}{"type":"effect"}\n`,
      `run.jsonl:2:1: Unknown type "effect": expected run, source, step, part, outcome, event`,
    ],
    [
      `${start}{"type":"toString"}\n`,
      `run.jsonl:2:1: Unknown type "toString": expected run, source, step, part, outcome, event`,
    ],
    [
      `${start}{"type":"step","key":"a","kind":"model","name":"x","input":1}\n`,
      `run.jsonl:2:1: A line of type "step" needs another "idempotent": found none`,
    ],
    [
      `${start}{"type":"outcome","key":"a","outcome":{"error":"no"}}\n`,
      `run.jsonl:2:1: A line of type "outcome" needs another "outcome": found {"error":"no"}`,
    ],
    [
      `${start}{"type":"event","event":{"type":"warning","text":"x"}}\n`,
      `run.jsonl:2:1: A line of type "event" needs another "event": found {"type":"warning","text":"x"}`,
    ],
  ];
  for (const [text, problem] of cases) assert.equal(problemOf(text), problem);
});

Deno.test("property: a fault is found exactly where there is one", () => {
  const damage = fc.record({
    value: json,
    at: fc.nat(),
    instead: fc.constantFrom("", ",", "}", "]", '"', "x", "1", " ", "\\"),
  });
  fc.assert(
    fc.property(damage, ({ value, at, instead }) => {
      const whole = JSON.stringify(value);
      assert.equal(jsonProblem(whole), undefined);
      const place = at % (whole.length + 1);
      const text = whole.slice(0, place) + instead + whole.slice(place + 1);
      let isJson = true;
      try {
        JSON.parse(text);
      } catch {
        isJson = false;
      }
      const fault = jsonProblem(text)?.offset;
      assert.equal(fault === undefined, isJson, text);
      assert.ok(fault === undefined || fault <= text.length);
    }),
    { numRuns: 3000 },
  );
});
