import type { DocumentTree } from "../parse/document_node.ts";
import type { BlockIndex } from "./block_index.ts";
import { giveExplicitId, giveIds } from "./give_ids.ts";
import { type GroupOptions, makeGroup } from "./group.ts";
import { type DocumentInputs, INPUT_ID, inputPieces } from "./input_block.ts";
import { type Piece, piecesOf } from "./live_node.ts";
import type { Origin } from "./origin.ts";
import { hangByLevel } from "./section_tree.ts";
import { attach, TreeNode } from "./tree_node.ts";

export const BYTE_ORDER_MARK = "\uFEFF";

export interface OpenTreeOptions {
  readonly input: DocumentInputs;
  readonly index: BlockIndex;
  readonly nextSerial: () => number;
}

/** A document as it stands before anything runs. */
export interface OpenedTree {
  /** What all nodes hang below; it is none of them. */
  readonly root: TreeNode;
  readonly warnings: readonly string[];
}

/** Hangs the nodes of a file and its input, and gives them ids: the block of the input first, then the file's own explicit ones. */
export function openTree(tree: DocumentTree, { input, index, nextSerial }: OpenTreeOptions): OpenedTree {
  const origin: Origin = { by: "file", file: tree.file };
  const root = new TreeNode({ content: { kind: "text", source: "", line: 0 } }, { origin, serial: -1 });
  const nodes = ownPieces(tree).map((piece) => new TreeNode(piece, { origin, serial: nextSerial() }));
  hangByLevel(nodes, root);
  const { block, others } = hangInput(root, {
    input,
    options: { origin: { ...origin, by: "input" }, newline: tree.newline, nextSerial },
  });
  const isExplicit = ({ content }: TreeNode) =>
    content.kind === "heading" && content.explicitId !== undefined;
  const warnings = [
    ...(block === undefined ? [] : giveExplicitId(block, { id: INPUT_ID, index })),
    ...giveIds(nodes.filter(isExplicit), index),
    ...giveIds([...others, ...nodes], index),
  ];
  return { root, warnings };
}

function ownPieces({ nodes }: DocumentTree): readonly Piece[] {
  const [first, ...rest] = nodes;
  if (first === undefined) return [];
  const contents = [{ ...first, source: withoutMark(first.source) }, ...rest];
  return piecesOf(contents);
}

function withoutMark(source: string): string {
  return source.startsWith(BYTE_ORDER_MARK) ? source.slice(BYTE_ORDER_MARK.length) : source;
}

/** Before the first node, but behind the front matter. */
function hangInput(
  root: TreeNode,
  { input, options }: { readonly input: DocumentInputs; readonly options: GroupOptions },
) {
  const { origin, newline, nextSerial } = options;
  const texts = makeGroup(input.pieces ?? [], options);
  const [block, ...values] = inputPieces(input, newline).map((piece) =>
    new TreeNode(piece, { origin, serial: nextSerial() })
  );
  if (block !== undefined) attach(values, { parent: block, previous: undefined, isGuest: false });
  const previous = root.first?.content.kind === "front-matter" ? root.first : undefined;
  const tops = block === undefined ? texts.tops : [...texts.tops, block];
  attach(tops, { parent: root, previous, isGuest: false });
  return { block, others: [...texts.nodes, ...values] };
}
