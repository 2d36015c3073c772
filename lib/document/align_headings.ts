import type { DocumentNode } from "../parse/document/tree.ts";

/** Nodes with their headings shifted so that the lowest level among them is this one (documents.md 7.8). */
export function alignHeadings(nodes: readonly DocumentNode[], level: number): readonly DocumentNode[] {
  const levels = nodes.flatMap((node) => node.kind === "heading" ? [node.level] : []);
  const shift = level - levels.reduce((least, each) => Math.min(least, each), Infinity);
  return nodes.map((node) => {
    if (node.kind !== "heading") return node;
    const shifted = node.level + shift;
    return { ...node, level: shifted, source: "#".repeat(shifted) + node.source.slice(node.level) };
  });
}
