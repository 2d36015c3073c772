// One operation of a document while it runs: what it works on, and what all kinds of them do in the same way.
import { resolve } from "node:path";
import { narrowedFile, type Narrowing } from "../../check/narrowing.ts";
import type { LiveDocument } from "../../document/live_document.ts";
import {
  type LiveNode,
  nodeTexts,
  type OriginKind,
  type Piece,
  piecesOf,
  type Target,
} from "../../document/live_node.ts";
import { type DocumentFile, parseResult, type ResultNodes } from "../../parse/document/document.ts";
import type { LlmFields, MergeMode, OperationFields } from "../../parse/document/operation.ts";
import { readOperation } from "../../parse/document/read_operation.ts";
import type { DocumentNode, DocumentProblem, OperationNode } from "../../parse/document/tree.ts";
import type { DocumentMeans } from "./means.ts";
import { fileFailure, pathFrom, readDocumentText } from "./files.ts";
import { takeIn } from "../effect.ts";
import { OperationError } from "./failure.ts";
import type { Run } from "../run.ts";

/** What the operations of one file have in common. */
export interface FileWorld {
  readonly run: Run;
  readonly means: DocumentMeans;
  /** The file that runs. */
  readonly file: DocumentFile;
  readonly live: LiveDocument;
  /** The documents that run inside each other, the entry first and this one last. */
  readonly chain: readonly DocumentFile[];
  /** The most that all of them may use. */
  readonly narrowing: Narrowing;
  readonly known: KnownOperations;
  /** The files that answers of this run were saved in: what stands there is a model's word (documents.md 6.6). */
  readonly saved: Set<string>;
  /** Which operation imported each of those that were imported. */
  readonly importedBy: WeakMap<LiveNode, LiveNode>;
}

/** An operation that is being done. */
export interface Operation<Fields extends OperationFields = OperationFields> extends FileWorld {
  readonly node: LiveNode;
  readonly fields: Fields;
  /**
   * Its step: `op[12]` by its line, and `op[12]#2` when the run comes by again; `op[part.md:4]` of an import, `op[+7]` of a result. What a
   * document does that it runs lies below.
   */
  readonly key: string;
  /** The file that its paths resolve against and its messages name. */
  readonly from: string;
}

/** What is inserted. */
export interface OperationResult {
  readonly nodes: readonly DocumentNode[] | readonly Piece[];
  /** A heading line that all of it stands under, or `none`. */
  readonly header?: string;
  readonly by: OriginKind;
  /** Default: that of the operation. */
  readonly mode?: MergeMode;
  /** Default: that of the operation; null: none. */
  readonly to?: string | null;
  /** The file that what is inserted comes from. Default: that of the operation. */
  readonly from?: string;
  /** The step that it belongs to. Default: the operation's. */
  readonly key?: string;
}

/** A path that an operation names. */
export function pathOf({ from }: Pick<Operation, "from">, named: string): string {
  return pathFrom(from, named);
}

/** Whether an answer of this run was saved there. */
export function isSaved({ saved, means: { root } }: Operation, path: string): boolean {
  return saved.has(resolve(root, path));
}

/** An answer is saved there: operations in it count only where the operation says that they may. */
export function noteSaved({ saved, means: { root }, fields }: Operation<LlmFields>, path: string): void {
  const place = resolve(root, path);
  if (fields.isGeneratedRun) saved.delete(place);
  else saved.add(place);
}

/** Where the result of an operation goes; undefined for the operation itself. @throws {BlockReferenceError} */
export function targetOf(operation: Operation): Target | undefined {
  const to = referenceOf(operation);
  return to === undefined ? undefined : operation.live.target(to);
}

/** How the result of an operation is merged: its own word, the command line's, its file's, append (documents.md 3). */
function modeOf({ fields, means, file }: Operation): MergeMode {
  const own = "mode" in fields ? fields.mode : undefined;
  return own ?? means.flags.mode ?? file.settings.mode ?? "append";
}

/** The nodes of a result text; operations in it are text unless the operation says otherwise (documents.md 6.1, 6.6). */
export async function resultNodes(operation: Operation, text: string): Promise<readonly DocumentNode[]> {
  const { live, fields, known, from } = operation;
  const mayRun = "isGeneratedRun" in fields && fields.isGeneratedRun;
  const result = parseResult(text, { newline: live.newline, operations: mayRun });
  if (mayRun) await known.take(result, from);
  return result.nodes;
}

/** Puts a result into the document, and tells of it; gives what is new there. */
export function insertResult(operation: Operation, result: OperationResult): readonly LiveNode[] {
  const { live, node, run, from } = operation;
  const { by, mode = modeOf(operation), key = operation.key } = result;
  const header = result.header === "none" ? undefined : result.header;
  const reference = result.to === null ? undefined : result.to ?? referenceOf(operation);
  const pieces = isPieces(result.nodes) ? result.nodes : piecesOf(result.nodes);
  if (pieces.length === 0 && header === undefined) return [];
  const to = reference === undefined ? undefined : live.target(reference);
  const removed = mode === "replace" ? nodeTexts(replaced(operation, { to, reference })) : "";
  const { nodes, warnings, hasPassedOperations } = live.insert({
    operation: node,
    pieces,
    mode,
    origin: { by, file: result.from ?? from },
    header,
    to,
  });
  for (const warning of warnings) warn(operation, warning);
  if (hasPassedOperations) {
    warn(operation, "operations inserted at or above the current place do not run");
  }
  run.emit({
    type: "block-merge",
    step: key,
    mode,
    ...(reference === undefined ? {} : { target: reference }),
    removed,
    inserted: nodeTexts(nodes),
  });
  return nodes;
}

/** @throws {OperationError} for a file that front matter does not allow (documents.md 13.2) */
export function refuseNarrowed(
  { means: { root }, narrowing }: Operation,
  { kind, path, named }: { readonly kind: "read" | "write"; readonly path: string; readonly named: string },
): void {
  const against = narrowedFile(narrowing, { kind, root, path, written: named });
  if (against !== undefined) throw new OperationError(against);
}

/** Says something of an operation that does not keep it from being done. */
export function warn({ run, node, from }: Pick<Operation, "run" | "node" | "from">, text: string): void {
  run.emit({ type: "warning", text, file: from, line: node.content.line, column: 1 });
}

/** The text of the file that an operation names, read once: a step of it. */
export async function readFile(operation: Operation, named: string): Promise<string> {
  const { run, means, key } = operation;
  const path = pathOf(operation, named);
  refuseNarrowed(operation, { kind: "read", path, named });
  const read = () => readDocumentText(means.files, path, { signal: run.signal });
  return String(
    await takeIn(run, {
      key: `${key}/read`,
      kind: "read",
      name: path,
      perform: () => read().catch((error) => Promise.reject(fileFailure(error, named))),
    }),
  );
}

function referenceOf({ fields }: Operation): string | undefined {
  return "to" in fields ? fields.to : undefined;
}

function replaced(
  { live, node }: Operation,
  { to, reference }: { readonly to: Target | undefined; readonly reference: string | undefined },
): readonly LiveNode[] {
  if (to === undefined || reference === undefined) return [node];
  return to.isSection ? live.select([reference], { hasOperations: true }) : [to.node];
}

function isPieces(nodes: readonly DocumentNode[] | readonly Piece[]): nodes is readonly Piece[] {
  return nodes.some((node) => "content" in node);
}

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
