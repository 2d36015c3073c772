import type { RunEvent, RunEventBody } from "../mod.ts";
// Events as runs have told them: a call file that fails, a document with a tool, two turns of a conversation.

/** The events with the fields that all of them have: `seq` from 1, 10 ms between two. */
export function recorded(bodies: readonly RunEventBody[]): readonly RunEvent[] {
  return bodies.map((body, index) => ({ ...body, seq: index + 1, at: index * 10, run: "run1" }));
}

const NO_USAGE = { input: 0, output: 0 };

/** Two calls that run side by side, one of which fails, and one that waits for both. */
export const CALLS_RUN: readonly RunEvent[] = recorded([
  { type: "run-start", kind: "calls", file: "report.calls" },
  { type: "text-delta", step: "source", text: "Two regions.\n" },
  { type: "call-open", invocationId: "north", gadgetName: "ReadFile", dependencies: [], line: 3 },
  { type: "call-run", invocationId: "north", line: 3 },
  { type: "call-open", invocationId: "south", gadgetName: "ReadFile", dependencies: [], line: 7 },
  { type: "call-run", invocationId: "south", line: 7 },
  { type: "text-delta", step: "source", text: "\n" },
  { type: "call-log", invocationId: "north", line: 3, text: "opened" },
  { type: "call-progress", invocationId: "north", line: 3, done: 1, total: 2 },
  {
    type: "call-open",
    invocationId: "sum",
    gadgetName: "Calculate",
    dependencies: ["north", "south"],
    line: 11,
  },
  { type: "text-delta", step: "source", text: "And a sum.\n" },
  { type: "call-result", invocationId: "north", line: 3, result: { revenue: 18 } },
  { type: "call-error", invocationId: "south", line: 7, error: "south.json is not there", code: "failed" },
  { type: "call-skip", invocationId: "sum", line: 11, reason: "south has failed" },
  { type: "run-end", status: "failed", value: null, error: "a call failed", usage: NO_USAGE },
]);

const FIRST = "op[4]/turn[1]/model";
const SECOND = "op[4]/turn[2]/model";

/** An operation whose model calls a tool and then writes a block, while a tool's text is merged. */
export const DOCUMENT_RUN: readonly RunEvent[] = recorded([
  { type: "run-start", kind: "document", file: "plan.md" },
  { type: "step-start", key: "op[4]", kind: "step", name: "@llm plan.md:4", attempt: 1 },
  { type: "step-start", key: FIRST, kind: "model", name: "script/a.yml", attempt: 1 },
  { type: "message", step: FIRST, n: 1, text: "" },
  { type: "usage", step: FIRST, model: "script/a.yml", input: 90, output: 12, cost: 0.001 },
  { type: "step-end", key: FIRST, ms: 20, outcome: { text: "" } },
  {
    type: "call-open",
    step: FIRST,
    invocationId: "call_1",
    gadgetName: "ReadFile",
    dependencies: [],
    line: 0,
  },
  { type: "call-run", step: FIRST, invocationId: "call_1", line: 0 },
  { type: "call-result", step: FIRST, invocationId: "call_1", line: 0, result: "lamp 4" },
  {
    type: "block-merge",
    step: "op[4]/turn[1]/call:call_1",
    mode: "append",
    removed: "",
    inserted: "# Note\nlamp 4",
  },
  { type: "step-start", key: SECOND, kind: "model", name: "script/a.yml", attempt: 1 },
  { type: "text-delta", step: SECOND, text: "Two " },
  { type: "text-delta", step: SECOND, text: "updates" },
  { type: "text-delta", step: SECOND, text: ".\n" },
  { type: "message", step: SECOND, n: 1, text: "Two updates.\n" },
  { type: "usage", step: SECOND, model: "script/a.yml", input: 120, output: 22, cost: 0.002 },
  { type: "step-end", key: SECOND, ms: 50, outcome: { text: "Two updates.\n" } },
  {
    type: "block-merge",
    step: "op[4]",
    mode: "replace",
    target: "facts",
    removed: "# Facts\n",
    inserted: "# Facts\nTwo updates.",
  },
  { type: "step-end", key: "op[4]", ms: 170 },
  { type: "step-start", key: "op[9]", kind: "step", name: "@return plan.md:9", attempt: 1 },
  { type: "step-end", key: "op[9]", ms: 10 },
  {
    type: "run-end",
    status: "done",
    value: "# Facts\nTwo updates.",
    document: "# Plan\n",
    usage: { input: 210, output: 34, cost: 0.003 },
  },
]);

/** Two turns: the agent asks, a model finds a slot, the agent reads back. */
export const CONVERSATION_RUN: readonly RunEvent[] = recorded([
  { type: "run-start", kind: "conversation", file: "booking.agent.yml" },
  { type: "step-start", key: "main/welcome", kind: "step", name: "welcome", attempt: 1 },
  { type: "message", step: "welcome", n: 1, text: "Which bikes?" },
  { type: "step-end", key: "main/welcome", ms: 5, outcome: null },
  { type: "hold", step: "welcome" },
  { type: "run-end", status: "held", value: "Which bikes?", usage: NO_USAGE },
  { type: "run-start", kind: "conversation", file: "booking.agent.yml" },
  { type: "step-start", key: "main/find", kind: "step", name: "find", attempt: 1 },
  { type: "step-start", key: "main/find/model", kind: "model", name: "script/b.yml", attempt: 1 },
  { type: "text-delta", step: "main/find/model", text: '{"number":' },
  { type: "text-delta", step: "main/find/model", text: "2}" },
  { type: "step-end", key: "main/find/model", ms: 20, outcome: { text: '{"number":2}' } },
  { type: "slot-set", step: "find", destination: "conversation", name: "number", value: 2 },
  { type: "step-end", key: "main/find", ms: 30, outcome: { action: "continue" } },
  { type: "step-skip", step: "give-up", condition: "conversation.rounds greater-than 3" },
  { type: "jump", from: "find", to: "read-back" },
  { type: "step-start", key: "main/read-back", kind: "step", name: "read-back", attempt: 1 },
  { type: "text-delta", step: "read-back", text: "Two city " },
  { type: "text-delta", step: "read-back", text: "bikes, then." },
  { type: "message", step: "read-back", n: 3, text: "Two city bikes, then." },
  { type: "step-end", key: "main/read-back", ms: 40, outcome: null },
  { type: "hold", step: "read-back" },
  { type: "run-end", status: "held", value: "Two city bikes, then.", usage: NO_USAGE },
]);
