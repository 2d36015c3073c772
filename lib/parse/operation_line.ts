import { isOperationName, type OperationName } from "./operation_table.ts";

const OPERATION = /^@([a-z]+)[ \t]*$/;

/** The operation that a line, without its line end, names as it has to be written (documents.md 2.7). */
export function operationLine(line: string): OperationName | undefined {
  const name = OPERATION.exec(line)?.[1];
  return name !== undefined && isOperationName(name) ? name : undefined;
}
