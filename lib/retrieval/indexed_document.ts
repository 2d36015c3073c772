import type { CollectionDocument } from "../parse/files/collection.ts";

/** Where a document is looked for: in every search, or only where the secondary ones are wanted. */
export type DocumentRole = "primary" | "secondary";

/** What an index knows of a document besides its passages. */
export interface IndexedDocument {
  /** Another one, when anything that decides its passages has changed. */
  readonly key: string;
  readonly role: DocumentRole;
  readonly id: string;
  readonly name: string;
  readonly link?: string;
}

/** A passage that an index keeps. */
export interface IndexedPassage {
  readonly text: string;
  /** Titles above it, and its document's name: searched too, with more weight. */
  readonly titles: string;
  /** The page it begins on, from 1. */
  readonly page: number;
  /** In the text of its document, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** A document that an index does not have yet. */
export interface NewDocument extends IndexedDocument {
  readonly passages: readonly IndexedPassage[];
}

/** A document that is to be searched. */
export interface SourceDocument extends CollectionDocument {
  readonly role: DocumentRole;
  /** As the files of the world take it. */
  readonly path: string;
}
