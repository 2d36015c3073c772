// A run as a timeline: rows in the order of a tree, each with its time, tokens, cost, input and output. Pages and files show the same rows.
import {
  addUsage,
  type JournalStatus,
  type Json,
  type RunEvent,
  type RunTrace,
  type Usage,
} from "../../core/core.ts";
import type { RunTally } from "../run_tally.ts";
import type { RowKind, RowState, RunRow } from "../rows.ts";
import { keyParts, standing } from "../step_words.ts";
import { type TraceItem, traceItems } from "./items.ts";
import type { TraceValue } from "./values.ts";

/** One line of the timeline. */
export interface TraceRow {
  /** As `orrery fork --from` and `--rerun` name it. */
  readonly key: string;
  /** The key behind that of the row that it lies below. */
  readonly label: string;
  readonly name: string;
  readonly kind: RowKind;
  readonly state: RowState;
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
  /** In the words of its views while it ran. */
  readonly tally: RunTally;
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
  const { items, tally } = traceItems(trace);
  const { value, error, reason }: Partial<RunEnd> =
    trace.events.findLast((event) => event.type === "run-end") ?? {};
  return {
    id,
    kind,
    file,
    status: standing({ status, owned }),
    hasFailed,
    startedAt,
    ms: items.reduce((end, { row: { at, ms = 0 } }) => Math.max(end, at + ms), trace.events.at(-1)?.at ?? 0),
    usage,
    rows: rowsOf(items),
    tally,
    counts: countsOf(items),
    value,
    error,
    reason,
  };
}

type RunEnd = Extract<RunEvent, { readonly type: "run-end" }>;

function countsOf(items: readonly TraceItem[]): TraceCounts {
  const count = (fits: (row: RunRow) => boolean): number => items.filter(({ row }) => fits(row)).length;
  return {
    answers: count(({ kind, ms }) => kind === "model" && ms !== undefined),
    calls: count(({ kind }) => kind === "gadget"),
    failed: count(({ state }) => state === "failed"),
    skipped: count(({ state }) => state === "skipped"),
  };
}

interface Node {
  /** Absent of a group, which is no row. */
  readonly item?: TraceItem;
  readonly key: string;
  readonly part: string;
  readonly children: Node[];
}

function rowsOf(items: readonly TraceItem[]): readonly TraceRow[] {
  return branches(treeOf(items), { depth: 0, above: "" }).flat();
}

/** Each item below the nearest one that its key goes through; parts such as `turn[2]`, which are no items, are groups. */
function treeOf(items: readonly TraceItem[]): readonly Node[] {
  const top: Node[] = [];
  const nodes = new Map(items.map((item) => {
    const { key } = item.row;
    return [item.row, { item, key, part: "", children: [] } as Node] as const;
  }));
  const byKey = new Map<string, Node>();
  for (const [{ key, place, kind }, node] of nodes) {
    if (place === key && kind !== "skip") byKey.set(key, node);
  }
  for (const [row, node] of nodes) {
    let here = (row.turn && nodes.get(row.turn)?.children) ?? top;
    const parts = keyParts(row.place);
    for (const [index, part] of parts.slice(0, -1).entries()) {
      const key = parts.slice(0, index + 1).join("/");
      const known = byKey.get(key);
      if (known === undefined && !part.includes("[")) continue;
      const above = known ?? { key, part, children: [] };
      if (known === undefined) {
        byKey.set(key, above);
        here.push(above);
      }
      here = above.children;
    }
    here.push(node);
  }
  return top;
}

/** A row, and those that lie below it. */
type Branch = readonly [TraceRow, ...TraceRow[]];

interface BranchPlace {
  readonly depth: number;
  /** The key of the row that it lies below. */
  readonly above: string;
}

/** Siblings by their time; a group has that of what is below it. */
function branches(nodes: readonly Node[], place: BranchPlace): readonly Branch[] {
  return nodes.map((node) => branchOf(node, place)).sort(([a], [b]) => a.at - b.at);
}

function branchOf(node: Node, { depth, above }: BranchPlace): Branch {
  const { key, item } = node;
  const below = branches(node.children, { depth: depth + 1, above: key });
  const heads = below.map(([head]) => head);
  const own = item === undefined ? groupOf(node, heads) : rowOf(item);
  const usages = [own, ...heads].flatMap(({ usage }) => usage ?? []);
  const usage = usages.length === 0 ? undefined : usages.reduce(addUsage);
  const label = above !== "" && key.startsWith(`${above}/`) ? key.slice(above.length + 1) : key;
  const rows = below.flat();
  return [{ ...own, label, depth, below: rows.length, usage }, ...rows];
}

type OwnRow = Omit<TraceRow, "label" | "depth" | "below">;

function rowOf(
  { row: { key, name, kind, state, at, ms, attempt, usage }, values, notes }: TraceItem,
): OwnRow {
  return { key, name, kind, state, at, ms, attempt, usage, values: [...values, ...notes] };
}

function groupOf({ key, part }: Node, below: readonly TraceRow[]): OwnRow {
  const at = Math.min(...below.map((row) => row.at));
  const end = Math.max(...below.map((row) => row.at + (row.ms ?? 0)));
  const state = (["running", "stopped"] as const).find((each) => below.some((row) => row.state === each)) ??
    "done";
  const name = part.replace(/^([a-z]+)\[(\d+)\]/, "$1 $2");
  return { key, name, kind: "group", state, at, ms: end - at, attempt: 1, values: [] };
}
