import type { CallGraph } from "./call_graph.ts";

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
