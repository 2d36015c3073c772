import { idKey } from "../document/block_index.ts";
import type { DocumentNode, DocumentProblem } from "../parse/document_node.ts";

/** Explicit ids that stand in one file twice, in any case (documents.md 5.1). */
export function repeatedIds(nodes: readonly DocumentNode[]): readonly DocumentProblem[] {
  const lines = new Map<string, number>();
  return nodes.flatMap((node): readonly DocumentProblem[] => {
    if (node.kind !== "heading" || node.explicitId === undefined) return [];
    const { line, explicitId } = node;
    const key = idKey(explicitId);
    const first = lines.get(key);
    if (first === undefined) lines.set(key, line);
    return first === undefined ? [] : [{
      severity: "error",
      line,
      column: 1,
      message: `id "${explicitId}" is already used on line ${first}`,
    }];
  });
}
