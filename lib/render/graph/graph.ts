/** A call, or a dependency that is never called, as a point of the picture; or a part of a document. */
export interface GraphNode {
  readonly id: string;
  /** The second line of its box; of what is missing, why: empty is "never called". */
  readonly gadgetName: string;
  /** `missing`: some call depends on it, and nobody calls it. */
  readonly state: "ok" | "broken" | "cycle" | "missing";
  /** Default `box`. */
  readonly shape?: "box" | "round" | "file";
}

/** What the picture shows: indexes of nodes, `from` runs before `to`. */
export interface GraphEdge {
  readonly from: number;
  readonly to: number;
  /** Both ends are on a cycle: neither ever runs. */
  readonly isCyclic: boolean;
  /** What stands at the line. */
  readonly label?: string;
}

/** The calls of a file and how they depend on each other. */
export interface CallGraph {
  /** What the nodes are, for messages. Default: calls. */
  readonly what?: string;
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}

/** A graph that can be drawn from top to bottom. */
interface AcyclicGraph {
  readonly graph: CallGraph;
  /** How many nodes its longest way has. */
  readonly depth: number;
  /** The same of the longest way that begins at each node, itself included. */
  readonly heights: readonly number[];
}

/** The graph without the lines that lead back to where they came from, and with one line between two nodes at most. For small graphs. */
export function acyclicGraph(graph: CallGraph): AcyclicGraph {
  const below = Map.groupBy(graph.edges, ({ from }) => from);
  const depths = new Map<number, number | "open">();
  const kept = new Map<string, GraphEdge>();
  const visit = (node: number): number => {
    depths.set(node, "open");
    let deepest = 0;
    for (const edge of below.get(node) ?? []) {
      const known = depths.get(edge.to);
      if (known === "open") continue;
      deepest = Math.max(deepest, known ?? visit(edge.to));
      const pair = `${edge.from} ${edge.to}`;
      if (!kept.has(pair)) kept.set(pair, edge);
    }
    depths.set(node, deepest + 1);
    return deepest + 1;
  };
  const heights = graph.nodes.map((_, index) => {
    const known = depths.get(index);
    return typeof known === "number" ? known : visit(index);
  });
  const edges = new Set(kept.values());
  return {
    graph: { ...graph, edges: graph.edges.filter((edge) => edges.has(edge)) },
    depth: Math.max(0, ...heights),
    heights,
  };
}
