import type { CallGraph } from "./call_graph.ts";
import { markOf, secondOf } from "./graph_mermaid.ts";
import { graphPicture } from "./graph_picture.ts";
import { printableLine } from "./shown_text.ts";
import { table } from "./table.ts";

/** The graph for a terminal: the picture, when it fits, and below it every call with what it waits for. @param options.tell told why there is no picture */
export async function graphText(
  graph: CallGraph,
  options: { readonly columns: number; readonly tell?: (why: string) => void },
): Promise<string> {
  const picture = await graphPicture(graph, options);
  const list = `${table(rows(graph)).join("\n")}\n`;
  return picture === undefined ? list : `${picture}\n\n${list}`;
}

function rows(graph: CallGraph): string[][] {
  const before: string[][] = graph.nodes.map(() => []);
  for (const { from, to } of graph.edges) before[to]?.push(printableLine(graph.nodes[from]?.id ?? ""));
  return graph.nodes.map((node, index) => {
    const waits = before[index] ?? [];
    const second = secondOf(node);
    return [
      markOf(node) + printableLine(node.id),
      second,
      ...(waits.length === 0 ? [] : [`← ${waits.join(", ")}`]),
    ];
  });
}
