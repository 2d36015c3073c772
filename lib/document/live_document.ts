import type { MergeMode, Reference } from "../parse/document/operation.ts";
import type { DocumentTree } from "../parse/document/tree.ts";
import { BlockIndex } from "./block_index.ts";
import { Block, BlockList, type Group, nested } from "./block_list.ts";
import { findBlock, notFound, readReference } from "./find_block.ts";
import { type DocumentInputs, INPUT_ID, inputPieces } from "./input_block.ts";
import {
  hasText,
  isSource,
  isWritten,
  type LiveNode,
  type Origin,
  type Piece,
  piecesOf,
  type Target,
} from "./live_node.ts";
import {
  endsInEmptyLine,
  endsLine,
  headingNode,
  trimmedPieces,
  underHeader,
  withoutEmptyEnd,
} from "./pieces.ts";

/** What a model is told of the document above an operation, in document order. */
export interface Context {
  /** Blocks of `.system` sections, which a person wrote or put there. */
  readonly system: readonly LiveNode[];
  /** All other headings and texts. */
  readonly ambient: readonly LiveNode[];
}

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

const BYTE_ORDER_MARK = "\uFEFF";

/** A document while it runs (documents.md 5, 6): its nodes, their ids, and what is inserted. */
export class LiveDocument {
  /** The line end that inserted text takes. */
  readonly newline: "\n" | "\r\n";
  /** Texts about ids of the input that were taken. */
  readonly warnings: readonly string[];
  readonly #index = new BlockIndex();
  readonly #list = new BlockList(this.#index);
  readonly #hasMark: boolean;
  #serial = 0;

  constructor(tree: DocumentTree, { input = {} }: LiveDocumentOptions = {}) {
    this.newline = tree.newline;
    const [first, ...rest] = tree.nodes;
    this.#hasMark = first?.source.startsWith(BYTE_ORDER_MARK) === true;
    const unmarked = first === undefined
      ? []
      : [{ ...first, source: first.source.slice(this.#hasMark ? 1 : 0) }, ...rest];
    const origin: Origin = { by: "file", file: tree.file };
    const own = this.#made(piecesOf(unmarked), origin);
    nested(own);
    // The input stands before the first node, but behind the front matter.
    const texts = this.#group(input.pieces ?? [], { ...origin, by: "input" }).blocks;
    const [block, ...values] = this.#made(inputPieces(input, tree.newline), { ...origin, by: "input" });
    for (const value of values) value.parent = block;
    const start = own[0]?.content.kind === "front-matter" ? 1 : 0;
    const inputs = block === undefined ? texts : [...texts, block, ...values];
    this.#list.blocks = [...own.slice(0, start), ...inputs, ...own.slice(start)];
    const isExplicit = ({ content }: Block) => content.kind === "heading" && content.explicitId !== undefined;
    // The block of the input has its id first, then come the file's own explicit ones.
    this.warnings = [
      ...(block === undefined ? [] : this.#index.giveExplicit(block, INPUT_ID)),
      ...this.#index.giveAll(own.filter(isExplicit)),
      ...this.#index.giveAll([...texts, ...values, ...own]),
    ];
  }

  /** The first node; undefined in an empty document. */
  get first(): LiveNode | undefined {
    return this.#list.blocks[0];
  }

  /** All nodes in document order. */
  nodes(): readonly LiveNode[] {
    return this.#list.blocks;
  }

  /** What another document imports of the whole of this one: all nodes but the front matter. */
  all(): readonly LiveNode[] {
    return this.#list.blocks.filter(({ content }) => content.kind !== "front-matter");
  }

  /** The node below in document order. */
  next(node: LiveNode): LiveNode | undefined {
    return this.#list.beside(blockOf(node), 1);
  }

  /** The node above in document order. */
  previous(node: LiveNode): LiveNode | undefined {
    return this.#list.beside(blockOf(node), -1);
  }

  /** The block whose section a node belongs to. */
  section(node: LiveNode): LiveNode | undefined {
    return blockOf(node).parent;
  }

  /** The level of the nearest heading whose section a node belongs to; 0 where there is none (documents.md 7.8). */
  sectionLevel(node: LiveNode): number {
    for (let at = blockOf(node).parent; at !== undefined; at = at.parent) {
      if (at.content.kind === "heading") return at.content.level;
    }
    return 0;
  }

  /** Where the run goes on after an operation (documents.md 6.7). */
  after(operation: LiveNode): LiveNode | undefined {
    const block = blockOf(operation);
    return block.isGone ? this.#list.belowGone(block) : this.#list.beside(block, 1);
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
    const selected = new Set<Block>();
    for (const reference of references) {
      const { node, isSection } = this.#find(reference);
      const blocks = isSection ? [...this.#list.section(node)].map(([block]) => block) : [node];
      for (const block of blocks) if (isSent(block, options)) selected.add(block);
    }
    return [...selected];
  }

  /** What a model is told of the document above an operation (documents.md 7.2 to 7.4). */
  contextAbove(operation: LiveNode, options: SelectOptions = {}): Context {
    const system: LiveNode[] = [];
    const ambient: LiveNode[] = [];
    const inSystem = new Set<Block>();
    for (const block of this.#list.blocks.slice(0, this.#list.blocks.indexOf(blockOf(operation)))) {
      const { content, origin, parent } = block;
      const isInside = parent !== undefined && inSystem.has(parent);
      const isSystemHeading = content.kind === "heading" && content.title.startsWith(".system") &&
        isSource(origin);
      const isSystem = isWritten(origin) && (isInside || isSystemHeading);
      if (isInside || isSystem) inSystem.add(block);
      if (content.kind === "front-matter" || !isSent(block, options)) continue;
      if (isSystem && content.kind !== "operation") system.push(block);
      else ambient.push(block);
    }
    return { system, ambient };
  }

  /** Inserts a result (documents.md 6). */
  insert({ operation: given, pieces, header, origin, mode, to }: InsertRequest): Insertion {
    if (to?.node.isGone) {
      throw new Error("The target is no longer in the document: look it up right before the insertion.");
    }
    const operation = blockOf(given);
    const group = this.#group(pieces, origin, header);
    const nodes = this.#list.merge(group, { operation, mode, to: to && { ...to, node: blockOf(to.node) } });
    const warnings = this.#index.giveAll(nodes);
    const inserted = nodes.find(({ content }) => content.kind === "operation");
    const { blocks } = this.#list;
    const hasPassedOperations = inserted !== undefined &&
      (operation.isGone || blocks.indexOf(inserted) < blocks.indexOf(operation));
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

  /** The result document, bytes kept where they can be (documents.md 6.8). */
  print(): string {
    const { newline } = this;
    const out: string[] = [];
    let above: Block | undefined;
    for (const block of this.#list.blocks) {
      // Between what did not meet before there is an empty line.
      const last = above === undefined || block.followed === above.content
        ? undefined
        : out.findLast((text) => text !== "");
      if (last !== undefined && !endsInEmptyLine(last)) {
        out.push(endsLine(last) ? newline : newline + newline);
      }
      out.push(block.content.source);
      above = block;
    }
    if (above !== undefined && above.origin.by !== "file") {
      out.push(withoutEmptyEnd(out.pop() ?? "") + newline);
    }
    return (this.#hasMark ? BYTE_ORDER_MARK : "") + out.join("");
  }

  get #places() {
    return { list: this.#list, index: this.#index };
  }

  #find(reference: Reference): { readonly node: Block; readonly isSection: boolean } {
    const { steps, isSection } = readReference(reference);
    const found = findBlock(steps, this.#places);
    if (typeof found === "number") throw notFound(steps, { found, places: this.#places });
    return { node: found, isSection };
  }

  #made(pieces: readonly Piece[], origin: Origin): readonly Block[] {
    return pieces.map((piece) => new Block(piece, origin, this.#serial++));
  }

  /** The blocks of a result (documents.md 6.1, 6.2). @param header a heading line that all of it stands under */
  #group(pieces: readonly Piece[], origin: Origin, header?: string): Group {
    const { newline } = this;
    const trimmed = trimmedPieces(pieces, newline);
    if (header === undefined) {
      const group = nested(this.#made(trimmed, origin));
      // The keys of kept steps have these numbers, and one was always left out behind such a group.
      if (trimmed.length > 0) this.#serial++;
      return group;
    }
    const [wrapper, ...blocks] = this.#made(underHeader(header, { pieces: trimmed, newline }), origin);
    return nested(blocks, wrapper);
  }
}

function isSent(block: Block, { hasOperations = false }: SelectOptions): boolean {
  return block.content.kind === "operation" ? hasOperations : hasText(block);
}

function blockOf(node: LiveNode): Block {
  if (node instanceof Block) return node;
  throw new Error("A node of this document is needed.");
}
