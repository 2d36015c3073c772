/** A call, or a dependency that is never called, as a point of the picture. */
export interface GraphNode {
  readonly id: string;
  readonly gadgetName: string;
  /** `missing`: some call depends on it, and nobody calls it. */
  readonly state: "ok" | "broken" | "cycle" | "missing";
}

/** What the picture shows: indexes of nodes, `from` runs before `to`. */
export interface GraphEdge {
  readonly from: number;
  readonly to: number;
  /** Both ends are on a cycle: neither ever runs. */
  readonly isCyclic: boolean;
}

/** The calls of a file and how they depend on each other. */
export interface CallGraph {
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
}
