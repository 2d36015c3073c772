import type { DocumentFile, ResultNodes } from "../parse/document/document.ts";
import type { DocumentProblem, OperationNode } from "../parse/document/tree.ts";
import type { OperationFields } from "../parse/document/operation.ts";
import { readOperation } from "../parse/document/read_operation.ts";
import { OperationError } from "./operation_error.ts";

/** What the operations of a running document say: its own, those of imported files, and those that were generated. */
export class KnownOperations {
  /** By what their nodes say: a node may be cut at its ends where it is inserted. */
  readonly #fields = new Map<string, OperationFields>();

  constructor(file: DocumentFile) {
    this.add(file);
  }

  /** Those of a file. */
  add({ operations }: DocumentFile): void {
    for (const [node, fields] of operations) this.#fields.set(keyOf(node), fields);
  }

  of(node: OperationNode): OperationFields {
    const fields = this.maybeOf(node);
    if (fields === undefined) throw new OperationError("its parameters could not be read");
    return fields;
  }

  maybeOf(node: OperationNode): OperationFields | undefined {
    return this.#fields.get(keyOf(node));
  }

  /**
   * Those of a result that says it has some (documents.md 6.6).
   *
   * @param file of the operation that inserts it
   * @throws {OperationError} for the first mistake in it; its line counts in the result
   */
  async take({ nodes, problems }: ResultNodes, file: string): Promise<void> {
    refuse(problems, file);
    for (const node of nodes) {
      if (node.kind !== "operation") continue;
      const read = await readOperation(node);
      refuse(read.problems, file);
      if (read.fields !== undefined) this.#fields.set(keyOf(node), read.fields);
    }
  }
}

function refuse(problems: readonly DocumentProblem[], file: string): void {
  const wrong = problems.find(({ severity }) => severity === "error");
  if (wrong === undefined) return;
  const { line, column, message } = wrong;
  throw new OperationError(`generated operation: ${file}:${line}:${column}: error: ${message}`);
}

function keyOf({ name, line, body }: OperationNode): string {
  return `${line} ${name}\n${body}`;
}
