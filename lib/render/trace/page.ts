// A run as a timeline: rows in the order of a tree, each with its time, tokens, cost, input and output. Pages and files show the same rows.
import {
  addUsage,
  type JournalStatus,
  type Json,
  type RunEvent,
  type RunTrace,
  type Usage,
} from "../../core/core.ts";
import { keyParts } from "../step_words.ts";
import { type TraceItem, traceItems, type TraceKind, type TraceState } from "./items.ts";
import type { TraceValue } from "./values.ts";

export type { TraceKind, TraceState } from "./items.ts";
export type { TraceValue } from "./values.ts";

/** One line of the timeline. */
export interface TraceRow {
  /** As `orrery fork --from` and `--rerun` name it. */
  readonly key: string;
  /** The key behind that of the row that it lies below. */
  readonly label: string;
  readonly name: string;
  readonly kind: TraceKind;
  readonly state: TraceState;
  /** 0 at the top. */
  readonly depth: number;
  /** How many of the rows behind it lie below it. */
  readonly below: number;
  /** ms since the start of the run. */
  readonly at: number;
  /** Absent for what has not ended, and for what takes no time. */
  readonly ms?: number;
  readonly attempt: number;
  /** Of its own model calls and those below it. */
  readonly usage?: Usage;
  readonly values: readonly TraceValue[];
}

/** A run, ready to be shown. */
export interface TracePage {
  readonly id: string;
  readonly kind: string;
  readonly file?: string;
  /** A run whose process died is `stopped`. */
  readonly status: JournalStatus;
  /** It is stopped since what it did last has failed. */
  readonly hasFailed?: true;
  /** ms since 1970. */
  readonly startedAt: number;
  /** Of the run's own time: what lies between two processes does not count. */
  readonly ms: number;
  readonly usage: Usage;
  readonly rows: readonly TraceRow[];
  readonly counts: TraceCounts;
  readonly value?: Json;
  readonly error?: string;
  readonly reason?: string;
}

/** What a run did, counted. */
export interface TraceCounts {
  readonly answers: number;
  readonly calls: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The timeline of a run. */
export function tracePage(trace: RunTrace): TracePage {
  const { id, kind, file, status, owned, startedAt, usage, hasFailed } = trace.summary;
  const items = traceItems(trace);
  const end = trace.events.findLast((event) => event.type === "run-end");
  return {
    id,
    kind,
    file,
    status: status === "running" && !owned ? "stopped" : status,
    hasFailed,
    startedAt,
    ms: items.reduce((end, { at, ms = 0 }) => Math.max(end, at + ms), trace.events.at(-1)?.at ?? 0),
    usage,
    rows: rowsOf(items),
    counts: countsOf(items),
    ...endOf(end),
  };
}

function endOf(
  end: Extract<RunEvent, { readonly type: "run-end" }> | undefined,
): Pick<TracePage, "value" | "error" | "reason"> {
  if (end === undefined) return {};
  const { value, error, reason } = end;
  return { value, error, reason };
}

function countsOf(items: readonly TraceItem[]): TraceCounts {
  const count = (fits: (item: TraceItem) => boolean): number => items.filter(fits).length;
  return {
    answers: count(({ kind, ms }) => kind === "model" && ms !== undefined),
    calls: count(({ kind }) => kind === "gadget"),
    failed: count(({ state }) => state === "failed"),
    skipped: count(({ state }) => state === "skipped"),
  };
}

interface Node {
  readonly item: TraceItem;
  readonly children: Node[];
  readonly isGroup: boolean;
}

function rowsOf(items: readonly TraceItem[]): readonly TraceRow[] {
  const rows: TraceRow[] = [];
  for (const node of inOrder(treeOf(items))) addRows(rows, node, { depth: 0, above: "" });
  return rows;
}

/** Each item below the nearest one that its key goes through; parts such as `turn[2]`, which are no items, are groups. */
function treeOf(items: readonly TraceItem[]): readonly Node[] {
  const top: Node[] = [];
  const nodes = new Map<TraceItem, Node>(
    items.map((item) => [item, { item, children: [], isGroup: false }]),
  );
  const byKey = new Map<string, Node>();
  for (const item of items) {
    const node = nodes.get(item);
    if (node !== undefined && item.place === item.key && item.kind !== "skip") byKey.set(item.key, node);
  }
  for (const [item, node] of nodes) {
    const turn = item.turn === undefined ? undefined : nodes.get(item.turn);
    placeOf(item, { byKey, top: turn?.children ?? top }).push(node);
  }
  return top;
}

function placeOf(
  item: TraceItem,
  { byKey, top }: { readonly byKey: Map<string, Node>; readonly top: Node[] },
): Node[] {
  let here = top;
  const parts = keyParts(item.place);
  for (let length = 1; length < parts.length; length++) {
    const key = parts.slice(0, length).join("/");
    const part = parts[length - 1] ?? "";
    const known = byKey.get(key);
    if (known === undefined && !part.includes("[")) continue;
    const node = known ?? newGroup(key, part);
    if (known === undefined) {
      byKey.set(key, node);
      here.push(node);
    }
    here = node.children;
  }
  return here;
}

function newGroup(key: string, part: string): Node {
  const name = part.replace(/^([a-z]+)\[(\d+)\]/, "$1 $2");
  return {
    item: { key, place: key, kind: "group", name, state: "done", at: 0, attempt: 1, values: [], notes: [] },
    children: [],
    isGroup: true,
  };
}

/** Siblings by their time; a group has that of what is below it. */
function inOrder(nodes: readonly Node[]): readonly Node[] {
  for (const node of nodes) {
    const below = inOrder(node.children);
    node.children.splice(0, node.children.length, ...below);
    if (node.isGroup) span(node);
  }
  return [...nodes].sort((a, b) => a.item.at - b.item.at);
}

function span({ item, children }: Node): void {
  const ends = children.map((child) => child.item.at + (child.item.ms ?? 0));
  item.at = children.reduce((first, child) => Math.min(first, child.item.at), Infinity);
  item.ms = ends.reduce((last, end) => Math.max(last, end), item.at) - item.at;
  const states = new Set(children.map((child) => child.item.state));
  item.state = (["running", "stopped"] as const).find((state) => states.has(state)) ?? item.state;
}

/** Gives the usage of the node and of all below it. */
function addRows(
  rows: TraceRow[],
  { item, children }: Node,
  { depth, above }: { readonly depth: number; readonly above: string },
): Usage | undefined {
  const index = rows.length;
  const own: TraceRow = { ...rowOf(item), label: labelOf(item.key, above), depth, below: 0 };
  rows.push(own);
  let usage = item.usage;
  for (const child of children) {
    const below = addRows(rows, child, { depth: depth + 1, above: item.key });
    if (below !== undefined) usage = usage === undefined ? below : addUsage(usage, below);
  }
  rows[index] = { ...own, below: rows.length - index - 1, ...(usage === undefined ? {} : { usage }) };
  return usage;
}

function rowOf(
  { key, name, kind, state, at, ms, attempt, values, notes }: TraceItem,
): Omit<TraceRow, "label" | "depth" | "below"> {
  return {
    key,
    name,
    kind,
    state,
    at,
    ms,
    attempt,
    values: [...values, ...notes],
  };
}

function labelOf(key: string, above: string): string {
  return above !== "" && key.startsWith(`${above}/`) ? key.slice(above.length + 1) : key;
}
