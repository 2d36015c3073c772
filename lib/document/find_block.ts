import { didYouMean } from "../parse/document_near.ts";
import { headingLine } from "../parse/heading_line.ts";
import { type BlockIndex, idKey } from "./block_index.ts";
import type { LiveNode } from "./live_node.ts";
import { BlockReferenceError } from "./reference.ts";
import { slug } from "./slug.ts";
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
  const hint = lostHeadings(wholeSection(places.root)).get(idKey(name)) ??
    didYouMean(name, knownIds(places.root));
  return new BlockReferenceError(`no block "${name}"${hint}`);
}

const LOST_ID = /\{[ \t]*(?:id[ \t]*=[ \t]*|#)(\p{L}[\p{L}\p{Nd}_-]*)[ \t]*\}$/u;

/** What looks like a heading with an id and is none, or has not this id: the ids as they are compared, and what is said of each. */
export function lostHeadings(nodes: Iterable<LiveNode>): ReadonlyMap<string, string> {
  const lost = new Map<string, string>();
  for (const { content, origin } of nodes) {
    if (content.kind !== "heading" && content.kind !== "text" || !content.source.includes("#")) continue;
    for (const [at, written] of content.source.split("\n").entries()) {
      const text = written.trim();
      if (!text.startsWith("#")) continue;
      const isHeading = at === 0 && content.kind === "heading";
      if (isHeading && content.explicitId !== undefined) continue;
      const where = `: ${JSON.stringify(text.slice(0, 60))}${
        origin.by === "file" ? ` in line ${content.line + at}` : ""
      }`;
      const tell = (id: string, why: string) => lost.set(idKey(id), lost.get(idKey(id)) ?? `${where} ${why}`);
      const id = LOST_ID.exec(text)?.[1];
      if (id !== undefined && isHeading) {
        tell(id, `has another id: it is written {id=${id}}, at the very end of the line`);
      }
      const heading = isHeading ? undefined : headingLine(text);
      if (heading !== undefined) tell(heading.explicitId ?? id ?? slug(heading.title), IS_TEXT);
    }
  }
  return lost;
}

const IS_TEXT =
  "is text: a heading begins its line, with an empty line above it and no fence or comment around";

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
