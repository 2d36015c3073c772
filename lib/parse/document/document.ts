import { extname } from "node:path";
import { byPlace } from "../../core/core.ts";
import { DocumentLines } from "./lines.ts";
import type { DocumentNode, DocumentProblem, DocumentTree, OperationNode } from "./tree.ts";
import { documentNodes } from "./nodes.ts";
import { readDocumentSettings } from "./settings.ts";
import type { DocumentSettings, OperationFields } from "./operation.ts";
import { readOperation } from "./read_operation.ts";
import { findCutValues } from "../yaml/tags.ts";

/** How a document is read. */
export interface ParseDocumentOptions {
  /** Kept in the tree, for messages. */
  readonly file?: string;
  /** False: lines of operations are text, and nothing is said of them. Default: true. */
  readonly operations?: boolean;
}

/**
 * Splits the text of an executable document into its nodes (documents.md 2). Nothing is lost: `printDocument` gives the
 * same text back. What is wrong with the text is in `problems`; the YAML of front matter and bodies is not read.
 *
 * ```ts
 * import { parseDocument } from "orrery";
 *
 * const { nodes } = parseDocument("# Plan\n\n@llm\nprompt: Go on.\n");
 * console.log(nodes.map(({ kind, line }) => `${line} ${kind}`)); // => [ "1 heading", "3 operation" ]
 * ```
 */
export function parseDocument(text: string, options: ParseDocumentOptions = {}): DocumentTree {
  const lines = new DocumentLines(text);
  const { nodes, problems } = documentNodes(lines, {
    frontMatter: true,
    operations: options.operations ?? true,
  });
  return {
    file: options.file,
    newline: lines.newline,
    nodes,
    problems,
  };
}

/**
 * The text of a document: the sources of its nodes, joined.
 *
 * ```ts
 * import { parseDocument, printDocument } from "orrery";
 *
 * const text = "# Plan\r\n\r\n@llm\r\nprompt: Go on.";
 * console.log(printDocument(parseDocument(text)) === text); // => true
 * ```
 */
export function printDocument(tree: Pick<DocumentTree, "nodes">): string {
  return tree.nodes.map(({ source }) => source).join("");
}

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

/** How the text of a result is read. */
interface ParseResultOptions {
  /** The line end of the document that it goes into. */
  readonly newline: "\n" | "\r\n";
  /** Whether its operations are ones; false: they are text, and nothing is said of them. */
  readonly operations: boolean;
}

/** A result as nodes. */
export interface ResultNodes {
  /** None for an empty text. Lines count from the first one that is not empty; the last source has no line end. */
  readonly nodes: readonly DocumentNode[];
  /** Only when there may be operations. */
  readonly problems: readonly DocumentProblem[];
}

/** Splits what a model, a command or a document gave, as a text of its own (documents.md 6.1). */
export function parseResult(text: string, options: ParseResultOptions): ResultNodes {
  const kinds = { frontMatter: false, operations: options.operations };
  const whole = trimmed(withNewlines(text, options.newline));
  const found = documentNodes(new DocumentLines(whole), kinds);
  const { nodes, problems } = found.missing === undefined
    ? found
    : documentNodes(new DocumentLines(`${whole}${options.newline}${found.missing}`), kinds);
  return { nodes, problems: options.operations ? problems : [] };
}

/** Without a byte order mark, the empty lines at the start and the white space at the end. Its line ends are one kind. */
function trimmed(text: string): string {
  let start = 0;
  for (let at = 0; " \t\r\n\uFEFF".includes(text[at] ?? "."); at++) {
    if (text[at] === "\n" || text[at] === "\uFEFF") start = at + 1;
  }
  return text.slice(start).trimEnd();
}

/** With one kind of line end. CRs before a line end go too: one that is left would make another line end of it. */
function withNewlines(text: string, newline: string): string {
  if (newline === "\n" && !text.includes("\r")) return text;
  return text.split("\n").map(withoutEndingReturns).join(newline);
}

function withoutEndingReturns(line: string): string {
  let end = line.length;
  while (end > 0 && line.charCodeAt(end - 1) === 13) end--;
  return end === line.length ? line : line.slice(0, end);
}
