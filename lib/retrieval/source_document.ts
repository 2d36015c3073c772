import type { CollectionDocument } from "../parse/collection_file.ts";
import type { DocumentRole } from "./indexed_document.ts";

/** A document that is to be searched. */
export interface SourceDocument extends CollectionDocument {
  readonly role: DocumentRole;
  /** As the files of the world take it. */
  readonly path: string;
}
