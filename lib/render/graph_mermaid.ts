import type { CallGraph, GraphNode } from "./call_graph.ts";
import { printableLine } from "./printable.ts";

/** How a label is written: what a call file says must not become a part of the diagram's own language. */
export type LabelWriter = (text: string) => string;

const MAX_LABEL = 60;

/**
 * The graph as a Mermaid flowchart, top down. Nodes are called `n0`, `n1` …, so that no id can be a word of Mermaid.
 *
 * @param label default: characters that could end or change a label become `#code;` (Mermaid's entity codes)
 */
export function graphMermaid(
  graph: CallGraph,
  options: { readonly label?: LabelWriter; readonly withCycles?: boolean } = {},
): string {
  const { label = entityLabel, withCycles = true } = options;
  const nodes = graph.nodes.map((node, index) => `  n${index}["${labelOf(node, label)}"]\n`);
  const edges = graph.edges.filter((edge) => withCycles || !edge.isCyclic)
    .map((edge) => `  n${edge.from} ${edge.isCyclic ? "-.->" : "-->"} n${edge.to}\n`);
  return `flowchart TD\n${nodes.join("")}${edges.join("")}${classes(graph.nodes)}`;
}

/** The mark in front of an id that cannot run. */
export function markOf({ state }: GraphNode): string {
  return { ok: "", broken: "✗ ", cycle: "↻ ", missing: "? " }[state];
}

function labelOf(node: GraphNode, label: LabelWriter): string {
  const id = label(markOf(node) + cut(printableLine(node.id)));
  const second = node.state === "missing" ? "never called" : cut(printableLine(node.gadgetName));
  return second === "" ? id : `${id}<br/>${label(second)}`;
}

function cut(text: string): string {
  return text.length > MAX_LABEL ? `${text.slice(0, MAX_LABEL)}…` : text;
}

function entityLabel(text: string): string {
  return text.replace(/[^\p{L}\p{N}_ .,:✗↻?…-]/gu, (character) => `#${character.codePointAt(0)};`);
}

function classes(nodes: readonly GraphNode[]): string {
  const bad = nodes.flatMap((node, index) => node.state === "ok" ? [] : [`n${index}`]);
  return bad.length === 0 ? "" : `  classDef bad stroke:#c00,color:#c00\n  class ${bad.join(",")} bad\n`;
}
