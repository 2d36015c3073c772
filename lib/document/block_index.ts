import type { Block } from "./block_list.ts";

/** The blocks of a document by their ids. */
export class BlockIndex {
  readonly #byId = new Map<string, Block>();
  /** By id: all numbers from 2 to this one are taken. */
  readonly #taken = new Map<string, number>();

  /** Gives a block an id, with the lowest free number where it is taken (documents.md 5.3). */
  give(block: Block, wanted: string): void {
    const base = idKey(wanted);
    let number = this.#byId.has(base) ? (this.#taken.get(base) ?? 1) + 1 : 0;
    if (number > 0) {
      while (this.#byId.has(`${base}-${number}`)) number++;
      this.#taken.set(base, number);
    }
    block.id = number === 0 ? wanted : `${wanted}-${number}`;
    block.baseId = wanted;
    this.#byId.set(idKey(block.id), block);
  }

  /** Takes a block's id away, so that it is free. */
  take(block: Block): void {
    if (block.id === undefined) return;
    const key = idKey(block.id);
    this.#byId.delete(key);
    const [, base = "", number] = /^(.+)-([1-9][0-9]{0,8})$/su.exec(key) ?? [];
    const taken = this.#taken.get(base);
    if (taken !== undefined && Number(number) <= taken) {
      this.#taken.set(base, Math.max(1, Number(number) - 1));
    }
    block.id = block.baseId = undefined;
  }

  byId(id: string): Block | undefined {
    return this.#byId.get(idKey(id));
  }

  /**
   * Gives ids to headings that have none: explicit ones first, then by title in document order (documents.md 5.3). What comes back are
   * warnings: an explicit id that is taken gets a number, while its text says it without.
   */
  giveAll(blocks: readonly Block[]): readonly string[] {
    const warnings: string[] = [];
    const without = blocks.filter(({ content, id }) => content.kind === "heading" && id === undefined);
    for (const block of without) {
      const wanted = block.content.kind === "heading" ? block.content.explicitId : undefined;
      if (wanted !== undefined) warnings.push(...this.giveExplicit(block, wanted));
    }
    for (const block of without) {
      if (block.content.kind === "heading" && block.id === undefined) {
        this.give(block, slug(block.content.title));
      }
    }
    return warnings;
  }

  /** Gives a block the id that its line says. */
  giveExplicit(block: Block, id: string): readonly string[] {
    this.give(block, id);
    return block.id === id ? [] : [`id "${id}" is taken; the new block is "${block.id}"`];
  }
}

/** An id as it is compared: however its marks are written, as file systems and keyboards differ in that. */
export function idKey(id: string): string {
  return id.normalize("NFC").toLowerCase();
}

const MARKS_OF_ASCII = /([A-Za-z0-9])[\u0300-\u036f]+/g;
/** Variation selectors, and the box around a key, as in an emoji: nobody types them. */
const LOOKS = /[\uFE00-\uFE0F\u20E3]+/g;
const BETWEEN_WORDS = /[^\p{L}\p{N}\p{M}]+/gu;

/** The auto id of a title, before it gets a number (documents.md 5.2); `section` when nothing is left of it. */
export function slug(title: string): string {
  const plain = title.replace(LOOKS, "").normalize("NFKD").replace(MARKS_OF_ASCII, "$1").normalize("NFC")
    .toLowerCase();
  const words = plain.split(BETWEEN_WORDS).filter((word) => word !== "");
  return words.length === 0 ? "section" : words.join("-");
}
