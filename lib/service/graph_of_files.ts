import { dirname, extname, join } from "node:path";
import type { DocumentFile } from "../parse/document/document.ts";
import type { ImportFields, RunFields } from "../parse/document/operation.ts";
import type { GraphNode } from "../render/call_graph.ts";

/** A file as a document; undefined when it cannot be read. Paths are absolute. */
export type ReadFile = (path: string) => Promise<{ readonly shown: string; readonly file?: DocumentFile }>;

/** What takes the nodes. */
export interface FileDrawing {
  node(key: unknown, node: GraphNode): number;
  edge(from: number, to: number, more: { readonly label?: string; readonly isCyclic?: boolean }): void;
}

/** The files that documents import and run, each drawn once, with those that they use themselves. */
export class FileNodes {
  readonly #drawing: FileDrawing;
  readonly #read: ReadFile;
  readonly #edges = new Set<string>();
  readonly #known = new Map<string, number>();

  constructor(drawing: FileDrawing, read: ReadFile) {
    this.#drawing = drawing;
    this.#read = read;
  }

  /** @param options.from the node that uses the file */
  async use(
    fields: ImportFields | RunFields,
    options: { readonly from: number; readonly folder: string },
  ): Promise<void> {
    const waiting = [{ ...options, fields }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { from, folder, fields: { name, file } } = next;
      const path = join(folder, file);
      const isKnown = this.#known.has(path);
      const { shown, file: document } = isKnown ? { shown: path } : await this.#read(path);
      const to = this.#known.get(path) ?? this.#drawing.node(`file ${path}`, nodeOf(shown, document));
      this.#known.set(path, to);
      const edge = `${from} ${to} ${name}`;
      if (!this.#edges.has(edge)) {
        this.#drawing.edge(from, to, { label: name === "run" ? "runs" : "imports" });
      }
      this.#edges.add(edge);
      if (document === undefined || extname(path) !== ".md") continue;
      const used = [...document.operations.values()].flatMap((each) =>
        each.name === "import" || each.name === "run" ? [each] : []
      );
      waiting.push(...used.reverse().map((each) => ({ from: to, folder: dirname(path), fields: each })));
    }
  }
}

function nodeOf(id: string, document: DocumentFile | undefined): GraphNode {
  if (document === undefined) return { id, gadgetName: "not there", state: "missing", shape: "file" };
  const { settings: { title = "" }, tree: { nodes } } = document;
  const count = nodes.filter(({ kind }) => kind === "operation").length;
  const operations = `${count} operation${count === 1 ? "" : "s"}`;
  return { id, gadgetName: title === "" ? operations : title, state: "ok", shape: "file" };
}
