// What is seen of a document's run in a terminal: the frame and what scrolls away above it, as text, and once in a terminal.
import fc from "fast-check";
import assert from "node:assert/strict";
import type { RunEvent, RunEventBody } from "../../../mod.ts";
import { LiveFrame } from "../../../lib/cli/run/screen.ts";
import type { Output, Terminal } from "../../../lib/host/terminal/terminal.ts";
import { cellWidth, paintFor } from "../../../lib/render/cells.ts";
import { lastLines, renderDocument } from "../../../lib/render/document/frame.ts";
import { DocumentLines, mergedBlock } from "../../../lib/render/document/lines.ts";
import {
  type DocumentState,
  documentState,
  grownTail,
  updateDocument,
} from "../../../lib/render/document/state.ts";
import { testProject } from "../../_project.ts";
import { atTerminal, noTerminal } from "../../_pty.ts";

const SIZE = { columns: 80, rows: 24, color: false, spinnerFrame: 0, nowMs: 1000 };
const NO_USAGE = { input: 0, output: 0 };

type Told = RunEventBody & { readonly at: number };

function events(...bodies: readonly Told[]): readonly RunEvent[] {
  return bodies.map((body, index) => ({ ...body, seq: index + 1, run: "r" }));
}

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

function stateAfter(
  list: readonly RunEvent[],
  isReused: (key: string) => boolean = () => false,
): DocumentState {
  const state = documentState();
  for (const event of list) updateDocument(state, event, isReused);
  return state;
}

const frame = (list: readonly RunEvent[], size = SIZE): string =>
  renderDocument(stateAfter(list), size).join("\n");

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
    frame(list, { ...SIZE, columns: 100 }),
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
  const state = stateAfter(list, (key) => key === "op[1]");
  assert.equal(
    renderDocument(state, SIZE).join("\n"),
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
  const state = stateAfter(list);
  const lines = renderDocument(state, { ...SIZE, rows: 8, nowMs: 10_002 });
  assert(performance.now() - startedAt < 1000);
  assert(state.rows.length <= 2000, "rows that nobody will see are not kept");
  assert.equal(
    lines.join("\n"),
    `   … 9996 ok, 1 failed
 ● @import plan.md:9998  0 ms
 ● @import plan.md:9999  0 ms
 ✗ @import plan.md:10000  0 ms
 ⠋ @llm plan.md:10001     1 ms
 10001 operations: 9998 ok, 2 failed, 1 running; 10.0 s`.replace("9998  0", "9998   0").replace(
      "9999  0",
      "9999   0",
    ),
  );
});

Deno.test("document frame: never wider than the window, never as high, nothing that a terminal obeys", () => {
  const text = fc.string({ unit: "binary", maxLength: 200 });
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
        const lines = renderDocument(stateAfter(events(...bodies)), { ...SIZE, columns, rows });
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

const PLAN = `# Plan

@shell
prompt: "echo one; sleep 0.4; echo two"

@llm
prompt: Ask

@shell
prompt: exit 3
on-error: stop
`;

Deno.test("in a terminal: what comes scrolls above the frame, the last state stays; with NO_COLOR there are lines", async () => {
  const why = await noTerminal();
  if (why !== undefined) return console.log(`not run here: ${why}`);
  await using project = await testProject({
    "orrery.yaml": "models: { default: script/a.yaml }\n",
    "a.yaml": "- { chunks: [An, ' answer'], delayMs: 100 }\n",
    "plan.md": PLAN,
  });
  const live = atTerminal(["run", "plan.md", "--allow-run", "--ephemeral"], {
    cwd: project.folder,
    env: { ...project.env, NO_COLOR: "" },
  });
  await live.until("@shell plan.md:3");
  await live.until("│ one");
  await live.until("two");
  const { code, screen } = await live.end();
  assert.equal(code, 1);
  // deno-lint-ignore no-control-regex
  const LOOKS = /\x1b\[[\d;?]*[a-zA-Z]/g;
  const plain = screen.replaceAll(LOOKS, "");
  assert.match(plain, /\+ @llm plan\.md:6\n│ # LLM response block\n│ An answer\n/);
  assert.match(plain, /plan\.md:9:1: error: @shell: command exited with code 3\n/);
  const last = plain.slice(plain.lastIndexOf(" ● @shell plan.md:3"));
  assert.match(
    last,
    /^ ● @shell plan\.md:3 .*\n ● @llm plan\.md:6 .*\n ✗ @shell plan\.md:9 .*\n 3 operations: 2 ok, 1 failed; 1 answer/,
  );
  assert(screen.lastIndexOf("\x1b[?25h") > screen.lastIndexOf("\x1b[?25l"), "the cursor is back");

  const lines = atTerminal(["run", "plan.md", "--allow-run", "--ephemeral"], {
    cwd: project.folder,
    env: project.env,
  });
  const without = await lines.end();
  assert.equal(without.code, 1);
  assert(!without.screen.includes("\x1b"), without.screen);
  assert.match(without.screen, /^ {2}ok {4}@shell plan\.md:3 {2}/m);
});
