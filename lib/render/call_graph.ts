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
