import { parseDocument } from "../mod.ts";
import { type Insertion, LiveDocument, type LiveDocumentOptions } from "../lib/document/live_document.ts";
import { type LiveNode, type OriginKind, type Piece, piecesOf } from "../lib/document/live_node.ts";
import { parseResult } from "../lib/parse/document/document.ts";
import type { MergeMode } from "../lib/parse/document/operation.ts";

/** A document of a text, as it stands before anything runs. */
export function live(text: string, options: LiveDocumentOptions = {}): LiveDocument {
  return new LiveDocument(parseDocument(text, { file: "main.md" }), options);
}

/** The operation of a document that has this number, from 0, in document order. */
export function operationOf(document: LiveDocument, number = 0): LiveNode {
  const operations = [...document.nodes()].filter(({ content }) => content.kind === "operation");
  const operation = operations[number];
  if (operation === undefined) throw new Error(`There is no operation ${number}.`);
  return operation;
}

export function resultPieces(
  text: string,
  options: { operations?: boolean; newline?: "\n" | "\r\n" } = {},
): readonly Piece[] {
  const { newline = "\n", operations = false } = options;
  return piecesOf(parseResult(text, { newline, operations }).nodes);
}

export interface PutOptions {
  readonly operation?: LiveNode;
  readonly header?: string;
  readonly mode?: MergeMode;
  readonly to?: string;
  readonly by?: OriginKind;
  readonly operations?: boolean;
  readonly pieces?: readonly Piece[];
}

/** Inserts a text as the result of an operation, which is the first one if none is named. */
export function put(document: LiveDocument, text: string, options: PutOptions = {}): Insertion {
  const { operation = operationOf(document), header, mode = "append", to, by = "shell" } = options;
  const { operations = false } = options;
  const pieces = options.pieces ?? resultPieces(text, { operations, newline: document.newline });
  return document.insert({
    operation,
    pieces,
    mode,
    origin: { by, file: "main.md" },
    ...(header === undefined ? {} : { header }),
    ...(to === undefined ? {} : { to: document.target(to) }),
  });
}

export function idsOf(nodes: Iterable<LiveNode>): readonly string[] {
  return [...nodes].map(({ id, content }) =>
    id ?? (content.kind === "operation" ? `@${content.name}` : content.kind)
  );
}
