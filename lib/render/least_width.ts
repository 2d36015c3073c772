// The text layout of beautiful-mermaid puts what nothing leads to into the first row, and every other node into the row below the first
// node that leads to it, each behind those that are there. A column is as wide as its widest box.

import type { CallGraph } from "./call_graph.ts";
import { cellWidth } from "./cells.ts";
import { labelLines } from "./graph_mermaid.ts";

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
