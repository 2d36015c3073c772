// fix/plan/task, and what the second agent is asked
import { definePrompt, ParseError, tags } from "orrery";

/** A graph without a cycle, its edges as pairs. */
const graph = tags({ requiredXmlTags: ["graph"] }).refine(({ xmlTags }) => {
  const edges = xmlTags.graph[0].trim().split(/\s+/).map((edge) => edge.split("->"));
  const cycle = cycleIn(edges.map(([from = "", to = ""]) => [from, to]));
  if (cycle !== undefined) throw new ParseError(`The graph has a cycle: ${cycle.join(" -> ")}`);
  return edges;
});

export const task = definePrompt({
  path: "task",
  template: "Plan this work: {work}\n\nAnswer with <graph>a->b b->c</graph>, an edge for each dependency.",
  parser: graph,
});

export const diagnose = definePrompt({
  path: "diagnose",
  template:
    "An agent answered:\n\n{answer}\n\nThat is wrong: {error}\n\nSay in one sentence what it has to change.",
});

function cycleIn(edges: readonly (readonly [string, string])[]): string[] | undefined {
  const after = Map.groupBy(edges, ([from]) => from);
  const visit = (node: string, path: readonly string[]): string[] | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node];
    for (const [, next] of after.get(node) ?? []) {
      const found = visit(next, [...path, node]);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  for (const [from] of edges) {
    const found = visit(from, []);
    if (found !== undefined) return found;
  }
  return undefined;
}
