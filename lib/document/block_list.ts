// The nodes of a document that runs: one list in the order of the text, in which each knows the heading whose section it belongs to. The
// list says where a text stands, the headings say what belongs together; a result that replaces a heading may stand between it and its
// children without belonging to it. Each insertion walks over the list.
import type { MergeMode } from "../parse/document/operation.ts";
import type { DocumentNode } from "../parse/document/tree.ts";
import type { BlockIndex } from "./block_index.ts";
import type { LiveNode, Origin, Piece } from "./live_node.ts";
import { headingWithId } from "./pieces.ts";

/** A node, as the document changes it. */
export class Block implements LiveNode {
  content: DocumentNode;
  followed: DocumentNode | undefined;
  id: string | undefined;
  baseId: string | undefined;
  isGone = false;
  /** The heading whose section it belongs to. */
  parent: Block | undefined;
  /** The top blocks that were appended to it, in their order; some may be gone. */
  appended: readonly Block[] = [];
  /** What came behind it when a result replaced it: it counts where this block counted. */
  successors: readonly Block[] = [];
  /** Of one that is gone: what stands above the place where it was, or above what replaced it. */
  above: Block | undefined;

  constructor({ content, followed }: Piece, public origin: Origin, readonly serial: number) {
    this.content = content;
    this.followed = followed;
  }
}

/** Blocks that are inserted together, in the order of the text; the others belong to the tops. */
export interface Group {
  readonly blocks: readonly Block[];
  readonly tops: readonly Block[];
}

/** Nests blocks by the levels of their headings (documents.md 5.4). @param wrapper whose section all of them belong to */
export function nested(blocks: readonly Block[], wrapper?: Block): Group {
  const open: { readonly block: Block; readonly level: number }[] = [];
  const tops: Block[] = [];
  for (const block of blocks) {
    const level = block.content.kind === "heading" ? block.content.level : Infinity;
    while ((open.at(-1)?.level ?? 0) >= level) open.pop();
    block.parent = open.at(-1)?.block ?? wrapper;
    if (open.length === 0) tops.push(block);
    if (level !== Infinity) open.push({ block, level });
  }
  return wrapper === undefined ? { blocks, tops } : { blocks: [wrapper, ...blocks], tops: [wrapper] };
}

/** Where a group goes. */
export interface MergePlace {
  readonly operation: Block;
  readonly mode: MergeMode;
  /** Absent: the operation itself. */
  readonly to?: { readonly node: Block; readonly isSection: boolean };
}

export class BlockList {
  /** All blocks in the order of the text. */
  blocks: readonly Block[] = [];
  readonly #index: BlockIndex;

  constructor(index: BlockIndex) {
    this.#index = index;
  }

  /** The block that stands so far below another one in the text. */
  beside(block: Block, distance: number): Block | undefined {
    return this.blocks[this.blocks.indexOf(block) + distance];
  }

  /** The block below the place of a block that is gone. */
  belowGone(block: Block): Block | undefined {
    return this.blocks[this.#endOfGone(block)];
  }

  /** A block and its descendants in the order of the text, each with how far below the block it is. */
  *section(block: Block): Generator<readonly [block: Block, depth: number]> {
    const depths = new Map([[block, 0]]);
    yield [block, 0];
    for (let at = this.blocks.indexOf(block) + 1; at < this.blocks.length; at++) {
      const each = this.blocks[at];
      const above = each?.parent && depths.get(each.parent);
      if (each === undefined || above === undefined) continue;
      depths.set(each, above + 1);
      yield [each, above + 1];
    }
  }

  /**
   * Puts a group into the document: the table of documents.md 6.3, with 6.4 and 6.5. Blocks that go lose their ids; the new ones have none
   * yet, but that of a replaced block. Gives the blocks of the group as they are in the document.
   */
  merge(group: Group, { operation, mode, to }: MergePlace): readonly Block[] {
    const owner = to?.node ?? operation;
    if (mode === "replace") return this.#replace(group, owner, to);
    const isInside = to !== undefined && mode === "append";
    for (const top of group.tops) top.parent = isInside ? owner : parentOf(owner);
    if (mode === "prepend") this.#splice(this.blocks.indexOf(owner), group.blocks);
    else if (to?.isSection === true) this.#splice(this.#endOfSection(owner), group.blocks);
    else {
      const last = lastThere(owner.appended);
      const at = last !== undefined
        ? this.#end(last)
        : owner.isGone
        ? this.#endOfGone(owner)
        : this.blocks.indexOf(owner) + 1;
      this.#splice(at, group.blocks);
      owner.appended = [...owner.appended, ...group.tops];
    }
    return group.blocks;
  }

  /** The first block of the group that is no operation becomes the block that is there, with its id and its children. */
  #replace({ blocks, tops }: Group, block: Block, to: MergePlace["to"]): readonly Block[] {
    const removed = new Set(
      to?.isSection === true ? [...this.section(block)].slice(1).map(([each]) => each) : [],
    );
    if (to?.isSection === true) block.appended = [];
    const heir = to && tops.find(({ content }) => content.kind !== "operation");
    const at = this.blocks.indexOf(block);
    const merged = blocks.map((each) => each === heir ? block : each);
    for (const top of tops) top.parent = block.parent;
    const rest = heir === undefined ? tops : tops.slice(tops.indexOf(heir) + 1);
    block.successors = [...rest, ...block.successors];
    const gone = heir === undefined ? [block, ...removed] : [...removed];
    for (const each of gone) {
      this.#index.take(each);
      each.isGone = true;
      each.above = merged.at(-1) ?? this.blocks[at - 1];
    }
    if (heir === undefined) this.#adopt(this.blocks, block, block.parent);
    else {
      this.#adopt(blocks, heir, block);
      this.#inherit(block, heir);
    }
    this.#splice(at, merged, 1);
    if (removed.size > 0) this.blocks = this.blocks.filter((each) => !removed.has(each));
    return merged;
  }

  #inherit(block: Block, { content, followed, origin }: Block): void {
    block.followed = followed;
    block.origin = origin;
    block.content = content;
    if (content.kind !== "heading") return;
    if (content.explicitId !== undefined) this.#index.take(block);
    else if (block.id !== undefined) block.content = headingWithId(content, block.id);
  }

  /** The children of one parent get another one. */
  #adopt(blocks: readonly Block[], from: Block, to: Block | undefined): void {
    for (const each of blocks) if (each.parent === from) each.parent = to;
  }

  #splice(at: number, blocks: readonly Block[], gone = 0): void {
    this.blocks = [...this.blocks.slice(0, at), ...blocks, ...this.blocks.slice(at + gone)];
  }

  #endOfSection(block: Block): number {
    const [last = block] = [...this.section(block)].at(-1) ?? [];
    return this.blocks.indexOf(last) + 1;
  }

  #endOfGone({ above }: Block): number {
    let at = above;
    while (at?.isGone) at = at.above;
    return at === undefined ? 0 : this.blocks.indexOf(at) + 1;
  }

  /** The end of a block with all that counts as a part of it: what replaced it, or was appended to an operation. */
  #end(block: Block): number {
    const next = lastThere(block.successors) ??
      (block.content.kind === "operation" ? lastThere(block.appended) : undefined);
    return Math.max(this.#endOfSection(block), next === undefined ? 0 : this.#end(next));
  }
}

/** The heading that a block belongs to; of one that is gone one that is there. */
function parentOf({ isGone, parent }: Block): Block | undefined {
  let at = parent;
  while (isGone && at?.isGone) at = at.parent;
  return at;
}

/** The last of some blocks that is in the document; what replaced one stands for it. */
function lastThere(blocks: readonly Block[]): Block | undefined {
  const rest = [...blocks];
  for (let last = rest.pop(); last !== undefined; last = rest.pop()) {
    if (!last.isGone) return last;
    rest.push(...last.successors);
  }
  return undefined;
}
