import { sha256 } from "../core/sha256.ts";
import { ProblemsError } from "../core/problems_error.ts";
import { messageOf, SourceError } from "../core/source_error.ts";
import { type Files, PermissionRefused } from "../core/world.ts";
import { documentPassages } from "./document_passages.ts";
import { INDEX_VERSION } from "./index_schema.ts";
import type { IndexedDocument, NewDocument } from "./indexed_document.ts";
import type { PassageIndex } from "./passage_index.ts";
import type { SourceDocument } from "./source_document.ts";

/** What is put in, and how it is read. */
export interface IndexDocumentsOptions {
  readonly documents: readonly SourceDocument[];
  readonly files: Pick<Files, "readBytes">;
  readonly signal?: AbortSignal;
}

/**
 * Makes an index hold exactly these documents. Every file is read; only what is new or has changed is cut and put in.
 *
 * @throws {ProblemsError} with everything that cannot be read, at its place in the collection file; then the index is as it was
 * @throws {PermissionRefused} for a file that may not be read
 */
export async function indexDocuments(index: PassageIndex, options: IndexDocumentsOptions): Promise<void> {
  const missing = index.replace(await loaded(options, index.keys()));
  // Another process has taken some away meanwhile: then all are given.
  if (missing.length > 0) index.replace(await loaded(options, new Set()));
}

async function loaded(
  { documents, files, signal }: IndexDocumentsOptions,
  known: ReadonlySet<string>,
): Promise<readonly (IndexedDocument | NewDocument)[]> {
  const problems: SourceError[] = [];
  const all: (IndexedDocument | NewDocument)[] = [];
  for (const document of documents) {
    signal?.throwIfAborted();
    try {
      const bytes = await files.readBytes(document.path, { signal });
      const indexed = await indexedDocument(document, bytes);
      const isKnown = known.has(indexed.key);
      all.push(
        isKnown ? indexed : { ...indexed, passages: await documentPassages(bytes, { document, signal }) },
      );
    } catch (error) {
      if (signal?.aborted || error instanceof PermissionRefused) throw error;
      problems.push(error instanceof SourceError ? error : fileProblem(document, error));
    }
  }
  if (problems.length > 0) throw new ProblemsError(problems);
  return all;
}

/** A document cannot be read; its file is named as it was written. */
export function fileProblem({ path, file, problem }: SourceDocument, error: unknown): SourceError {
  const message = messageOf(error).replace(JSON.stringify(path), () => JSON.stringify(file));
  return problem(message, { cause: error });
}

/** Its key is another one when anything that decides its passages has changed. */
async function indexedDocument(document: SourceDocument, bytes: Uint8Array): Promise<IndexedDocument> {
  const { id, name, link, role, path, type, exclude } = document;
  const content = await contentHash(bytes);
  const key = sha256(JSON.stringify([INDEX_VERSION, id, name, path, type, exclude, content]));
  return { key, role, id, name, link };
}

async function contentHash(bytes: Uint8Array): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes.slice())).toHex();
}
