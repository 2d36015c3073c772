import { FileError, isInside, pathFromFolder } from "../../../core/core.ts";
import { hostFiles } from "../../../host/files/files.ts";
import { realPath } from "../../../host/paths.ts";
import { documentRail } from "../../../render/graph/rail.ts";
import { readDocumentText } from "../../../run/document/files.ts";
import type { DrawnGraph, LookedFile } from "../kind.ts";
import { dirname, extname, join } from "node:path";
import { operationReferences } from "../../../check/document_source.ts";
import type { LiveDocument } from "../../../document/live_document.ts";
import type { LiveNode } from "../../../document/live_node.ts";
import { readReference } from "../../../document/find_block.ts";
import { type DocumentFile, readDocument } from "../../../parse/document/document.ts";
import type { ImportFields, OperationFields, RunFields } from "../../../parse/document/operation.ts";
import type { CallGraph, GraphEdge, GraphNode } from "../../../render/graph/graph.ts";
import type { OperationRow } from "../../../render/graph/rail.ts";
import { shown } from "../../../schema/issue.ts";
import { type DocumentOutline, type OutlinedOperation, outlineOf } from "./outline.ts";

/** The graph of a document; for a terminal a rail of its operations. */
export async function graph({ file, path, text, project: { root } }: LookedFile): Promise<DrawnGraph> {
  const document = await readDocument(text, { path: file });
  const drawn = await graphOfDocument(await outlineOf(document), { path, read: projectReader(root) });
  const { problems } = document;
  if (drawn.rows.length > 0) return { graph: drawn.graph, problems, text: documentRail(file, drawn) };
  return { graph: drawn.graph, problems, text: "", nothing: `${file} has no operation` };
}

/** The picture of a document, and its operations one by one. */
interface DocumentGraph {
  readonly graph: CallGraph;
  readonly rows: readonly OperationRow[];
}

/**
 * What a document does: its operations in their order, the blocks that they name, the files that they use.
 *
 * @param path of the document, as `read` takes it
 */
async function graphOfDocument(
  { live, operations }: DocumentOutline,
  { path, read }: { readonly path: string; readonly read: ReadFile },
): Promise<DocumentGraph> {
  const drawing = new Drawing(live, operations);
  for (const operation of operations) drawing.operation(operation);
  const use = fileNodes(drawing, read);
  for (const { fields, node } of operations) {
    if (fields?.name !== "import" && fields?.name !== "run") continue;
    await use(fields, { from: drawing.indexOf(node), folder: dirname(path) });
  }
  const rows = operations.map(({ node, fields }): OperationRow => ({
    line: node.line,
    name: node.name,
    index: drawing.indexOf(node),
    does: fields === undefined ? ["has an error"] : wordsOf(fields),
  }));
  return { graph: drawing.graph, rows };
}

/** Collects nodes and edges. */
class Drawing {
  readonly #live: LiveDocument;
  readonly #isDynamic: boolean;
  readonly #nodes: GraphNode[] = [];
  readonly #edges: GraphEdge[] = [];
  readonly #indexes = new Map<unknown, number>();
  /** The operations, in document order. */
  readonly #operations: readonly OutlinedOperation[];
  /** The operation that runs before the next one. */
  #before: number | undefined;

  constructor(live: LiveDocument, operations: readonly OutlinedOperation[]) {
    this.#live = live;
    this.#operations = operations;
    this.#isDynamic = operations.some(({ node: { name } }) => name !== "return" && name !== "goto");
    for (const { node, fields } of operations) {
      const state = fields === undefined ? "broken" as const : "ok" as const;
      this.node(node, { id: `@${node.name}`, gadgetName: `line ${node.line}`, state });
    }
  }

  get graph(): CallGraph {
    return { what: "operations, blocks and files", nodes: this.#nodes, edges: this.#edges };
  }

  /** The node that stands for something; it is made the first time. */
  node(key: unknown, node: GraphNode): number {
    const known = this.#indexes.get(key);
    if (known !== undefined) return known;
    this.#indexes.set(key, this.#nodes.length);
    return this.#nodes.push(node) - 1;
  }

  indexOf(key: unknown): number {
    return this.#indexes.get(key) ?? 0;
  }

  edge(from: number, to: number, more: { readonly label?: string; readonly isCyclic?: boolean } = {}): void {
    const { isCyclic = false, ...label } = more;
    this.#edges.push({ from, to, isCyclic, ...label });
  }

  operation({ node, fields }: OutlinedOperation): void {
    const at = this.indexOf(node);
    if (this.#before !== undefined) this.edge(this.#before, at, { label: "then" });
    const isEnd = (fields?.name === "return" || fields?.name === "goto") && fields.conditions.length === 0;
    this.#before = isEnd ? undefined : at;
    if (fields === undefined) return;
    const read = new Set<string>();
    for (const { key, reference } of operationReferences(fields)) {
      if (key === "to") this.edge(at, this.#block(reference), { label: modeOf(fields) });
      else if (fields.name === "goto" && key === "block") this.#jump(at, reference);
      else if (!read.has(reference)) {
        read.add(reference);
        this.edge(this.#block(reference), at, { label: isSection(reference) ? "section" : "block" });
      }
    }
  }

  /** A jump goes to a block, and the run on from there. */
  #jump(at: number, reference: string): void {
    const block = this.#block(reference);
    this.edge(at, block, { label: "jumps to", isCyclic: true });
    const target = this.#find(reference);
    const next = this.#operations.find(({ node }) => target !== undefined && node.line > target.content.line);
    if (next !== undefined) {
      this.edge(block, this.indexOf(next.node), { label: "on from there", isCyclic: true });
    }
  }

  #block(reference: string): number {
    const found = this.#find(reference);
    if (found !== undefined) {
      const { content, id = "" } = found;
      const title = content.kind === "heading" ? `${"#".repeat(content.level)} ${content.title}` : "";
      return this.node(found, { id, gadgetName: title, state: "ok", shape: "round" });
    }
    const name = reference.trim().replace(/\/\*$/, "");
    const state = this.#isDynamic ? "ok" as const : "missing" as const;
    const gadgetName = this.#isDynamic ? "made by the run" : "no such block";
    return this.node(`block ${name.toLowerCase()}`, { id: name, gadgetName, state, shape: "round" });
  }

  #find(reference: string): LiveNode | undefined {
    return this.#live.maybeFind(readReference(reference).steps.join("/"));
  }
}

function isSection(reference: string): boolean {
  return readReference(reference).isSection;
}

function modeOf(fields: OperationFields): string {
  return "mode" in fields && fields.mode !== undefined ? fields.mode : "append";
}

function wordsOf(fields: OperationFields): readonly string[] {
  const own = operationReferences(fields);
  const read = own.filter(({ key }) => key !== "to" && key !== "if" && fields.name !== "goto");
  const tests = own.filter(({ key }) => key === "if");
  const names = (list: typeof own): string => [...new Set(list.map(({ reference }) => reference))].join(", ");
  return [
    ...(fields.name === "import" ? [`imports ${fileWords(fields)}`] : []),
    ...(fields.name === "run" ? [`runs ${fields.file}`] : []),
    ...(fields.name === "shell" ? [`runs ${shown(fields.prompt)}`] : []),
    ...(fields.name === "goto" ? [`jumps to ${fields.block}`] : []),
    ...(read.length > 0 ? [`${fields.name === "return" ? "returns" : "reads"} ${names(read)}`] : []),
    ...placeWords(fields),
    ...(tests.length > 0 ? [`if ${names(tests)}`] : []),
  ];
}

function fileWords({ file, blocks }: Extract<OperationFields, { readonly name: "import" }>): string {
  return blocks === undefined ? file : `${blocks.join(", ")} of ${file}`;
}

function placeWords(fields: OperationFields): readonly string[] {
  if (fields.name === "return" || fields.name === "goto") return [];
  const { to } = fields;
  const mode = fields.mode === undefined ? "" : ` (${fields.mode})`;
  return to === undefined ? mode === "" ? [] : [`inserts here${mode}`] : [`inserts into ${to}${mode}`];
}

/** A file as a document; undefined when it cannot be read. Paths are absolute. */
type ReadFile = (path: string) => Promise<{ readonly shown: string; readonly file?: DocumentFile }>;

/** What takes the nodes. */
interface FileDrawing {
  node(key: unknown, node: GraphNode): number;
  edge(from: number, to: number, more: { readonly label?: string; readonly isCyclic?: boolean }): void;
}

/** Draws the files that documents import and run, each once, with those that they use themselves. Gives what draws those of an operation. */
function fileNodes(drawing: FileDrawing, read: ReadFile) {
  const edges = new Set<string>();
  const known = new Map<string, number>();
  /** @param options.from the node that uses the file */
  return async (
    fields: ImportFields | RunFields,
    options: { readonly from: number; readonly folder: string },
  ): Promise<void> => {
    const waiting = [{ ...options, fields }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { from, folder, fields: { name, file } } = next;
      const path = join(folder, file);
      const { shown, file: document } = known.has(path) ? { shown: path } : await read(path);
      const to = known.get(path) ?? drawing.node(`file ${path}`, nodeOf(shown, document));
      known.set(path, to);
      const edge = `${from} ${to} ${name}`;
      if (!edges.has(edge)) drawing.edge(from, to, { label: name === "run" ? "runs" : "imports" });
      edges.add(edge);
      if (document === undefined || extname(path) !== ".md") continue;
      const used = [...document.operations.values()].flatMap((each) =>
        each.name === "import" || each.name === "run" ? [each] : []
      );
      waiting.push(...used.reverse().map((each) => ({ from: to, folder: dirname(path), fields: each })));
    }
  };
}

function nodeOf(id: string, document: DocumentFile | undefined): GraphNode {
  if (document === undefined) return { id, gadgetName: "not there", state: "missing", shape: "file" };
  const { settings: { title = "" }, tree: { nodes } } = document;
  const count = nodes.filter(({ kind }) => kind === "operation").length;
  const operations = `${count} operation${count === 1 ? "" : "s"}`;
  return { id, gadgetName: title === "" ? operations : title, state: "ok", shape: "file" };
}

/** Reads what a document names. Files outside the project are named, and not looked into. */
function projectReader(root: string): ReadFile {
  const files = hostFiles({ root });
  return async (path) => {
    const shown = pathFromFolder(path, root);
    if (!isInside(realPath(path), root)) return { shown };
    try {
      const text = await readDocumentText(files, path);
      return { shown, file: await readDocument(text, { path: shown, hasOperations: path.endsWith(".md") }) };
    } catch (thrown) {
      if (!(thrown instanceof FileError)) throw thrown;
      return { shown };
    }
  };
}
