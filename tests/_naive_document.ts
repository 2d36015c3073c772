// A slow second way to do what a live document does: one list in document order, and who belongs to whom.

import type { LiveDocument } from "../lib/document/live_document.ts";
import type { LiveNode } from "../lib/document/live_node.ts";
import type { MergeMode } from "../lib/parse/document/operation.ts";

export interface NaivePlace {
  readonly operation: LiveNode;
  readonly mode: MergeMode;
  readonly to?: { readonly node: LiveNode; readonly isSection: boolean };
  readonly hasWrapper: boolean;
}

export class NaiveDocument {
  order: LiveNode[];
  readonly parents = new Map<LiveNode, LiveNode | undefined>();
  readonly #appended = new Map<LiveNode, LiveNode[]>();
  readonly #successors = new Map<LiveNode, LiveNode[]>();

  constructor(document: LiveDocument) {
    this.order = [...document.nodes()];
    this.#nest(this.order, undefined);
  }

  /** `nodes` as the live document gave them: the first is the target where one was replaced. */
  insert(nodes: readonly LiveNode[], { operation, mode, to, hasWrapper }: NaivePlace): void {
    const owner = to?.node ?? operation;
    const above = this.parents.get(owner);
    if (mode === "replace") {
      const at = this.order.indexOf(owner);
      const gone = to?.isSection ? this.section(owner) : [owner];
      if (nodes.length === 0 || to === undefined) {
        for (const child of this.order) {
          if (this.parents.get(child) === owner) this.parents.set(child, above);
        }
      }
      if (to?.isSection) this.#appended.set(owner, []);
      this.order = this.order.toSpliced(at, 1, ...nodes).filter((node) =>
        !gone.includes(node) || nodes.includes(node)
      );
      const tops = this.#nest(nodes, above, hasWrapper);
      const rest = to === undefined ? tops : tops.slice(1);
      this.#successors.set(owner, [...rest, ...(this.#successors.get(owner) ?? [])]);
      return;
    }
    const isInside = to !== undefined && mode === "append";
    const tops = this.#nest(nodes, isInside ? owner : above, hasWrapper);
    this.order.splice(this.#index({ owner, mode, isSection: to?.isSection === true }), 0, ...nodes);
    if (mode === "append" && to?.isSection !== true) {
      this.#appended.set(owner, [...(this.#appended.get(owner) ?? []), ...tops]);
    }
  }

  section(node: LiveNode): LiveNode[] {
    return this.order.filter((each) => this.depth(each, node) !== undefined);
  }

  depth(node: LiveNode, below: LiveNode): number | undefined {
    let depth = 0;
    for (let at: LiveNode | undefined = node; at !== undefined; at = this.parents.get(at), depth++) {
      if (at === below) return depth;
    }
    return undefined;
  }

  find(reference: string): LiveNode | undefined {
    const [first, ...steps] = reference.toLowerCase().split("/");
    let found = this.order.find(({ id }) => id?.toLowerCase() === first);
    for (const step of steps) {
      if (found === undefined) return undefined;
      const block: LiveNode = found;
      const matches = this.section(block).flatMap((node, at) => {
        const isId = node.id?.toLowerCase() === step;
        if (node === block || !(isId || node.baseId?.toLowerCase() === step)) return [];
        return [{ node, rank: [this.depth(node, block) ?? 0, isId ? 0 : 1, at] }];
      });
      matches.sort((a, b) =>
        a.rank.map((each, i) => each - (b.rank[i] ?? 0)).find((each) => each !== 0) ?? 0
      );
      found = matches[0]?.node;
    }
    return found;
  }

  #index({ owner, mode, isSection }: { owner: LiveNode; mode: MergeMode; isSection: boolean }): number {
    if (mode === "prepend") return this.order.indexOf(owner);
    if (isSection) return Math.max(...this.section(owner).map((node) => this.order.indexOf(node))) + 1;
    let appended = this.#appended.get(owner) ?? [];
    for (let last = appended.at(-1); last !== undefined; last = appended.at(-1)) {
      if (this.order.includes(last)) return this.#end(last) + 1;
      appended = [...appended.slice(0, -1), ...(this.#successors.get(last) ?? [])];
    }
    return this.order.indexOf(owner) + 1;
  }

  #end(node: LiveNode): number {
    const successors = (this.#successors.get(node) ?? []).filter((each) => this.order.includes(each));
    return Math.max(
      ...this.section(node).map((each) => this.order.indexOf(each)),
      ...successors.map((each) => this.#end(each)),
    );
  }

  #nest(nodes: readonly LiveNode[], above: LiveNode | undefined, hasWrapper = false): readonly LiveNode[] {
    const tops: LiveNode[] = [];
    for (const [at, node] of nodes.entries()) {
      const own = level(node);
      const holder = nodes.slice(hasWrapper ? 1 : 0, at).findLast((each) => level(each) < own);
      const wrapper = hasWrapper && at > 0 ? nodes[0] : undefined;
      if (holder === undefined && wrapper === undefined) tops.push(node);
      this.parents.set(node, holder ?? wrapper ?? above);
    }
    return tops;
  }
}

/** Of the text that stands above all headings and of operations: lower than any heading. */
function level({ content }: LiveNode): number {
  return content.kind === "heading" ? content.level : 1000;
}
