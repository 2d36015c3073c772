import assert from "node:assert/strict";
import { type RunEvent, type RunEventBody, SourceError, type StepRecord } from "../../mod.ts";
import { refusalLine } from "../../lib/cli/run/end.ts";
import { jsonLine } from "../../lib/cli/run/view.ts";
import type { CallGraph } from "../../lib/render/graph/graph.ts";
import { cellWidth, cutToCells } from "../../lib/render/cells.ts";
import { errorFrame } from "../../lib/render/error_frame.ts";
import { graphMermaid } from "../../lib/render/graph/mermaid.ts";
import { graphSvg, graphText } from "../../lib/render/graph/picture.ts";
import { type LiveState, liveState, updateLive } from "../../lib/render/live/state.ts";
import { renderLive } from "../../lib/render/live/view.ts";
import { PlainLines } from "../../lib/render/plain_lines.ts";
import {
  costWords,
  duration,
  InterimText,
  printable,
  printableLine,
  resultText,
  usageWords,
} from "../../lib/render/shown_text.ts";
import { traceTree } from "../../lib/render/trace/tree.ts";

function events(...bodies: readonly (RunEventBody & { readonly at: number })[]): RunEvent[] {
  return bodies.map((body, index) => ({ ...body, seq: index + 1, run: "r" }));
}

const open = (at: number, invocationId: string, line: number, dependencies: readonly string[] = []) =>
  ({ type: "call-open", at, invocationId, gadgetName: `G_${invocationId}`, dependencies, line }) as const;
const start = (at: number, invocationId: string, line: number) =>
  ({ type: "call-run", at, invocationId, line }) as const;

const SOME_RUN = events(
  { type: "run-start", at: 0, kind: "calls", file: "x.calls" },
  { type: "text-delta", at: 0, step: "source", text: "Let me look" },
  open(1, "a", 2),
  start(1, "a", 2),
  open(1, "b", 5),
  start(2, "b", 5),
  open(2, "c", 8, ["a", "b"]),
  { type: "call-log", at: 3, invocationId: "a", line: 2, text: "half way\nthere\n" },
  { type: "call-result", at: 121, invocationId: "a", line: 2, result: 1 },
  { type: "call-error", at: 1502, invocationId: "b", line: 5, error: "first\nsecond", code: "failed" },
  {
    type: "call-skip",
    at: 1502,
    invocationId: "c",
    line: 8,
    reason: 'Skipped: depends on "b", which failed',
  },
  { type: "run-end", at: 1503, status: "failed", usage: { input: 0, output: 0 } },
);

function stateAfter(list: readonly RunEvent[]): LiveState {
  const state = liveState();
  for (const event of list) updateLive(state, event);
  return state;
}

const SIZE = { columns: 80, rows: 24, color: false, spinnerFrame: 0, nowMs: 1000, withNotes: true };

Deno.test("plain lines: one a call, with time; errors with file and line; own lines never in the middle of a text", () => {
  const lines = new PlainLines({ file: "x.calls" });
  assert.equal(
    SOME_RUN.map((event) => lines.text(event)).join(""),
    `Let me look
  log   a  half way
  log   a  there
  ok    a  G_a  120 ms
  error b  G_b  1.5 s
        x.calls:5: first
        second
  skip  c  G_c
        x.calls:8: Skipped: depends on "b", which failed
3 calls: 1 ok, 1 failed, 1 skipped, 1.5 s
`,
  );
});

Deno.test("plain lines, quiet: errors and skips only", () => {
  const lines = new PlainLines({ file: "x.calls", quiet: true });
  const text = SOME_RUN.map((event) => lines.text(event)).join("");
  assert(text.startsWith("  error b"), text);
  assert(!/ ok | log |Let me|calls:\s/.test(text), text);
});

Deno.test("plain lines: a source that broke is told, also when other calls failed", () => {
  const lines = new PlainLines({ file: "x.calls" });
  const end = events({
    type: "run-end",
    at: 2000,
    status: "failed",
    usage: { input: 0, output: 0 },
    error: "Cannot read stdin any further",
  });
  const text = [...SOME_RUN.slice(0, -1), ...end].map((event) => lines.text(event)).join("");
  assert.match(text, /^error: Cannot read stdin any further$/m);
});

Deno.test("what a terminal would obey becomes visible, everywhere", () => {
  const evil = "\x1b]0;title\x07\x1b[2J\u009b31m\r\n\u202eevil\ttab\x7f";
  assert.equal(printable(evil), "␛]0;title␇␛[2J\\x9b31m\n\\u202eevil\ttab␡");
  assert.equal(printableLine("a\r\nb\n"), "a⏎b");
  const list = events(
    { type: "text-delta", at: 0, step: "source", text: evil },
    { ...open(0, "a", 1), gadgetName: evil },
    start(0, "a", 1),
    { type: "call-log", at: 1, invocationId: "a", line: 1, text: evil },
    { type: "call-error", at: 2, invocationId: "a", line: 1, error: evil, code: "failed" },
    { type: "warning", at: 2, text: evil },
    { type: "run-end", at: 3, status: "failed", usage: { input: 0, output: 0 }, error: evil },
  );
  const lines = new PlainLines({ file: evil });
  const plain = list.map((event) => lines.text(event)).join("");
  const state = liveState();
  state.openLine = evil;
  const frames = list.map((event) => (updateLive(state, event), renderLive(state, SIZE).join("\n"))).join(
    "\n",
  );
  const frame = errorFrame(
    new SourceError(evil, { span: { file: evil, line: 1, column: 3 }, source: evil, hint: evil }),
  );
  for (const text of [plain, frames, frame]) {
    assert.doesNotMatch(text, /(?![\t\n])\p{Cc}|\u202e/u);
  }
});

Deno.test("cells: wide, combining and joined characters are never counted too narrow", () => {
  assert.equal(cellWidth("abc"), 3);
  assert.equal(cellWidth("漢字"), 4);
  assert.equal(cellWidth("e\u0301"), 1);
  assert.equal(cellWidth("😀"), 2);
  assert(cellWidth("👩‍👩‍👧") >= 2);
  assert.equal(cutToCells("漢字漢字", 5), "漢字…");
  assert.equal(cutToCells("abc", 3), "abc");
  assert.equal(cutToCells("abcd", 3), "ab…");
  assert.equal(cutToCells("abcd", 0), "");
});

Deno.test("live view: symbols, depth, dependencies, notes and totals", () => {
  const running = [
    ...SOME_RUN.slice(0, 9),
    ...events({ type: "call-progress", at: 200, invocationId: "b", line: 5, done: 3, total: 10 }),
  ];
  assert.deepEqual(renderLive(stateAfter(running), SIZE), [
    " ● a    G_a  120 ms",
    " ⠋ b    G_b  998 ms    ███░░░░░░░ 3/10",
    " ○ └ c  G_c            ← a, b",
    " ███████░░░░░░░░░░░░░  3 calls: 1 ok, 1 running, 1 waiting, 1.0 s",
  ]);
  assert.deepEqual(renderLive(stateAfter(SOME_RUN), SIZE), [
    " ● a    G_a  120 ms",
    " ✗ b    G_b  1.5 s     first⏎second",
    ' – └ c  G_c            ← a, b  Skipped: depends on "b", which failed',
    " ████████████████████  3 calls: 1 ok, 1 failed, 1 skipped, 1.5 s",
  ]);
});

Deno.test("live view: never wider than the window, never as high, whatever is in it", () => {
  const list: RunEvent[] = [];
  for (let i = 0; i < 60; i++) {
    list.push(...events(
      {
        ...open(i, `漢字_${i}_${"x".repeat(i)}`, i + 1, i > 0 ? [`漢字_${i - 1}_${"x".repeat(i - 1)}`] : []),
      },
      ...(i % 3 === 0 ? [] : [start(i, `漢字_${i}_${"x".repeat(i)}`, i + 1)]),
      {
        type: "call-log",
        at: i,
        invocationId: `漢字_${i}_${"x".repeat(i)}`,
        line: i + 1,
        text: "😀".repeat(200),
      },
    ));
  }
  const state = stateAfter(list);
  state.openLine = "字".repeat(5000);
  for (const columns of [1, 2, 7, 20, 80, 200]) {
    for (const rows of [1, 2, 5, 24, 100]) {
      const frame = renderLive(state, { ...SIZE, columns, rows });
      assert(frame.length <= Math.max(1, rows - 1), `${frame.length} lines in ${rows} rows`);
      for (const line of frame) {
        assert(cellWidth(line) <= columns, `${cellWidth(line)} cells in ${columns} columns: ${line}`);
      }
    }
  }
});

Deno.test("live view: in a small window finished calls give way, and the rest is counted", () => {
  const list = Array.from({ length: 30 }, (_, i) => [open(0, `c${i}`, i + 1), start(0, `c${i}`, i + 1)])
    .flat();
  const done = Array.from(
    { length: 28 },
    (_, i) => ({ type: "call-result" as const, at: 5, invocationId: `c${i}`, line: i + 1, result: 1 }),
  );
  const frame = renderLive(stateAfter(events(...list, ...done)), { ...SIZE, rows: 9 });
  const text = frame.join("\n");
  assert.match(text, /⠋ c28/);
  assert.match(text, /⠋ c29/);
  assert.match(text, /… 26 done/);
});

Deno.test("live view: a cycle has a depth, a thousand calls are drawn quickly", () => {
  const cycle = events(open(0, "a", 1, ["b"]), open(0, "b", 2, ["a"]));
  assert.equal(renderLive(stateAfter(cycle), SIZE).length, 3);
  const many = stateAfter(
    events(...Array.from({ length: 2000 }, (_, i) => open(0, `c${i}`, i + 1, i > 0 ? [`c${i - 1}`] : []))),
  );
  const started = performance.now();
  renderLive(many, SIZE);
  assert(performance.now() - started < 500);
});

Deno.test("error frame: place, source line, caret under the place, hint", () => {
  const source = "calls:\n\tmarkres: { start: x }\n";
  const error = new SourceError('Unknown key "markres"', {
    span: { file: "orrery.yaml", line: 2, column: 2, length: 7 },
    source,
    hint: 'Did you mean "markers"?',
  });
  assert.equal(
    errorFrame(error),
    `orrery.yaml:2:2: error: Unknown key "markres"
  |
2 |  markres: { start: x }
  |  ^^^^^^^
hint: Did you mean "markers"?
`,
  );
  const wide = new SourceError("here", { span: { line: 1, column: 3 }, source: "漢字x" });
  assert.equal(errorFrame(wide), "1:3: error: here\n  |\n1 | 漢字x\n  |     ^\n");
  const long = new SourceError("far", {
    span: { line: 1, column: 5001 },
    source: `${"a".repeat(5000)}b${"c".repeat(5000)}`,
  });
  const [, , shown = "", caret = ""] = errorFrame(long).split("\n");
  assert(shown.length < 120);
  assert.equal(shown.charAt(caret.indexOf("^")), "b");
  assert.equal(errorFrame(new SourceError("no place")), "error: no place\n");
});

Deno.test("results: text as it is, the rest as JSON with a line end", () => {
  assert.equal(resultText("no line end"), "no line end");
  assert.equal(resultText({ a: [1] }), '{\n  "a": [\n    1\n  ]\n}\n');
  assert.equal(resultText(null), "null\n");
  assert.equal(
    jsonLine({ type: "run-end", status: "done", usage: { input: 0, output: 0 }, seq: 1, at: 2, run: "r" })
      .split("\n").length,
    2,
  );
});

Deno.test("durations", () => {
  const shown = [0, 0.42, 9.99, 120.4, 999.6, 1234, 59_960, 125_000].map(duration);
  assert.deepEqual(shown, ["0 ms", "0.4 ms", "10 ms", "120 ms", "1.0 s", "1.2 s", "1 min", "2 min 05 s"]);
});

Deno.test("the flags of refusals are joined into one line that no shell can be tricked by", () => {
  assert.equal(refusalLine([]), undefined);
  assert.equal(refusalLine([""]), undefined);
  assert.equal(
    refusalLine([
      "--allow-write=out",
      "--trust chart",
      "--allow-write=log",
      "--allow-write=out",
      "--trust bars",
    ]),
    "add --allow-write=out,log --trust=chart,bars",
  );
  assert.equal(
    refusalLine(["'--allow-write=a b'", "--trust $(rm -rf x)"]),
    "add '--allow-write=a b' '--trust=$(rm -rf x)'",
  );
});

const GRAPH: CallGraph = {
  nodes: [
    { id: "end", gadgetName: 'A"]; click', state: "ok" },
    { id: "漢字", gadgetName: "<b>#quot;\\n`*x*", state: "broken" },
    { id: "loop", gadgetName: "Loop", state: "cycle" },
    { id: "gone", gadgetName: "", state: "missing" },
  ],
  edges: [
    { from: 0, to: 1, isCyclic: false },
    { from: 2, to: 2, isCyclic: true },
    { from: 3, to: 1, isCyclic: false },
  ],
};

Deno.test("mermaid: no id or name can break the diagram", () => {
  assert.equal(
    graphMermaid(GRAPH),
    `flowchart TD
  n0["end<br/>A#34;#93;#59; click"]
  n1["✗ 漢字<br/>#60;b#62;#35;quot#59;#92;n#96;#42;x#42;"]
  n2["↻ loop<br/>Loop"]
  n3["? gone<br/>never called"]
  n0 --> n1
  n2 -.-> n2
  n3 --> n1
  classDef bad stroke:#c00,color:#c00
  class n1,n2,n3 bad
`,
  );
});

Deno.test("graph as text: the picture with everything as it was written, and the list", async () => {
  const text = await graphText(GRAPH, { columns: 120 });
  for (const shown of ['A"]; click', "✗ 漢字", "<b>#quot;\\n`*x*", "↻ loop", "? gone"]) {
    assert.equal(text.split(shown).length, 3, `${shown} in the picture and in the list:\n${text}`);
  }
  assert.match(text, /^✗ 漢字 +<b>#quot;\\n`\*x\* +← end, gone$/m);
  const boxes = text.split("\n\n")[0]?.split("\n") ?? [];
  const at = boxes.findIndex((line) => line.includes("漢字"));
  assert.equal(
    cellWidth(boxes[at] ?? ""),
    cellWidth(boxes[at + 1] ?? ""),
    "a wide character keeps its box whole",
  );
  const narrow = await graphText(GRAPH, { columns: 10 });
  assert(!narrow.includes("┌"), "no picture where it does not fit");
});

Deno.test("graph as SVG: escaped, and nothing from the network", async () => {
  const svg = await graphSvg(GRAPH);
  assert(svg.startsWith("<svg"));
  assert(svg.includes("A&#34;&#93;; click") || svg.includes("A&#34;]; click"));
  assert(svg.includes("&#60;b&#62;"));
  assert.doesNotMatch(svg, /@import|<script|https?:\/\/(?!www\.w3\.org\/2000\/svg)/);
  assert.match(await graphSvg({ nodes: [], edges: [] }), /^<svg/);
});

Deno.test("graph as text: a hundred calls are a list, drawn at once", async () => {
  const nodes = Array.from(
    { length: 100 },
    (_, i) => ({ id: `c${i}`, gadgetName: "G", state: "ok" as const }),
  );
  const edges = nodes.slice(1).map((_, i) => ({ from: i, to: i + 1, isCyclic: false }));
  const lines = (await graphText({ nodes, edges }, { columns: 120 })).trimEnd().split("\n");
  assert.equal(lines.length, 100);
  assert.match(lines[99] ?? "", /^c99 +G +← c98$/);
});

const ANSWERS = events(
  { type: "run-start", at: 0, kind: "ask" },
  { type: "step-start", at: 0, key: "turn[1]/model", kind: "model", name: "fast", attempt: 1 },
  { type: "text-delta", at: 1, step: "turn[1]/model", text: "I look " },
  { type: "text-delta", at: 2, step: "turn[1]/model", text: "it up.\n" },
  { ...open(3, "a", 2), step: "turn[1]/model" },
  { ...start(4, "a", 2), step: "turn[1]/model" },
  { type: "message", at: 5, step: "turn[1]/model", n: 1, text: "I look it up.\n" },
  { type: "usage", at: 5, step: "turn[1]/model", model: "x/fast", input: 100, output: 20, cost: 0.0012 },
  { type: "step-end", at: 5, key: "turn[1]/model", ms: 5, outcome: {} },
  { type: "call-result", at: 8, step: "turn[1]/model", invocationId: "a", line: 2, result: 1 },
  { type: "step-start", at: 9, key: "turn[2]/model", kind: "model", name: "fast", attempt: 1 },
  { type: "text-delta", at: 10, step: "turn[2]/model", text: "One." },
  { ...open(11, "a", 2), step: "turn[2]/model" },
  { type: "call-skip", at: 12, step: "turn[2]/model", invocationId: "a", line: 2, reason: "no" },
);

Deno.test("plain lines: answers with tokens and cost; calls of one id in two answers are two", () => {
  const lines = new PlainLines({ file: "ask", shownText: "interim" });
  assert.equal(
    ANSWERS.map((event) => lines.text(event)).join(""),
    [
      "I look it up.",
      "  model x/fast  5 ms  100 in, 20 out, $0.0012",
      "  ok    a  G_a  4 ms",
      "One.",
      "  skip  a  G_a",
      "        ask:2: no",
      "",
    ].join("\n"),
  );
  const [end] = events({
    type: "run-end",
    at: 2000,
    status: "failed",
    error: "it broke",
    reason: "provider",
    usage: { input: 100, output: 20 },
  });
  assert.ok(end !== undefined);
  assert.equal(
    lines.text(end),
    "error: it broke\n1 answer: 100 in, 20 out, $0.0012; 2 calls: 1 ok, 1 skipped, 2.0 s\n",
  );
});

Deno.test("interim text: what turns out to be the answer is never told", () => {
  const interim = new InterimText();
  const told = (list: readonly RunEvent[]) => list.map((event) => interim.take(event)).join("");
  assert.equal(told(ANSWERS.slice(0, 4)), "");
  assert.equal(interim.held, "I look it up.\n");
  assert.equal(told(ANSWERS.slice(4, 12)), "I look it up.\n");
  assert.equal(interim.held, "One.");
  const again = new InterimText();
  const [first, second, text] = events(
    { type: "text-delta", at: 0, step: "turn[1]/model", text: "no JSON" },
    { type: "step-start", at: 1, key: "turn[2]/model", kind: "model", name: "m", attempt: 1 },
    { type: "text-delta", at: 2, step: "turn[2]/model", text: "{}" },
  );
  assert.ok(first !== undefined && second !== undefined && text !== undefined);
  assert.deepEqual([again.take(first), again.take(second), again.take(text), again.held], [
    "",
    "no JSON\n",
    "",
    "{}",
  ]);
});

Deno.test("live view: an answer with its calls under it, tokens, cost and totals", () => {
  const state = stateAfter(ANSWERS);
  assert.deepEqual(
    renderLive(state, SIZE),
    [
      " ● x/fast  5 ms  100 in, 20 out, $0.0012",
      " ● └ a  G_a  4 ms",
      " ⠋ fast  991 ms",
      " – └ a  G_a            no",
      " ████████████████████  1 answer: 100 in, 20 out, $0.0012; 2 calls: 1 ok, 1 ski…",
    ],
  );
  updateLive(state, {
    type: "run-end",
    at: 1200,
    status: "stopped",
    usage: { input: 0, output: 0 },
    seq: 9,
    run: "r",
  });
  assert.equal(renderLive(state, SIZE)[2], " ■ fast  1.2 s");
});

Deno.test("live view: a call that waits for a person says so, and what they think about is not its time", () => {
  const asked = {
    step: "call:a",
    subject: "run make",
    permissions: ["--allow-run=make"],
    reason: "why",
  } as const;
  const state = stateAfter(events(
    open(1, "a", 2),
    start(10, "a", 2),
    { type: "permission-ask", at: 30, ...asked },
  ));
  assert.equal(renderLive(state, SIZE)[0], " ? a  G_a  20 ms");
  const [answer, result] = events(
    { type: "permission-answer", at: 930, allowed: true, ...asked },
    { type: "call-result", at: 935, invocationId: "a", line: 2, result: 1 },
  );
  assert.ok(answer !== undefined && result !== undefined);
  updateLive(state, answer);
  updateLive(state, result);
  assert.equal(renderLive(state, SIZE)[0], " ● a  G_a  25 ms");
});

Deno.test("tokens and cost in words", () => {
  assert.equal(usageWords({ input: 0, output: 0 }), "");
  assert.equal(
    usageWords({ input: 10, output: 5, cached: 4, reasoning: 2 }),
    "10 in (4 cached), 5 out (2 thought)",
  );
  assert.deepEqual([0, 12, 1.5, 0.0123, 0.000012, 0.5].map(costWords), [
    "$0.00",
    "$12.00",
    "$1.50",
    "$0.0123",
    "$0.000012",
    "$0.5000",
  ]);
});

Deno.test("a trace is a tree of steps", () => {
  const step = (key: string, more: Partial<StepRecord> = {}): StepRecord => ({
    key,
    kind: "gadget",
    name: "G",
    input: {},
    idempotent: false,
    status: "finished",
    outcome: { ok: "a/b\nc" },
    startedAt: 0,
    endedAt: 12,
    attempt: 1,
    ...more,
  });
  const { outcome: _, endedAt: __, ...open } = step("turn[1]/call:b/c", { status: "started" });
  const tree = traceTree({
    summary: {
      id: "abcd",
      kind: "ask",
      status: "running",
      owned: false,
      startedAt: 0,
      updatedAt: 0,
      steps: 3,
      usage: { input: 100, output: 20 },
    },
    steps: [
      step("turn[1]/model", { kind: "model", name: "x/fast", outcome: { ok: { text: "said" } }, attempt: 2 }),
      step("turn[1]/call:a"),
      open,
    ],
    events: ANSWERS,
  });
  assert.equal(
    tree,
    [
      "abcd  ask  stopped  12 ms  100 in, 20 out",
      "  turn[1]",
      "    done    model  x/fast  12 ms  attempt 2  100 in, 20 out, $0.0012",
      "            said",
      "    done    call:a  G  12 ms",
      "            a/b⏎c",
      "    stopped call:b/c  G",
      "            its end is not known: orrery resume takes --rerun or --skip with its key",
      "",
    ].join("\n"),
  );
});
