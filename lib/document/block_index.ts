import { IdNumbers } from "./id_numbers.ts";
import type { TreeNode } from "./tree_node.ts";

/** The blocks of a document by their ids, case ignored, and by their ids before numbering. */
export class BlockIndex {
  readonly #byId = new Map<string, TreeNode>();
  readonly #byBase = new Map<string, Set<TreeNode>>();
  readonly #numbers = new IdNumbers();

  /** Gives a node an id, with a number where it is taken (documents.md 5.3). */
  give(node: TreeNode, wanted: string): void {
    const key = idKey(wanted);
    const isTaken = (id: string): boolean => this.#byId.has(id);
    const id = isTaken(key) ? `${wanted}-${this.#numbers.lowest(key, isTaken)}` : wanted;
    node.id = id;
    node.baseId = wanted;
    this.#byId.set(idKey(id), node);
    const alike = this.#byBase.get(key);
    if (alike === undefined) this.#byBase.set(key, new Set([node]));
    else alike.add(node);
  }

  /** Takes a node's id away, so that it is free. */
  take(node: TreeNode): void {
    if (node.id === undefined || node.baseId === undefined) return;
    const key = idKey(node.id);
    const base = idKey(node.baseId);
    const alike = this.#byBase.get(base);
    this.#byId.delete(key);
    this.#numbers.free(key);
    alike?.delete(node);
    if (alike?.size === 0) this.#byBase.delete(base);
    node.id = node.baseId = undefined;
  }

  byId(id: string): TreeNode | undefined {
    return this.#byId.get(idKey(id));
  }

  /** The blocks with this base id, in no order. */
  byBase(id: string): ReadonlySet<TreeNode> {
    return this.#byBase.get(idKey(id)) ?? NONE;
  }
}

const NONE: ReadonlySet<TreeNode> = new Set();

/** An id as it is compared: however its marks are written, as file systems and keyboards differ in that. */
export function idKey(id: string): string {
  return id.normalize("NFC").toLowerCase();
}
