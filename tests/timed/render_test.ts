// What is shown of runs, whatever is in them: lines, the live view, frames of errors, graphs, documents and conversations.
import fc from "fast-check";
import assert from "node:assert/strict";
import { messageStream } from "../../lib/cli/conversation/message_stream.ts";
import { LiveFrame, LiveScreen } from "../../lib/cli/run/screen.ts";
import { type Output, type Terminal } from "../../lib/host/terminal/terminal.ts";
import { cellWidth, cutToCells, paintFor } from "../../lib/render/cells.ts";
import { errorFrame } from "../../lib/render/error_frame.ts";
import { type CallGraph } from "../../lib/render/graph/graph.ts";
import { graphMermaid } from "../../lib/render/graph/mermaid.ts";
import { graphSvg, graphText } from "../../lib/render/graph/picture.ts";
import { lastLines, renderDocument, renderLive } from "../../lib/render/frame.ts";
import { DocumentLines, mergedBlock, PlainLines } from "../../lib/render/lines.ts";
import { createRows, grownTail, type RunRows } from "../../lib/render/rows.ts";
import {
  costWords,
  duration,
  InterimText,
  printable,
  printableLine,
  usageWords,
} from "../../lib/render/shown_text.ts";
import { traceTree } from "../../lib/render/trace/tree.ts";
import { slotLines, turnTrace } from "../../lib/render/trace/turn.ts";
import { AskingSteps } from "../../lib/render/turn_texts.ts";
import { type RunEvent, type RunEventBody, SourceError, type StepRecord } from "../../mod.ts";
import { anyText } from "../_any_text.ts";

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

function stateAfter(list: readonly RunEvent[]): RunRows {
  const state = createRows();
  for (const event of list) state.take(event);
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
  const state = createRows();
  const size = { ...SIZE, openLine: evil };
  const frames = list.map((event) => (state.take(event), renderLive(state, size).join("\n"))).join("\n");
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
  const openLine = "字".repeat(5000);
  for (const columns of [1, 2, 7, 20, 80, 200]) {
    for (const rows of [1, 2, 5, 24, 100]) {
      const frame = renderLive(state, { ...SIZE, columns, rows, openLine });
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

Deno.test("durations", () => {
  const shown = [0, 0.42, 9.99, 120.4, 999.6, 1234, 59_960, 125_000].map(duration);
  assert.deepEqual(shown, ["0 ms", "0.4 ms", "10 ms", "120 ms", "1.0 s", "1.2 s", "1 min", "2 min 05 s"]);
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
  state.take({
    type: "run-end",
    at: 1200,
    status: "stopped",
    usage: { input: 0, output: 0 },
    seq: 9,
    run: "r",
  });
  assert.equal(renderLive(state, SIZE)[2], " ■ fast  1.2 s");
});

Deno.test("views: what a model thinks is seen while it comes, and is one line then", () => {
  const key = "turn[1]/model";
  const thinks = (at: number, text: string) => ({ type: "reasoning-delta", at, step: key, text }) as const;
  const list = events(
    { type: "step-start", at: 0, key, kind: "model", name: "fast", attempt: 1 },
    thinks(100, "First\nthe lake"),
    thinks(400, " and \x1b[31m rain"),
  );
  const lines = new PlainLines({ file: "ask" });
  const state = stateAfter(list);
  assert.equal(renderLive(state, SIZE)[0], " ⠋ fast  1.0 s  thinking: the lake and ␛[31m rain");
  const answer = events({ type: "text-delta", at: 500, step: key, text: "Calm." });
  for (const event of answer) state.take(event);
  const folded = "thought for 400 ms, 29 characters";
  assert.equal(renderLive(state, SIZE)[0], ` ⠋ fast  1.0 s  ${folded}`);
  const ended = events({ type: "step-end", at: 600, key, ms: 600 });
  const told = [...list, ...answer, ...ended].map((event) => lines.text(event)).join("");
  assert.equal(told, `Calm.\n  ${folded}\n  model fast  600 ms\n`);
  const inside = "op[3]/turn[1]/model";
  const within = (event: RunEvent): RunEvent =>
    "step" in event ? { ...event, step: inside } : "key" in event ? { ...event, key: inside } : event;
  const op = events({
    type: "step-start",
    at: 0,
    key: "op[3]",
    kind: "step",
    name: "@llm a.md:3",
    attempt: 1,
  });
  const document = stateAfter([...op, ...list.map(within)]);
  assert.deepEqual(renderDocument(document, SIZE).slice(0, 3), [
    " ⠋ @llm a.md:3  1.0 s     fast, thinking",
    "   │ First",
    "   │ the lake and ␛[31m rain",
  ]);
  for (const event of [...answer, ...ended].map(within)) document.take(event);
  assert.equal(renderDocument(document, SIZE)[0], ` ⠋ @llm a.md:3  1.0 s     ${folded}`);
  const documentLines = new DocumentLines();
  const last = [...op, ...list.map(within), ...ended.map(within)].map((event) => documentLines.text(event));
  assert.equal(last.join(""), `  ${folded}\n`);
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
  state.take(answer);
  state.take(result);
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

// What is seen of a document's run in a terminal: the frame and what scrolls away above it, as text, and once in a terminal.

const DOCUMENT_SIZE = { columns: 80, rows: 24, color: false, spinnerFrame: 0, nowMs: 1000 };
const NO_USAGE = { input: 0, output: 0 };

type Told = RunEventBody & { readonly at: number };

const begin = (at: number, key: string, name: string): Told => ({
  type: "step-start",
  at,
  key,
  kind: "step",
  name,
  attempt: 1,
});
const end = (at: number, key: string, error?: string): Told => ({
  type: "step-end",
  at,
  key,
  ms: 1,
  ...(error === undefined ? {} : { error: { message: error } }),
});
const asks = (at: number, key: string): Told => ({ ...begin(at, key, "script/a"), kind: "model" } as Told);
const says = (at: number, step: string, text: string): Told => ({ type: "text-delta", at, step, text });

function documentAfter(
  list: readonly RunEvent[],
  isReused: (key: string) => boolean = () => false,
): RunRows {
  const state = createRows(isReused);
  for (const event of list) state.take(event);
  return state;
}

const frame = (list: readonly RunEvent[], size = DOCUMENT_SIZE): string =>
  renderDocument(documentAfter(list), size).join("\n");

Deno.test("document frame: which operation runs, since when, the model, and the answer as it comes", () => {
  const list = events(
    begin(0, "op[5]", "@shell plan.md:5"),
    says(10, "op[5]/shell", "gone\n"),
    end(120, "op[5]"),
    begin(120, "op[12]", "@llm plan.md:12"),
    asks(120, "op[12]/turn[1]/model"),
    says(500, "op[12]/turn[1]/model", "# Title\n\nFirst"),
    says(600, "op[12]/turn[1]/model", " line\nsecond"),
  );
  assert.equal(
    frame(list),
    ` ● @shell plan.md:5  120 ms
 ⠋ @llm plan.md:12   880 ms    script/a
   │ # Title
   │
   │ First line
   │ second
 2 operations: 1 ok, 1 running; 1.0 s`,
  );
});

Deno.test("document frame: callees below what runs them, skips, jumps, tools, tokens, failures and totals", () => {
  const step = "op[1]/op[3]/turn[1]/model";
  const call = { step, invocationId: "c1", line: 0 } as const;
  const list = events(
    begin(0, "op[1]", "@run plan.md:1"),
    begin(10, "op[1]/op[3]", "@llm sub.md:3"),
    asks(10, step),
    { type: "usage", at: 20, step, model: "script/a", input: 100, output: 20, cost: 0.5 },
    end(20, step),
    { type: "call-open", at: 20, ...call, gadgetName: "Look", dependencies: [] },
    { type: "call-run", at: 20, ...call },
    { type: "call-error", at: 50, ...call, error: "no\nway", code: "failed" },
    { type: "usage", at: 60, step, model: "script/a", input: 10, output: 2, cost: 0.25 },
    end(70, "op[1]/op[3]"),
    end(80, "op[1]"),
    { type: "step-skip", at: 80, step: "op[9]#2", condition: "run-once" },
    { type: "step-skip", at: 80, step: "op[lib/x.md:4]", condition: "run-once" },
    begin(80, "op[10]", "@goto plan.md:10"),
    { type: "jump", at: 80, from: "op[10]", to: "start" },
    end(81, "op[10]"),
    begin(81, "op[14]", "@llm plan.md:14"),
    end(90, "op[14]", "plan.md:14:1: error: @llm: no"),
    { type: "run-end", at: 90, status: "failed", usage: NO_USAGE },
  );
  assert.equal(
    frame(list, { ...DOCUMENT_SIZE, columns: 100 }),
    ` ● @run plan.md:1    80 ms
 ● └ @llm sub.md:3   60 ms     110 in, 22 out, $0.7500
 ✗   └ Look          30 ms     no⏎way
 – line 9            skipped   run-once
 – lib/x.md:4        skipped   run-once
 ● @goto plan.md:10  1 ms      to start
 ✗ @llm plan.md:14   9 ms
 6 operations: 3 ok, 1 failed, 2 skipped; 2 answers: 110 in, 22 out, $0.7500; 90 ms`,
  );
});

Deno.test("document frame: what was reused, and what an interrupt left", () => {
  const list = events(
    begin(0, "op[1]", "@shell plan.md:1"),
    end(3, "op[1]"),
    begin(3, "op[4]", "@llm plan.md:4"),
    says(5, "op[4]/turn[1]/model", "half an ans"),
    { type: "run-end", at: 40, status: "stopped", reason: "interrupted", usage: NO_USAGE },
  );
  const state = documentAfter(list, (key) => key === "op[1]");
  assert.equal(
    renderDocument(state, DOCUMENT_SIZE).join("\n"),
    ` ↺ @shell plan.md:1  reused
 ■ @llm plan.md:4    37 ms
   │ half an ans
 2 operations: 1 reused, 1 stopped; 40 ms`,
  );
});

Deno.test("document frame: in a small window what ended first gives way and is counted; ten thousand are drawn quickly", () => {
  const bodies: Told[] = [];
  for (let i = 1; i <= 10_000; i++) {
    bodies.push(
      begin(i, `op[${i}]`, `@import plan.md:${i}`),
      end(i, `op[${i}]`, i % 5000 === 0 ? "x" : undefined),
    );
  }
  const list = events(...bodies, begin(10_001, "op[10001]", "@llm plan.md:10001"));
  const startedAt = performance.now();
  const state = documentAfter(list);
  const lines = renderDocument(state, { ...DOCUMENT_SIZE, rows: 8, nowMs: 10_002 });
  assert(performance.now() - startedAt < 1000);
  assert.equal(
    lines.join("\n"),
    `   … 9997 ok
 ✗ @import plan.md:5000   0 ms
 ● @import plan.md:9999   0 ms
 ✗ @import plan.md:10000  0 ms
 ⠋ @llm plan.md:10001     1 ms
 10001 operations: 9998 ok, 2 failed, 1 running; 10.0 s`,
  );
});

Deno.test("document frame: never wider than the window, never as high, nothing that a terminal obeys", () => {
  const text = anyText({ maxLength: 200 });
  const body = fc.oneof(
    fc.record({ key: text, name: text }).map(({ key, name }) => begin(1, key, name)),
    text.map((key) => end(2, key)),
    fc.record({ step: text, text }).map(({ step, text }) => says(3, step, text)),
    text.map((condition): Told => ({ type: "step-skip", at: 1, step: "op[1]", condition })),
    text.map((name): Told => asks(1, name)),
  );
  fc.assert(
    fc.property(
      fc.array(body, { maxLength: 60 }),
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 2, max: 40 }),
      (bodies, columns, rows) => {
        const lines = renderDocument(documentAfter(events(...bodies)), { ...DOCUMENT_SIZE, columns, rows });
        assert(lines.length < rows || lines.length === 1);
        for (const line of lines) {
          assert(cellWidth(line) < Math.max(2, columns), JSON.stringify(line));
          assert.doesNotMatch(line, /\p{Cc}|\u202e/u);
        }
      },
    ),
  );
});

Deno.test("the end of a text: broken at blanks, blank lines at the end left out, a carriage return begins anew", () => {
  const last = (tail: string, columns = 10, most = 3) => lastLines(tail, { columns, most });
  assert.deepEqual(last(""), []);
  assert.deepEqual(last("\n\n"), []);
  assert.deepEqual(last("a\nb\nc\nd\n"), ["b", "c", "d"]);
  assert.deepEqual(last("a\n\nb"), ["a", "", "b"]);
  assert.deepEqual(last("one two three four"), ["one two", "three four"]);
  assert.deepEqual(last("0123456789abcdefghijABC"), ["0123456789", "abcdefghij", "ABC"]);
  assert.deepEqual(last("10 %\r20 %\r30 %"), ["30 %"]);
  assert.deepEqual(last("done\r\nnext\r\n"), ["done", "next"]);
  let tail = "";
  for (let i = 0; i < 2000; i++) tail = grownTail(tail, `line ${i} ${"x".repeat(90)}\n`);
  assert(tail.length < 40_000);
  assert.deepEqual(last(tail, 100, 1), [`line 1999 ${"x".repeat(90)}`]);
});

Deno.test("what is merged: by which operation, where, and the text with its headings", () => {
  const merge = (rest: Partial<Extract<RunEvent, { type: "block-merge" }>>): string =>
    mergedBlock(
      {
        type: "block-merge",
        step: "op[1]",
        mode: "append",
        removed: "",
        inserted: "",
        seq: 1,
        at: 1,
        run: "r",
        ...rest,
      },
      { name: "@llm plan.md:1", depth: 0, paint: paintFor(false) },
    );
  assert.equal(
    merge({ inserted: "# Title\n\ntext\x1b[2J\n\n" }),
    "+ @llm plan.md:1\n│ # Title\n│\n│ text␛[2J\n",
  );
  assert.equal(merge({ inserted: "x", target: "a/b" }), "+ @llm plan.md:1  to a/b\n│ x\n");
  assert.equal(merge({ inserted: "x", mode: "prepend" }), "+ @llm plan.md:1  before itself\n│ x\n");
  assert.equal(
    merge({ inserted: "x", mode: "replace", target: "a" }),
    "~ @llm plan.md:1  in place of a\n│ x\n",
  );
  assert.equal(merge({}), "");
  assert.match(merge({ inserted: "y".repeat(9000) }), /\(5000 more characters; --jsonl shows all\)\n$/);
  const painted = mergedBlock(
    {
      type: "block-merge",
      step: "x",
      mode: "append",
      removed: "",
      inserted: "# A\n```\n# no\n```\n",
      seq: 1,
      at: 1,
      run: "r",
    },
    { name: "n", depth: 1, paint: (style, text) => style === "bold" ? `<${text}>` : text },
  );
  assert.equal(painted, "  + n\n  │ <# A>\n  │ ```\n  │ # no\n  │ ```\n");
});

Deno.test("document lines: reused in place of ok; of problems alone, errors and warnings with their places", () => {
  const list = events(
    begin(0, "op[1]", "@shell plan.md:1"),
    end(3, "op[1]"),
    begin(3, "op[4]", "@llm plan.md:4"),
    { type: "warning", at: 4, text: "odd", file: "plan.md", line: 4, column: 1 },
    end(5, "op[4]", "plan.md:4:1: error: @llm: no"),
  );
  const told = (lines: DocumentLines) => list.map((event) => lines.text(event)).join("");
  const problems = "plan.md:4:1: warning: odd\nplan.md:4:1: error: @llm: no\n";
  assert.equal(
    told(new DocumentLines({ isReused: (key) => key === "op[1]" })),
    `  reused @shell plan.md:1  1 ms\n${problems}`,
  );
  assert.equal(told(new DocumentLines()), `  ok    @shell plan.md:1  1 ms\n${problems}`);
  assert.equal(told(new DocumentLines({ problemsOnly: true })), problems);
});

/** A window that hears what is written, and is made another size by the test. */
function testWindow() {
  const written: string[] = [];
  let columns = 80;
  let onResize = (): void => {};
  const output: Output = {
    isTerminal: true,
    closed: false,
    write: (text) => Promise.resolve(void written.push(text)),
    writeNow: (text) => void written.push(text),
  };
  const nothing: Disposable = { [Symbol.dispose]: () => {} };
  const terminal: Terminal = {
    stdout: output,
    stderr: output,
    stdinIsTerminal: false,
    async *stdinChunks() {},
    size: () => ({ columns, rows: 24 }),
    onResize(listener) {
      onResize = listener;
      return nothing;
    },
    onInterrupt: () => nothing,
    onStrayError: () => nothing,
    user: () => Promise.reject(new Error("nobody")),
  };
  return {
    terminal,
    written,
    async resize(to: number): Promise<string> {
      columns = to;
      onResize();
      await Promise.resolve();
      return written.at(-1) ?? "";
    },
  };
}

Deno.test("a frame in a window of another width clears what the terminal has broken anew, and goes up over all of it", async () => {
  const { terminal, written, resize } = testWindow();
  const frame = new LiveFrame(terminal, ({ columns }) => ["x".repeat(60).slice(0, columns - 1), "y"]);
  const UP = (lines: number): string => `\r\x1b[${lines}A`;
  const CLEAR = "\x1b[J";
  assert((await resize(80)).startsWith(`\x1b[?25l\r${CLEAR}\x1b[?7l`));
  assert(
    (await resize(80)).startsWith(`\x1b[?25l${UP(2)}\x1b[?7lx`),
    "nothing flickers while the width stays",
  );
  assert((await resize(30)).startsWith(`\x1b[?25l${UP(3)}${CLEAR}\x1b[?7lx`), "60 cells are two lines of 30");
  frame.writeAbove("above\n");
  assert((await resize(30)).startsWith(`\x1b[?25l${UP(2)}${CLEAR}above\n\x1b[?7lx`));
  await frame.pause();
  assert.equal(written.at(-1), `${UP(2)}${CLEAR}\x1b[?25h`);
  frame.resume();
  await frame.end(() => ["last"], "below\n");
  assert.equal(written.at(-1), `${UP(2)}${CLEAR}last\n\x1b[?25hbelow\n`);
  const count = written.length;
  await frame.end(() => ["again"], "");
  assert.equal(written.length, count);
});

// What a terminal shows of a conversation.

const WHOLE = "… is cut";

Deno.test("slots in a window: a long value is cut to two lines, and it is said where all of it is", () => {
  const lines = slotLines({ "conversation.short": 1, "conversation.long": "x".repeat(10_000) }, {
    columns: 80,
    whole: WHOLE,
  })
    .trimEnd().split("\n");
  assert.deepEqual([lines.length, lines[0], lines[2]], [3, "conversation.short  1", WHOLE]);
  assert.ok(cellWidth(lines[1] ?? "") <= 160);
  assert.match(lines[1] ?? "", /^conversation\.long {3}"x+…$/);
  assert.equal(
    slotLines({ "conversation.a": ["ä", null] }, { columns: 80, whole: WHOLE }),
    'conversation.a  ["ä",null]\n',
  );
  assert.equal(slotLines({}, { columns: 80, whole: WHOLE }), "No slot is filled\n");
  assert.ok(slotLines({ a: "x".repeat(500) }, { columns: 1, whole: WHOLE }).includes(`"${"x".repeat(15)}`));
  assert.doesNotMatch(
    slotLines({ a: "\u001b[2J" }, { columns: 80, whole: WHOLE }),
    new RegExp(String.fromCharCode(27)),
  );
});

Deno.test("a model's line names the step that asks, in branches, on a second visit, and inside of a sub-run", () => {
  const steps = new AskingSteps();
  const shown = (body: RunEventBody): string => {
    const event: RunEvent = { ...body, seq: 1, at: 0, run: "r" };
    const named = steps.named(event);
    return named.type === "step-start" ? named.name : named.type === "usage" ? named.model : named.type;
  };
  const start = (key: string, kind: "step" | "model", name: string) =>
    shown({ type: "step-start", key, kind, name, attempt: 1 });
  const used = (step: string) => shown({ type: "usage", step, model: "m/x", input: 1, output: 1 });
  shown({ type: "run-start", kind: "conversation" });
  start("main/both/left", "step", "left");
  start("main/both/right", "step", "right");
  assert.equal(start("main/both/right/model", "model", "m/x"), "right  m/x");
  assert.equal(start("main/both/left/model", "model", "m/x"), "left  m/x");
  assert.deepEqual([used("main/both/left/model"), used("main/both/right/model")], [
    "left  m/x",
    "right  m/x",
  ]);
  start("main/ask", "step", "ask");
  start("main/ask#2", "step", "ask again");
  assert.equal(start("main/ask#2/model", "model", "m/x"), "ask again  m/x");
  start("main/plan", "step", "plan");
  start("main/plan/op[3]", "step", "@llm plan.md:3");
  assert.equal(start("main/plan/op[3]/turn[1]/model", "model", "m/x"), "plan  m/x");
  assert.equal(start("dialog[1]/turn[1]/model", "model", "m/x"), "m/x");
});

/** What a terminal or a pipe gets of these events. */
async function written(isTerminal: boolean, bodies: readonly RunEventBody[]): Promise<string> {
  let text = "";
  const write = (more: string) => Promise.resolve(void (text += more));
  const stream = messageStream({
    stdout: { isTerminal, closed: false, write, writeNow: () => {} },
    view: { pause: () => Promise.resolve(), resume: () => {} },
    between: "--\n",
  });
  for (const event of eventsOf(bodies)) await stream.event(event, { isOwn: true });
  await stream.end();
  return text;
}

const eventsOf = (bodies: readonly RunEventBody[]): readonly RunEvent[] =>
  bodies.map((body, index) => ({ ...body, seq: index + 1, at: index, run: "r" }));

Deno.test("messages: a terminal gets text as it comes, a pipe whole messages alone", async () => {
  const delta = (step: string, text: string): RunEventBody => ({ type: "text-delta", step, text });
  const message = (step: string, text: string): RunEventBody => ({ type: "message", step, n: 1, text });
  const model: RunEventBody = { type: "step-start", key: "a/model", kind: "model", name: "m", attempt: 1 };
  const taken: RunEventBody[] = [
    delta("a", "Let me see"),
    model,
    delta("a", "It is "),
    delta("a", "six."),
    message("a", "It is six."),
  ];
  assert.equal(await written(true, taken), "Let me see\n--\nIt is six.\n");
  assert.equal(await written(false, taken), "It is six.\n");
  const broken: RunEventBody[] = [
    message("b", "Hi \x1b[2J"),
    delta("a", "half"),
    { type: "run-end", status: "failed", usage: { input: 0, output: 0 } },
  ];
  assert.equal(await written(true, broken), "Hi \u241b[2J\n--\nhalf\n");
  assert.equal(await written(false, broken), "Hi \x1b[2J\n");
  assert.equal(
    await written(true, [delta("a", "Hel"), message("a", "Hello"), message("a", "Hello")]),
    "Hello\n--\nHello\n",
  );
});

Deno.test("the trace of a turn: a line a step, what it did below it", () => {
  const text = turnTrace(eventsOf([
    { type: "run-start", kind: "conversation" },
    { type: "step-start", key: "main/a", kind: "step", name: "a", attempt: 1 },
    { type: "step-start", key: "main/a/model", kind: "model", name: "m/x", attempt: 1 },
    { type: "usage", step: "main/a/model", model: "m/x", input: 3, output: 4 },
    { type: "step-end", key: "main/a/model", ms: 1200, outcome: { text: "line\none" } },
    { type: "message", step: "a", n: 1, text: "hi" },
    { type: "slot-set", step: "a", destination: "session", name: "s", value: [1] },
    { type: "step-end", key: "main/a", ms: 2000, outcome: null },
    { type: "step-skip", step: "b", condition: "conversation.x exists true" },
    { type: "warning", text: "careful" },
    { type: "jump", from: "b", to: "root" },
    { type: "step-start", key: "root", kind: "step", name: "root", attempt: 1 },
    { type: "step-start", key: "root/http", kind: "http", name: "GET x", attempt: 2 },
    { type: "hold", step: "root" },
  ]));
  assert.equal(
    text,
    `  done  a  (main/a)  2.0 s
        model  m/x  1.2 s  line\u23ceone
        3 in, 4 out
        says "hi"
        session.s = [1]
  skipped  b  conversation.x exists true
  warn  careful
  jump  b -> root
  stopped  root
        http  GET x  attempt 2  stopped
  waits for you  root
`,
  );
});

Deno.test("a warning that is very long says once how much of it is missing", async () => {
  const { terminal, written } = testWindow();
  const screen = new LiveScreen(terminal, { file: "x.calls", shownText: "all" });
  const [warning] = events({ type: "warning", at: 1, text: "w".repeat(4_100) });
  if (warning !== undefined) await screen.event(warning);
  await screen.end();
  const told = written.join("").match(/\d+ more characters; --jsonl shows all/g);
  assert.deepEqual(told, ["100 more characters; --jsonl shows all"]);
});
