// The pictures of README.md: that they are there and need nothing else, and how a recording is drawn. `deno task pictures` draws them.

import assert from "node:assert/strict";
import { join } from "node:path";
import type { RunEvent } from "../mod.ts";
import { PROJECT_ROOT } from "./_run.ts";
import { runPicture, screensOf } from "./documentation/run_picture.ts";

const FOLDER = join(PROJECT_ROOT, "lib/help");
const run = "1a2b3c";
const step = "turn[1]/model";

/** A model writes two calls; the first one ends before the second one is complete, and the second one waits for it. */
const EVENTS: readonly RunEvent[] = [
  { type: "run-start", kind: "ask", seq: 1, at: 0, run },
  { type: "step-start", key: step, kind: "model", name: "lab/large", attempt: 1, seq: 2, at: 20, run },
  { type: "text-delta", step, text: "Is 2 < 3? ", seq: 3, at: 130, run },
  { type: "text-delta", step, text: "I look.\n", seq: 4, at: 240, run },
  {
    type: "call-open",
    step,
    invocationId: "one",
    gadgetName: "ReadFile",
    dependencies: [],
    line: 2,
    seq: 5,
    at: 260,
    run,
  },
  { type: "call-run", step, invocationId: "one", line: 2, seq: 6, at: 300, run },
  {
    type: "call-open",
    step,
    invocationId: "two",
    gadgetName: "Json",
    dependencies: ["one"],
    line: 6,
    seq: 7,
    at: 380,
    run,
  },
  { type: "call-log", step, invocationId: "one", line: 2, text: "half of it", seq: 8, at: 400, run },
  { type: "call-result", step, invocationId: "one", line: 2, result: 1, seq: 9, at: 510, run },
  { type: "call-run", step, invocationId: "two", line: 6, seq: 10, at: 640, run },
  { type: "call-result", step, invocationId: "two", line: 6, result: 2, seq: 11, at: 700, run },
  { type: "step-end", key: step, ms: 720, outcome: null, seq: 12, at: 740, run },
  {
    type: "run-end",
    status: "done",
    value: "It is.\n",
    usage: { input: 0, output: 0 },
    seq: 13,
    at: 760,
    run,
  },
];
const RECORDING = { command: "orrery ask ?", events: EVENTS };

Deno.test("pictures: those of README.md are there, small, and need nothing from elsewhere", async () => {
  for (const theme of ["light", "dark"]) {
    const svg = await Deno.readTextFile(join(FOLDER, `run_${theme}.svg`));
    assert.ok(svg.length <= 60_000, `run_${theme}.svg has ${svg.length} bytes`);
    for (const words of ["$", "orrery ask", "lab/large", "RunCommand", "← build, tests", "6 calls: 6 ok"]) {
      assert.ok(svg.includes(words), `run_${theme}.svg does not say ${words}`);
    }
    assertAlone(svg);
    const { size } = await Deno.stat(join(FOLDER, `trace_${theme}.png`));
    assert.ok(size < 150_000, `trace_${theme}.png has ${size} bytes`);
  }
});

Deno.test("pictures: what the window shows, from the first letter to the result", () => {
  const screens = screensOf(RECORDING).map(({ lines }) => lines.map(withoutLooks));
  assert.deepEqual(screens.slice(0, 4), [["$ █"], ["$ orre█"], ["$ orrery a█"], ["$ orrery ask ?█"]]);
  const ticks = screens.slice(4).map((lines) => lines.slice(1));
  assert.equal(ticks.length, 7);
  assert.deepEqual(ticks[1], ["Is 2 < 3? I look.", " ⠹ lab/large  230 ms", " 250 ms"]);
  assert.deepEqual(ticks[3], [
    "Is 2 < 3? I look.",
    "one: half of it",
    " ⠼ lab/large  480 ms",
    " ⠼ └ one    ReadFile  200 ms    half of it",
    " ○   └ two  Json                ← one",
    " ░░░░░░░░░░░░░░░░░░░░  2 calls: 1 running, 1 waiting, 500 ms",
  ]);
  assert.deepEqual(ticks[6]?.slice(2), [
    " ● lab/large  720 ms",
    " ● └ one    ReadFile  210 ms",
    " ●   └ two  Json      60 ms",
    " ████████████████████  2 calls: 2 ok, 760 ms",
    "It is.",
  ]);
});

Deno.test("pictures: the same recording gives the same strip, each screen of it for its time", () => {
  const svg = runPicture(RECORDING, "dark");
  assert.equal(runPicture(RECORDING, "dark"), svg);
  assertAlone(svg);
  const screens = screensOf(RECORDING);
  const height = Number(/<svg x="\d+" y="\d+" width="\d+" height="(\d+)"/.exec(svg)?.[1]);
  const places = [...svg.matchAll(/([\d.]+)%\{transform:translateY\((-?\d+)px\)\}/g)];
  assert.deepEqual(places.map(([, , y]) => Number(y)), screens.map((_, nth) => 0 - nth * height));
  const shares = places.map(([, share]) => Number(share));
  assert.deepEqual(shares, shares.toSorted((a, b) => a - b));
  assert.ok(svg.includes(`animation:${screens.reduce((sum, { ms }) => sum + ms, 0)}ms `));
  assert.ok(svg.includes(`#strip{transform:translateY(${-(screens.length - 1) * height}px)`)); // where nothing moves: the last one
  assert.match(svg, /prefers-reduced-motion:reduce\)\{#strip\{animation:none\}\}/);
  const uses = [...svg.matchAll(/<use href="#(\w+)"/g)].map(([, id]) => id);
  assert.equal(uses.length, screens.flatMap(({ lines }) => lines).length);
  assert.deepEqual(new Set(uses), new Set([...svg.matchAll(/<text id="(\w+)"/g)].map(([, id]) => id)));
  assert.ok(svg.includes("Is 2 &lt; 3?"));
  assert.match(svg, /<tspan x="9" class="g">●<\/tspan><tspan x="27">└ one<\/tspan>/);
});

Deno.test("pictures: light and dark differ in their colours alone", () => {
  const withoutColors = (svg: string): string => svg.replaceAll(/#[0-9a-f]{6}\b/g, "#");
  const [light, dark] = [runPicture(RECORDING, "light"), runPicture(RECORDING, "dark")];
  assert.notEqual(light, dark);
  assert.equal(withoutColors(light), withoutColors(dark));
});

function assertAlone(svg: string): void {
  assert.doesNotMatch(svg, /<script|<foreignObject|\son\w+=|@import|url\(|\p{Cc}\[/iu);
  assert.deepEqual([...svg.matchAll(/\w+:\/\/[^"\s]*/g)].map(String), ["http://www.w3.org/2000/svg"]);
  assert.ok([...svg.matchAll(/href="([^"]*)"/g)].every(([, to]) => to?.startsWith("#")));
}

function withoutLooks(line: string): string {
  return line.replaceAll(/\p{Cc}\[\d+m/gu, "");
}
