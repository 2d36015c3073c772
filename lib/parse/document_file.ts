import { byPlace } from "../core/by_place.ts";
import { extname } from "node:path";
import { parseDocument } from "./document.ts";
import type { DocumentProblem, DocumentTree, OperationNode } from "./document_node.ts";
import { readDocumentSettings } from "./document_settings.ts";
import type { DocumentSettings, OperationFields } from "./operation_fields.ts";
import { readOperation } from "./read_operation.ts";
import { findCutValues } from "./yaml_tags.ts";

/** Whether the operations of an imported file count, by its name (documents.md 10.2). */
export function mayHaveOperations(path: string): boolean {
  return extname(path) === ".md";
}

/** Bytes of one document (documents.md 14). */
export const MAX_DOCUMENT_BYTES = 16 * 1024 * 1024;

/** A document with what its front matter and its operations say. */
export interface DocumentFile {
  /** Relative to the project root where it lies inside, with `/`; else absolute. Messages name it so. */
  readonly path: string;
  readonly text: string;
  readonly tree: DocumentTree;
  readonly settings: DocumentSettings;
  /** Of every operation that could be read. */
  readonly operations: ReadonlyMap<OperationNode, OperationFields>;
  /** In the order of the lines. */
  readonly problems: readonly DocumentProblem[];
}

/**
 * Reads a document.
 *
 * @param options.hasOperations false: operation lines are text, as in every imported file that is no `.md`. Default true.
 */
export async function readDocument(
  text: string,
  { path, hasOperations = true }: { readonly path: string; readonly hasOperations?: boolean },
): Promise<DocumentFile> {
  const tree = parseDocument(text, { file: path, operations: hasOperations });
  const [first] = tree.nodes;
  const front = first?.kind === "front-matter" ? first : undefined;
  const { settings, problems } = await readDocumentSettings(front);
  const found: DocumentProblem[] = [...tree.problems, ...problems];
  const operations = new Map<OperationNode, OperationFields>();
  if (front !== undefined) found.push(...await cutIn(front.yaml, 1));
  for (const node of tree.nodes) {
    if (node.kind !== "operation") continue;
    const { source, line } = node;
    found.push(...await cutIn(source.slice(source.indexOf("\n") + 1), line));
    const read = await readOperation(node);
    found.push(...read.problems);
    if (read.fields !== undefined) operations.set(node, read.fields);
  }
  found.sort(byPlace);
  return { path, text, tree, settings, operations, problems: found };
}

async function cutIn(yaml: string, linesAbove: number): Promise<readonly DocumentProblem[]> {
  return (await findCutValues(yaml)).map(({ line, ...cut }) => ({
    ...cut,
    line: line + linesAbove,
    severity: "warning",
  }));
}
