import { byPlace } from "../core/by_place.ts";
import { type DocumentMapping, readDocumentMapping } from "./document_mapping.ts";
import { didYouMean, FARTHEST, nearWord } from "./document_near.ts";
import type { DocumentProblem, OperationNode } from "./document_node.ts";
import type { OperationFields } from "./operation_fields.ts";
import { OPERATION_READERS } from "./operation_readers.ts";
import { type OperationName, parametersOf, REQUIRED, takes } from "./operation_table.ts";
import { ParameterReader } from "./parameter_reader.ts";

/** What became of the parameters of an operation. */
export interface ReadOperation {
  /** Absent when there is any error, or a parameter that the parser has refused. */
  readonly fields?: OperationFields;
  /** In the order of the lines; warnings too. */
  readonly problems: readonly DocumentProblem[];
}

const MOST_UNKNOWN = 20;

/**
 * Reads and checks the parameters of an operation (documents.md 4). Names of parameters that it does not have are the parser's
 * to tell where they begin a line; those of an indented body are told here.
 */
export async function readOperation(node: OperationNode): Promise<ReadOperation> {
  const { name, line } = node;
  const mapping = await readDocumentMapping(node.body === "" ? "" : `${node.body}\n`, {
    linesAbove: line,
    notMapping: `Found no parameters under @${name}, expected lines such as ${parametersOf(name)[0]}: VALUE`,
    keyName: "parameter",
  });
  const reader = new ParameterReader(mapping);
  const fields = OPERATION_READERS[name](reader);
  if (mapping.indent > 0) tellUnknown(name, { mapping, reader });
  const keys = [...mapping.values.keys()];
  const missing = mapping.isRead ? missingIn(name, keys) : undefined;
  const problems = [
    ...missing === undefined ? [] : [{ severity: "error" as const, line, column: 1, message: missing }],
    ...mapping.problems,
    ...reader.problems,
  ].sort(byPlace);
  const isFine = keys.every((key) => takes(name, key)) &&
    problems.every(({ severity }) => severity !== "error");
  return fields !== undefined && isFine ? { fields, problems } : { problems };
}

function tellUnknown(
  name: OperationName,
  { mapping, reader }: { readonly mapping: DocumentMapping; readonly reader: ParameterReader },
): void {
  const unknown = [...mapping.values.keys()].filter((key) => !takes(name, key));
  for (const key of unknown.slice(0, MOST_UNKNOWN)) {
    const near = didYouMean(key, parametersOf(name));
    reader.refuse(key, `@${name} has no parameter ${JSON.stringify(key.slice(0, 200))}${near}`);
  }
}

function missingIn(name: OperationName, keys: readonly string[]): string | undefined {
  const required = REQUIRED[name];
  // A misspelt one is told as such, and is not missing as well.
  const isThere = (key: string) =>
    required.includes(takes(name, key) ? key : nearWord(key, parametersOf(name), FARTHEST) ?? "");
  if (keys.some(isThere)) return undefined;
  return `@${name} needs ${required.map((key) => `"${key}"`).join(" or ")}`;
}
