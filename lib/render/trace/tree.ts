import type { RunEvent, RunSummary, StepRecord } from "../../core/core.ts";
import { cutToCells } from "../cells.ts";
import { duration, printableLine, thoughtWords, usageWords, withUsage } from "../shown_text.ts";
import { keyParts, standing } from "../step_words.ts";
import { type TraceItem, traceItems, type TraceOf } from "./items.ts";
import { BROKEN_OFF, wordsText } from "./values.ts";

const OUTCOME_CELLS = 80;
/** As long as the longest word for a state. */
const STATE_CELLS = "stopped".length;

interface Node {
  readonly name: string;
  readonly children: Map<string, Node>;
  step?: StepRecord;
}

type StepEnd = Extract<RunEvent, { readonly type: "step-end" }>;

/** Further lines of one call are in `--json` and on the page. */
const MOST_LOG_LINES = 20;

/** The steps of a run as a tree by the parts of their keys, each with its time, attempts, tokens and the beginning of its outcome. */
export function traceTree(trace: TraceOf): string {
  const root: Node = { name: "", children: new Map() };
  for (const step of trace.steps) place(root, step);
  const items = new Map(traceItems(trace).items.map((item) => [item.row.key, item]));
  const lines = [...root.children.values()].flatMap((node) => nodeLines(node, { depth: 0, items }));
  return [traceHead(trace.summary, trace.events), ...lines].map((line) => `${line}\n`).join("");
}

/** How steps have ended, by key; not one that has begun anew. */
export function stepEnds(events: readonly RunEvent[]): ReadonlyMap<string, StepEnd> {
  const ends = new Map<string, StepEnd>();
  for (const event of events) {
    if (event.type === "step-end") ends.set(event.key, event);
    else if (event.type === "step-start") ends.delete(event.key);
  }
  return ends;
}

/** The run in one line: what it was, how it stands, and what it took. */
export function traceHead(
  { id, kind, file, usage, ...stands }: RunSummary,
  events: readonly RunEvent[],
): string {
  const tokens = usageWords(usage) === "" ? [] : [usageWords(usage)];
  const time = duration(events.at(-1)?.at ?? 0);
  return printableLine(
    [`${id}  ${kind}${file === undefined ? "" : ` ${file}`}`, standing(stands), time, ...tokens].join("  "),
  );
}

function place(root: Node, step: StepRecord): void {
  let here = root;
  for (const part of keyParts(step.key)) {
    const next = here.children.get(part) ?? { name: part, children: new Map() };
    here.children.set(part, next);
    here = next;
  }
  here.step = step;
}

function nodeLines(
  { name, children, step }: Node,
  { depth, items }: { readonly depth: number; readonly items: ReadonlyMap<string, TraceItem> },
): readonly string[] {
  const indent = "  ".repeat(depth + 1);
  const below = [...children.values()].flatMap((child) => nodeLines(child, { depth: depth + 1, items }));
  const item = step && items.get(step.key);
  if (step === undefined || item === undefined) return [`${indent}${printableLine(name)}`, ...below];
  const { state, answer, thought } = item.row;
  const head = [
    `${state.padEnd(STATE_CELLS)} ${name}`,
    step.name,
    ...(step.endedAt === undefined ? [] : [duration(Math.max(0, step.endedAt - step.startedAt))]),
    ...(step.attempt > 1 ? [`attempt ${step.attempt}`] : []),
  ].join("  ");
  const noted = (title: string): string => item.notes.find((note) => note.title === title)?.text ?? "";
  const partial = noted(BROKEN_OFF) === "" ? "" : `${BROKEN_OFF}: ${noted(BROKEN_OFF)}`;
  const thoughts = thought === undefined ? "" : thoughtWords(thought);
  const details = [thoughts, outcomeWords(step, item), noted("stopped"), partial].filter((words) =>
    words !== ""
  );
  const logged = noted("log") === "" ? [] : noted("log").split("\n");
  const more = logged.length - MOST_LOG_LINES;
  details.push(
    ...logged.slice(0, MOST_LOG_LINES).map((line) => `log: ${line}`),
    ...(more > 0 ? [`log: and ${more} more lines`] : []),
  );
  return [
    `${indent}${printableLine(withUsage(head, { usage: answer, before: "  " }))}`,
    ...details.map((words) =>
      `${indent}${" ".repeat(STATE_CELLS + 1)}${cutToCells(printableLine(words), OUTCOME_CELLS)}`
    ),
    ...below,
  ];
}

function outcomeWords({ outcome, kind }: StepRecord, { values, notes }: TraceItem): string {
  if (outcome === undefined) {
    const isUnknown = notes.some(({ title }) => title === "stopped");
    return isUnknown ? "" : values.findLast(({ title }) => title === "error")?.text ?? "";
  }
  if ("error" in outcome) return outcome.error.message;
  const { ok } = outcome;
  if (kind === "model" && typeof ok === "object" && ok !== null && "text" in ok) return String(ok.text);
  return typeof ok === "string" ? ok : wordsText(ok) ?? JSON.stringify(ok);
}
