// The text layout of beautiful-mermaid does not come to an end for every graph: a line into a node of the first row, which only nodes can
// be that stand before those that lead to them, has no way there, and it looks for one in a plane without bounds.
import { acyclicGraph, type CallGraph } from "./graph.ts";
import { cellWidth } from "../cells.ts";
import { labelLines } from "./mermaid.ts";

/** Beyond this many nodes nobody could follow the lines of a picture as text. */
const MAX_NODES = 40;

/** Deeper pictures have rows that the layout has no number for: it looks for a way to them without end. */
const MAX_ROWS = 24;

/** The layout looks for a way for each line: this many take half a second. */
const MAX_LINES = 120;

/** The graph as the text layout can draw it, or why it cannot. Edges of a cycle are left out. @param options.gap cells between boxes */
export function textGraph(
  graph: CallGraph,
  { columns, gap }: { readonly columns: number; readonly gap: number },
): { readonly graph: CallGraph } | { readonly problem: string } {
  const { nodes, what = "calls" } = graph;
  if (nodes.length > MAX_NODES) {
    return { problem: `it shows at most ${MAX_NODES} ${what}, these are ${nodes.length}` };
  }
  const lines = graph.edges.filter(({ isCyclic }) => !isCyclic);
  const acyclic = acyclicGraph({ ...graph, edges: lines });
  if (acyclic.depth > MAX_ROWS) {
    return { problem: `it shows at most ${MAX_ROWS} ${what} below each other, these are ${acyclic.depth}` };
  }
  const { length } = acyclic.graph.edges;
  if (length > MAX_LINES) {
    return { problem: `it shows at most ${MAX_LINES} lines between ${what}, these have ${length}` };
  }
  const ordered = orderedGraph(acyclic.graph);
  return leastWidth(ordered, gap) > columns ? tooWide(columns) : { graph: ordered };
}

/** What is wrong with a picture that is wider than the window. */
export function tooWide(columns: number): { readonly problem: string } {
  return { problem: `it does not fit in ${columns} columns` };
}

/**
 * The graph with each node behind all that lead to it; where they stand so already, they stay. For small graphs without cycles.
 */
export function orderedGraph(graph: CallGraph): CallGraph {
  const above = graph.nodes.map((): number[] => []);
  for (const { from, to } of graph.edges) above[to]?.push(from);
  const seen = new Set<number>();
  const order: number[] = [];
  const place = (node: number): void => {
    if (seen.has(node)) return;
    seen.add(node);
    above[node]?.forEach(place);
    order.push(node);
  };
  for (const node of graph.nodes.keys()) place(node);
  const places = new Map(order.map((node, at) => [node, at]));
  const at = (node: number): number => places.get(node) ?? node;
  return {
    ...graph,
    nodes: order.flatMap((node) => graph.nodes[node] ?? []),
    edges: graph.edges.map((edge) => ({ ...edge, from: at(edge.from), to: at(edge.to) })),
  };
}

// The text layout of beautiful-mermaid puts what nothing leads to into the first row, and every other node into the row below the first
// node that leads to it, each behind those that are there. A column is as wide as its widest box.

const BORDERS = 2;

/** The cells that a picture as text takes at least: known before it is drawn. @param graph as `orderedGraph` gives it @param gap between boxes */
export function leastWidth({ nodes, edges }: CallGraph, gap: number): number {
  const below = nodes.map((): number[] => []);
  for (const { from, to } of edges) below[from]?.push(to);
  const rows = new Map<number, number>();
  const counts = new Map<number, number>();
  const widths: number[] = [];
  const place = (node: number, row: number): void => {
    const column = counts.get(row) ?? 0;
    rows.set(node, row);
    counts.set(row, column + 1);
    const lines = nodes[node] === undefined ? [] : labelLines(nodes[node]);
    widths[column] = Math.max(widths[column] ?? 0, ...lines.map((line) => cellWidth(line) + BORDERS));
  };
  const isBelow = new Set(edges.map(({ to }) => to));
  for (const node of nodes.keys()) if (!isBelow.has(node)) place(node, 0);
  for (const [node, targets] of below.entries()) {
    for (const to of targets) if (!rows.has(to)) place(to, (rows.get(node) ?? 0) + 1);
  }
  return widths.reduce((sum, width) => sum + width + gap, -gap);
}
