import { headingLine } from "../parse/document/lines.ts";
import { didYouMean } from "../parse/document/near.ts";
import { type BlockIndex, idKey, slug } from "./block_index.ts";
import type { Block, BlockList } from "./block_list.ts";
import type { LiveNode } from "./live_node.ts";

/** Where blocks are looked for. */
export interface BlockPlaces {
  readonly list: BlockList;
  readonly index: BlockIndex;
}

/** Finds what the steps of a reference lead to, or how many of them lead somewhere. */
export function findBlock(steps: readonly string[], { list, index }: BlockPlaces): Block | number {
  let block = index.byId(steps[0] ?? "");
  for (const [at, step] of steps.entries()) {
    if (at > 0 && block !== undefined) block = stepDown(block, step, list);
    if (block === undefined) return at;
  }
  return block ?? 0;
}

/** A descendant by id or base id: smallest depth first, then id before base id, then document order. */
function stepDown(block: Block, step: string, list: BlockList): Block | undefined {
  const key = idKey(step);
  let best: { readonly block: Block; readonly rank: number } | undefined;
  for (const [each, depth] of list.section(block)) {
    if (each === block || each.id === undefined) continue;
    const isNamed = idKey(each.id) === key;
    const rank = 2 * depth + (isNamed ? 0 : 1);
    if (isNamed || idKey(each.baseId ?? "") === key) {
      if (best === undefined || rank < best.rank) best = { block: each, rank };
    }
  }
  return best?.block;
}

/** Why the steps lead nowhere behind the first `found` of them (documents.md 5.8). */
export function notFound(
  steps: readonly string[],
  { found, places }: { readonly found: number; readonly places: BlockPlaces },
): BlockReferenceError {
  const name = steps[found] ?? "";
  if (found > 0) return new BlockReferenceError(`no block "${name}" in "${steps.slice(0, found).join("/")}"`);
  const hint = lostHeadings(places.list.blocks).get(idKey(name)) ??
    didYouMean(name, places.list.blocks.flatMap(({ id }) => id === undefined ? [] : [id]));
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

/** A reference in its parts: `a/b/*` is the steps `a` and `b`, and the whole section. */
interface ReferenceParts {
  readonly steps: readonly string[];
  /** Whether it ends in `/*`. */
  readonly isSection: boolean;
}

/** A reference that leads to no block, or is none. Its message is the text of documents.md 5. */
export class BlockReferenceError extends Error {
  override readonly name = "BlockReferenceError";
}

/** Reads a reference (documents.md 5.5, 5.6). @throws {BlockReferenceError} when a `*` stands elsewhere than at its end. */
export function readReference(reference: string): ReferenceParts {
  const text = reference.trim();
  const isSection = text.endsWith("/*");
  const path = isSection ? text.slice(0, -2) : text;
  if (path.includes("*")) {
    throw new BlockReferenceError('* may stand only at the end of a reference, as in "a/*"');
  }
  return { steps: path.split("/"), isSection };
}
