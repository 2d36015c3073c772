import type { CallGraph, GraphNode } from "./graph.ts";
import { printableLine } from "../shown_text.ts";

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
  options: {
    readonly label?: LabelWriter;
    /** Whether what stands at the lines is written. Default true. */
    readonly withLabels?: boolean;
  } = {},
): string {
  const { label = entityLabel, withLabels = true } = options;
  const nodes = graph.nodes.map((node, index) => {
    const [open, close] = SHAPES[node.shape ?? "box"];
    return `  n${index}${open}"${labelOf(node, label)}"${close}\n`;
  });
  const edges = graph.edges.map((edge) => {
    const text = withLabels && edge.label !== undefined ? `|${label(cut(printableLine(edge.label)))}|` : "";
    return `  n${edge.from} ${edge.isCyclic ? "-.->" : "-->"}${text} n${edge.to}\n`;
  });
  return `flowchart TD\n${nodes.join("")}${edges.join("")}${classes(graph.nodes)}`;
}

const SHAPES = { box: ["[", "]"], round: ["([", "])"], file: ["[[", "]]"] } as const;

/** The mark in front of an id that cannot run. */
export function markOf({ state }: GraphNode): string {
  return { ok: "", broken: "✗ ", cycle: "↻ ", missing: "? " }[state];
}

function labelOf(node: GraphNode, label: LabelWriter): string {
  return labelLines(node).map(label).join("<br/>");
}

/** What stands in the box of a node. */
export function labelLines(node: GraphNode): readonly string[] {
  const second = cut(secondOf(node));
  return [markOf(node) + cut(printableLine(node.id)), ...(second === "" ? [] : [second])];
}

/** The second line of a box. */
export function secondOf({ state, gadgetName }: GraphNode): string {
  return state === "missing" && gadgetName === "" ? "never called" : printableLine(gadgetName);
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
