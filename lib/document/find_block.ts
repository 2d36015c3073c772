import { didYouMean } from "../parse/document_near.ts";
import type { BlockIndex } from "./block_index.ts";
import { BlockReferenceError } from "./reference.ts";
import type { TreeNode } from "./tree_node.ts";
import { type Descendant, descendants, sectionOf, wholeSection } from "./walk.ts";

/** Above this number of blocks with a name, walking the section is quicker than walking up from each. */
const FEW = 16;

/** Where blocks are looked for. */
export interface BlockPlaces {
  readonly root: TreeNode;
  readonly index: BlockIndex;
}

/** Finds what the steps of a reference lead to, or how many of them lead somewhere. */
export function findBlock(steps: readonly string[], { index }: BlockPlaces): TreeNode | number {
  let block = index.byId(steps[0] ?? "");
  for (const [at, step] of steps.entries()) {
    if (at > 0 && block !== undefined) block = stepDown(block, { step, index });
    if (block === undefined) return at;
  }
  return block ?? 0;
}

/** Why the steps lead nowhere behind the first `found` of them (documents.md 5.8). */
export function notFound(
  steps: readonly string[],
  { found, places }: { readonly found: number; readonly places: BlockPlaces },
): BlockReferenceError {
  const name = steps[found] ?? "";
  if (found > 0) return new BlockReferenceError(`no block "${name}" in "${steps.slice(0, found).join("/")}"`);
  return new BlockReferenceError(`no block "${name}"${didYouMean(name, knownIds(places.root))}`);
}

function* knownIds(root: TreeNode): Generator<string> {
  for (const { id } of wholeSection(root)) {
    if (id !== undefined) yield id;
  }
}

interface Step {
  readonly step: string;
  readonly index: BlockIndex;
}

/** A descendant by id or base id: smallest depth first, then id before base id, then document order. */
function stepDown(block: TreeNode, { step, index }: Step): TreeNode | undefined {
  const byId = index.byId(step);
  const named = byId !== undefined && depthBelow(block, byId) !== undefined ? byId : undefined;
  const alike = index.byBase(step);
  if (alike.size > FEW) return nearestBelow(block, { alike, named });
  const candidates = named === undefined ? alike : new Set([named, ...alike]);
  const matches: Descendant[] = [];
  for (const node of candidates) {
    const depth = depthBelow(block, node);
    if (depth !== undefined) matches.push({ node, depth });
  }
  const least = Math.min(...matches.map(({ depth }) => depth));
  const nearest = matches.filter(({ depth }) => depth === least).map(({ node }) => node);
  if (named !== undefined && nearest.includes(named)) return named;
  return nearest.length < 2 ? nearest[0] : nearestBelow(block, { alike, named });
}

interface Wanted {
  readonly alike: ReadonlySet<TreeNode>;
  readonly named: TreeNode | undefined;
}

function nearestBelow(block: TreeNode, { alike, named }: Wanted): TreeNode | undefined {
  let best: Descendant | undefined;
  const isNamedMissing = () => named !== undefined && best?.node !== named;
  const isWorth = (depth: number): boolean =>
    best === undefined || depth < best.depth || (depth === best.depth && isNamedMissing());
  for (const { node, depth } of descendants(block, isWorth)) {
    if (node !== named && !alike.has(node)) continue;
    if (best === undefined || depth < best.depth || (depth === best.depth && node === named)) {
      best = { node, depth };
    }
  }
  return best?.node;
}

function depthBelow(block: TreeNode, node: TreeNode): number | undefined {
  let depth = 1;
  for (let at = sectionOf(node); at !== undefined; at = sectionOf(at), depth++) {
    if (at === block) return depth;
  }
  return undefined;
}
