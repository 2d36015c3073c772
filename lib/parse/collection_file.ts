import type { SourceError } from "../core/source_error.ts";

/** How the text of a document is cut into passages (conversations.md 2.8). */
export type DocumentType = "text" | "book" | "paper" | "slides";

/** All of them, the default first. */
export const DOCUMENT_TYPES: readonly DocumentType[] = ["text", "book", "paper", "slides"];

/** A document of a collection. */
export interface CollectionDocument {
  readonly id: string;
  /** As it was written: relative to the folder of the file that names it, or absolute. */
  readonly file: string;
  /** Default `text`. */
  readonly type: DocumentType;
  /** `metadata.name`, else the id. */
  readonly name: string;
  readonly link?: string;
  /** Pages that are left out, from 1. */
  readonly exclude: readonly number[];
  /** A problem with it that is found later, at its place in the file. @param page which of `exclude` is meant */
  problem(message: string, options?: { readonly page?: number; readonly cause?: unknown }): SourceError;
}

/** A `*.collection.yml` file. */
export interface CollectionFile {
  /** As it was named. */
  readonly file: string;
  readonly documents: readonly CollectionDocument[];
}
