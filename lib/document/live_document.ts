import type { DocumentTree } from "../parse/document_node.ts";
import type { MergeMode, Reference } from "../parse/operation_fields.ts";
import { BlockIndex } from "./block_index.ts";
import { type Context, contextAbove } from "./context.ts";
import { findBlock, notFound } from "./find_block.ts";
import { giveIds } from "./give_ids.ts";
import { type GroupOptions, makeGroup } from "./group.ts";
import type { DocumentInputs } from "./input_block.ts";
import type { LiveNode, Piece, Target } from "./live_node.ts";
import { merge } from "./merge.ts";
import { hasText } from "./node_text.ts";
import type { Origin } from "./origin.ts";
import { BYTE_ORDER_MARK, openTree } from "./open_tree.ts";
import { printNodes } from "./print_nodes.ts";
import { readReference } from "./reference.ts";
import { TreeNode } from "./tree_node.ts";
import {
  isAbove,
  nodeAbove,
  nodeAt,
  nodeBelow,
  nodeBelowAll,
  sectionOf,
  settledPlace,
  wholeSection,
} from "./walk.ts";
import { headingNode } from "./wrapper.ts";

export interface LiveDocumentOptions {
  /** What it is run with. */
  readonly input?: DocumentInputs;
}

/** A result on its way into the document. */
export interface InsertRequest {
  readonly operation: LiveNode;
  /** What is inserted: `piecesOf` the nodes of a text, or nodes of another document. */
  readonly pieces: readonly Piece[];
  /** A heading line that all of it stands under; absent: none. */
  readonly header?: string;
  readonly mode: MergeMode;
  /** Absent: the operation itself. */
  readonly to?: Target;
  readonly origin: Origin;
}

/** What came of an insertion. */
export interface Insertion {
  /** In document order; the first block is the target itself where one was replaced. */
  readonly nodes: readonly LiveNode[];
  /** Texts about ids that were taken. */
  readonly warnings: readonly string[];
  /** Whether there are operations in it that the run has passed already (documents.md 6.7). */
  readonly hasPassedOperations: boolean;
}

/** How a list of references is read. */
export interface SelectOptions {
  /** Whether `a/*` gives the operations in the section too. Default: false. */
  readonly hasOperations?: boolean;
}

/**
 * A document while it runs (documents.md 5, 6): its nodes in one tree, their ids, and what is inserted. Everything but walks
 * over many nodes takes constant time, a path of references the time of the section that it looks into.
 */
export class LiveDocument {
  /** The line end that inserted text takes. */
  readonly newline: "\n" | "\r\n";
  /** Texts about ids of the input that were taken. */
  readonly warnings: readonly string[];
  readonly #root: TreeNode;
  readonly #index = new BlockIndex();
  readonly #hasMark: boolean;
  readonly #nextSerial = counter();

  constructor(tree: DocumentTree, options: LiveDocumentOptions = {}) {
    this.newline = tree.newline;
    this.#hasMark = tree.nodes[0]?.source.startsWith(BYTE_ORDER_MARK) === true;
    const opened = openTree(tree, {
      input: options.input ?? {},
      index: this.#index,
      nextSerial: this.#nextSerial,
    });
    this.#root = opened.root;
    this.warnings = opened.warnings;
  }

  /** The first node; undefined in an empty document. */
  get first(): LiveNode | undefined {
    return this.#root.first;
  }

  /** All nodes in document order. */
  *nodes(): Generator<LiveNode> {
    yield* this.#walk();
  }

  /** What another document imports of the whole of this one: all nodes but the front matter. */
  all(): readonly LiveNode[] {
    return [...this.#walk()].filter(({ content }) => content.kind !== "front-matter");
  }

  /** The node below in document order. */
  next(node: LiveNode): LiveNode | undefined {
    return nodeBelow(inTree(node));
  }

  /** The node above in document order. */
  previous(node: LiveNode): LiveNode | undefined {
    return this.#maybe(nodeAbove(inTree(node)));
  }

  /** The block whose section a node belongs to. */
  section(node: LiveNode): LiveNode | undefined {
    return this.#maybe(sectionOf(inTree(node)));
  }

  /** The level of the nearest heading whose section a node belongs to; 0 where there is none (documents.md 7.8). */
  sectionLevel(node: LiveNode): number {
    for (let at = sectionOf(inTree(node)); at !== undefined; at = sectionOf(at)) {
      if (at.content.kind === "heading") return at.content.level;
    }
    return 0;
  }

  /** Where the run goes on after an operation (documents.md 6.7). */
  after(operation: LiveNode): LiveNode | undefined {
    const { goneFrom } = inTree(operation);
    return goneFrom === undefined ? nodeBelowAll(inTree(operation)) : nodeAt(settledPlace(goneFrom));
  }

  /** The block of one reference without its star. @throws {BlockReferenceError} */
  find(reference: Reference): LiveNode {
    return this.#find(reference).node;
  }

  /** The same, or undefined where there is none. @throws {BlockReferenceError} when the reference is none. */
  maybeFind(reference: Reference): LiveNode | undefined {
    const found = findBlock(readReference(reference).steps, this.#places);
    return typeof found === "number" ? undefined : found;
  }

  /** What `to` means. @throws {BlockReferenceError} */
  target(reference: Reference): Target {
    return this.#find(reference);
  }

  /**
   * The nodes of a list in its order, each once, those without any text left out (documents.md 5.5 to 5.8).
   * @throws {BlockReferenceError}
   */
  select(references: readonly Reference[], options: SelectOptions = {}): readonly LiveNode[] {
    const selected = new Set<TreeNode>();
    for (const reference of references) {
      const { node, isSection } = this.#find(reference);
      for (const each of isSection ? wholeSection(node) : [node]) {
        if (each.content.kind === "operation" ? options.hasOperations === true : hasText(each)) {
          selected.add(each);
        }
      }
    }
    return [...selected];
  }

  /** What a model is told of the document above an operation. */
  contextAbove(operation: LiveNode, options: SelectOptions = {}): Context {
    const hasOperations = options.hasOperations === true;
    return contextAbove(inTree(operation), { root: this.#root, hasOperations });
  }

  /** Inserts a result (documents.md 6). */
  insert(request: InsertRequest): Insertion {
    const operation = inTree(request.operation);
    const { header, origin, mode, to } = request;
    const group = makeGroup(request.pieces, { header, ...this.#groupOptions(origin) });
    const place = {
      operation,
      mode,
      to: to && { ...to, node: inDocument(to.node) },
    };
    const nodes = merge(group, place, this.#index);
    const warnings = giveIds(nodes, this.#index);
    const inserted = nodes.find(({ content }) => content.kind === "operation");
    const hasPassedOperations = inserted !== undefined && (operation.isGone || isAbove(inserted, operation));
    return { nodes, warnings, hasPassedOperations };
  }

  /** Inserts what is told of an operation that failed, right behind it (documents.md 11.3). */
  insertError(operation: LiveNode, message: string): Insertion {
    const text = `\n${message.split("\n").map((line) => line.trim()).join(" ")}`;
    const { file } = operation.origin;
    return this.insert({
      operation,
      pieces: [{ content: headingNode("# Error", { text, line: operation.content.line }) }],
      mode: "append",
      origin: { by: "error", file },
    });
  }

  /** The result document, byte by byte (documents.md 6.8). */
  print(): string {
    return printNodes(this.#walk(), { newline: this.newline, hasMark: this.#hasMark });
  }

  get #places() {
    return { root: this.#root, index: this.#index };
  }

  #find(reference: Reference): { readonly node: TreeNode; readonly isSection: boolean } {
    const { steps, isSection } = readReference(reference);
    const found = findBlock(steps, this.#places);
    if (typeof found === "number") throw notFound(steps, { found, places: this.#places });
    return { node: found, isSection };
  }

  #groupOptions(origin: Origin): GroupOptions {
    return { origin, newline: this.newline, nextSerial: this.#nextSerial };
  }

  *#walk(): Generator<TreeNode> {
    for (let at = nodeBelow(this.#root); at !== undefined; at = nodeBelow(at)) yield at;
  }

  #maybe(node: TreeNode | undefined): TreeNode | undefined {
    return node === this.#root ? undefined : node;
  }
}

function counter(): () => number {
  let next = 0;
  return () => next++;
}

function inTree(node: LiveNode): TreeNode {
  if (node instanceof TreeNode) return node;
  throw new Error("A node of this document is needed.");
}

function inDocument(node: LiveNode): TreeNode {
  if (!node.isGone) return inTree(node);
  throw new Error("The target is no longer in the document: look it up right before the insertion.");
}
