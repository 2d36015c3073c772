/** A reference in its parts: `a/b/*` is the steps `a` and `b`, and the whole section. */
export interface ReferenceParts {
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
