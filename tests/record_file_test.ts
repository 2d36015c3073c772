// Records of runs, as whoever replays them meets them; long/record_command_test.ts has what they hold.

import assert from "node:assert/strict";
import fc from "fast-check";
import { gadgetFolder } from "./_gadgets.ts";
import { testProject } from "./_project.ts";
import { tries } from "./_thorough.ts";

const CALLS = "!!!GADGET_START:Calculate:c\n!!!ARG:expression\n6 * 7\n!!!GADGET_END\n";
const REPLAY = ["run", "work.calls", "--replay", "run.jsonl"];

const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)));

Deno.test("a record without its last line end is replayed, and so is one with the line ends of Windows", async () => {
  await using project = await testProject({ "work.calls": CALLS });
  const recorded = await project.run(["run", "work.calls", "--record", "run.jsonl"]);
  assert.deepEqual([recorded.code, recorded.stdout], [0, "42\n"], recorded.stderr);
  const file = await project.read("run.jsonl");
  for (const text of [file, file.slice(0, -1), file.replaceAll("\n", "\r\n")]) {
    await project.write("run.jsonl", text);
    assert.deepEqual(await project.run(REPLAY), recorded);
  }
});

Deno.test("what is wrong with a record is said with its place", async () => {
  const start = `${JSON.stringify({ type: "run", version: 1, id: "r1", kind: "calls", input: { a: 1 } })}\n`;
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
  await using project = await testProject({ "work.calls": CALLS });
  for (const [text, problem] of cases) {
    await project.write("run.jsonl", text);
    const { code, stdout, stderr } = await project.run([...REPLAY, "-q"]);
    const [, place, message] = /^(\S+): error: (.*)\n/.exec(stderr) ?? [];
    const hint = /\nhint: (.*)/.exec(stderr)?.[1];
    const isKnown = hint === undefined || hint.startsWith("--replay takes a record");
    assert.equal(`${place}: ${message}${isKnown ? "" : ` (${hint})`}`, problem, stderr);
    assert.deepEqual([code, stdout], [2, ""]);
  }
});

Deno.test("property: a fault of JSON is found exactly where there is one", async () => {
  await using folder = await gadgetFolder();
  const damage = fc.record({
    value: json,
    at: fc.nat(),
    instead: fc.constantFrom("", ",", "}", "]", '"', "x", "1", " ", "\\"),
  });
  const faultOf = async (text: string) => (await folder.outcome("Json", { value: text })).error;
  await fc.assert(
    fc.asyncProperty(damage, async ({ value, at, instead }) => {
      const whole = JSON.stringify(value);
      assert.equal(await faultOf(whole), undefined);
      const place = at % (whole.length + 1);
      const text = whole.slice(0, place) + instead + whole.slice(place + 1);
      let isJson = true;
      try {
        // A number that is too large is none of a fault's kind: the gadget refuses it in other words.
        JSON.parse(text, (_key, read) => fc.pre(read !== Infinity && read !== -Infinity));
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error;
        isJson = false;
      }
      const fault = await faultOf(text);
      assert.equal(fault === undefined, isJson, text);
      if (fault === undefined) return;
      const [, column = ""] =
        /^Cannot read value as JSON: found [^]* at column (\d+), expected /.exec(fault) ?? [];
      assert.ok(Number(column) >= 1 && Number(column) <= text.length + 1, fault);
    }),
    { numRuns: tries(800, 3000) },
  );
});
