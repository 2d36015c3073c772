import { acyclicGraph } from "./acyclic_graph.ts";
import type { CallGraph } from "./call_graph.ts";

/** The layout takes more than its square: 100 nodes are a second, 200 ten. */
const MAX_NODES = 150;

/** Of the lines that pass each row, the squares together: the layout tries their orders. This many take up to two seconds. */
const MAX_TANGLE = 100_000;

/** Why a graph cannot be drawn as SVG in time: the end of a sentence; undefined when it can. */
export function svgProblem(graph: CallGraph): string | undefined {
  const { nodes, edges, what = "calls" } = graph;
  if (nodes.length > MAX_NODES) return `${nodes.length} ${what} as SVG, at most ${MAX_NODES}`;
  return tangleOf(graph) > MAX_TANGLE
    ? `${edges.length} lines between ${nodes.length} ${what} as SVG, too many pass each other`
    : undefined;
}

function tangleOf(graph: CallGraph): number {
  const { heights } = acyclicGraph(graph);
  const passing: number[] = [];
  for (const { from, to } of graph.edges) {
    const [low = 0, high = 0] = [heights[from] ?? 0, heights[to] ?? 0].sort((a, b) => a - b);
    for (let row = low; row < high; row++) passing[row] = (passing[row] ?? 0) + 1;
  }
  const squares = passing.reduce((sum, lines) => sum + lines * lines, 0);
  const hasLabels = graph.edges.some(({ label }) => label !== undefined); // which have rows of their own
  return hasLabels ? 2 * squares : squares;
}
