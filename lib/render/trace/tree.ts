import type { RunEvent, RunSummary, StepRecord, Usage } from "../../core/core.ts";
import { cutToCells } from "../cells.ts";
import { duration, printableLine, usageWords } from "../shown_text.ts";
import { callStep, keyParts, stepWord } from "../step_words.ts";
import { BROKEN_OFF, END_UNKNOWN } from "./values.ts";

/** What a journal has of a run. */
export interface TraceOf {
  readonly summary: RunSummary;
  readonly steps: readonly StepRecord[];
  readonly events: readonly RunEvent[];
}

const OUTCOME_CELLS = 80;
/** As long as the longest word for a state. */
const STATE_CELLS = "stopped".length;

interface Node {
  readonly name: string;
  readonly children: Map<string, Node>;
  step?: StepRecord;
}

type StepEnd = Extract<RunEvent, { readonly type: "step-end" }>;

/** What events say of steps, by key. */
interface Told {
  readonly isAlive: boolean;
  readonly usages: ReadonlyMap<string, Usage>;
  /** Of its last attempt. */
  readonly ends: ReadonlyMap<string, StepEnd>;
  /** What calls told the console, a line each. */
  readonly logs: ReadonlyMap<string, readonly string[]>;
}

/** Further lines of one call are in `--json` and on the page. */
const MOST_LOG_LINES = 20;

/** The steps of a run as a tree by the parts of their keys, each with its time, attempts, tokens and the beginning of its outcome. */
export function traceTree({ summary, steps, events }: TraceOf): string {
  const root: Node = { name: "", children: new Map() };
  for (const step of steps) place(root, step);
  const usages = new Map(
    events.flatMap((event) => event.type === "usage" ? [[event.step, event] as const] : []),
  );
  const told = {
    isAlive: summary.owned,
    usages,
    ends: stepEnds(events),
    logs: logLines(events),
  };
  const lines = [...root.children.values()].flatMap((node) => nodeLines(node, { depth: 0, ...told }));
  return [traceHead(summary, events), ...lines].map((line) => `${line}\n`).join("");
}

function logLines(events: readonly RunEvent[]): ReadonlyMap<string, readonly string[]> {
  const logs = new Map<string, string[]>();
  for (const event of events) {
    if (event.type !== "call-log") continue;
    const key = callStep(event);
    const lines = logs.get(key) ?? [];
    lines.push(...event.text.replace(/\r?\n$/, "").split("\n"));
    logs.set(key, lines);
  }
  return logs;
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
  { id, kind, file, status, owned, usage }: RunSummary,
  events: readonly RunEvent[],
): string {
  const word = status === "running" && !owned ? "stopped" : status;
  const tokens = usageWords(usage) === "" ? [] : [usageWords(usage)];
  const time = duration(events.at(-1)?.at ?? 0);
  return printableLine(
    [`${id}  ${kind}${file === undefined ? "" : ` ${file}`}`, word, time, ...tokens].join("  "),
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
  node: Node,
  { depth, ...told }: Told & { readonly depth: number },
): readonly string[] {
  const indent = "  ".repeat(depth + 1);
  const { step } = node;
  const below = [...node.children.values()].flatMap((child) =>
    nodeLines(child, { ...told, depth: depth + 1 })
  );
  if (step === undefined) return [`${indent}${printableLine(node.name)}`, ...below];
  const usage = told.usages.get(step.key);
  const end = told.ends.get(step.key);
  const head = [
    `${stateOf(step, end, told).padEnd(STATE_CELLS)} ${node.name}`,
    step.name,
    ...(step.endedAt === undefined ? [] : [duration(Math.max(0, step.endedAt - step.startedAt))]),
    ...(step.attempt > 1 ? [`attempt ${step.attempt}`] : []),
    ...(usage === undefined || usageWords(usage) === "" ? [] : [usageWords(usage)]),
  ].join("  ");
  const partial = end?.partial === undefined ? "" : `${BROKEN_OFF}: ${end.partial}`;
  const details = [outcomeWords(step, end, told), partial].filter((words) => words !== "");
  const logged = told.logs.get(step.key) ?? [];
  const more = logged.length - MOST_LOG_LINES;
  details.push(
    ...logged.slice(0, MOST_LOG_LINES).map((line) => `log: ${line}`),
    ...(more > 0 ? [`log: and ${more} more lines`] : []),
  );
  return [
    `${indent}${printableLine(head)}`,
    ...details.map((words) =>
      `${indent}${" ".repeat(STATE_CELLS + 1)}${cutToCells(printableLine(words), OUTCOME_CELLS)}`
    ),
    ...below,
  ];
}

function stateOf({ outcome }: StepRecord, end: StepEnd | undefined, told: Told): string {
  return stepWord(outcome === undefined ? end : "error" in outcome ? outcome : {}, told);
}

function outcomeWords(
  { outcome, idempotent, kind }: StepRecord,
  end: StepEnd | undefined,
  { isAlive }: Told,
): string {
  if (outcome === undefined) {
    return idempotent || isAlive ? end?.error?.message ?? "" : END_UNKNOWN;
  }
  if ("error" in outcome) return outcome.error.message;
  const { ok } = outcome;
  if (kind === "model" && typeof ok === "object" && ok !== null && "text" in ok) return String(ok.text);
  return typeof ok === "string" ? ok : JSON.stringify(ok);
}
