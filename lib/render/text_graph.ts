// The text layout of beautiful-mermaid does not come to an end for every graph: a line into a node of the first row, which only nodes can
// be that stand before those that lead to them, has no way there, and it looks for one in a plane without bounds.

import { acyclicGraph } from "./acyclic_graph.ts";
import type { CallGraph } from "./call_graph.ts";
import { leastWidth } from "./least_width.ts";
import { orderedGraph } from "./ordered_graph.ts";

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
