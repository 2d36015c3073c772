import { LiveDocument } from "../document/live_document.ts";
import type { LiveNode } from "../document/live_node.ts";
import { BlockReferenceError } from "../document/reference.ts";
import { mayHaveOperations, readDocument } from "../parse/document_file.ts";
import type { ImportFields } from "../parse/operation_fields.ts";
import { firstError } from "./document_callee.ts";
import { insertResult, isSaved, pathOf, readFile, targetOf, warn } from "./document_operation.ts";
import type { Operation } from "./document_operation.ts";
import { OperationError } from "./operation_error.ts";

/** Inserts another document, or blocks of it, with its operations (documents.md 10.2). */
export async function performImport(operation: Operation<ImportFields>): Promise<void> {
  const { fields, known } = operation;
  targetOf(operation);
  const path = pathOf(operation, fields.file);
  refuseCycle(operation, path);
  const text = await readFile(operation, fields.file);
  const file = await readDocument(text, {
    path,
    hasOperations: mayHaveOperations(path) && !isSaved(operation, path),
  });
  const wrong = firstError(file);
  if (wrong !== undefined) throw new OperationError(wrong);
  known.add(file);
  const nodes = imported(file.tree, fields);
  if (nodes.length === 0) return warn(operation, `nothing to import from "${fields.file}"`);
  const inserted = insertResult(operation, {
    nodes,
    by: isSaved(operation, path) ? "saved" : "import",
    from: path,
  });
  for (const node of inserted) operation.importedBy.set(node, operation.node);
}

function imported(
  tree: ConstructorParameters<typeof LiveDocument>[0],
  { blocks, file }: ImportFields,
): readonly LiveNode[] {
  const source = new LiveDocument(tree);
  if (blocks === undefined) return source.all();
  try {
    return source.select(blocks, { hasOperations: true });
  } catch (error) {
    if (!(error instanceof BlockReferenceError)) throw error;
    throw new OperationError(`${error.message} of "${file}"`);
  }
}

/** An operation that imports itself, by way of others too, would never come to an end (documents.md 10.2). */
function refuseCycle({ node, from, importedBy }: Operation, path: string): void {
  const files = [path, from];
  for (let above = importedBy.get(node); above !== undefined; above = importedBy.get(above)) {
    const file = above.origin.file ?? "";
    files.push(file);
    if (above.content.line === node.content.line && file === from) {
      throw new OperationError(`import cycle: ${files.reverse().join(" -> ")}`);
    }
  }
}
