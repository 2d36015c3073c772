import type { Collection } from "../core/collection.ts";
import type { Embedder } from "../core/embedder.ts";
import { sha256 } from "../core/sha256.ts";
import { messageOf } from "../core/source_error.ts";
import type { Files } from "../core/world.ts";
import { ownDatabasePath, removeDatabase } from "../host/own_database.ts";
import { openPassageCollection, type PassageCollectionOptions } from "../retrieval/passage_collection.ts";
import { collectionSources } from "./collection_sources.ts";

/** How a collection is opened in a project. */
export interface ProjectCollectionOptions {
  /** The project root: absolute. */
  readonly root: string;
  /** Its files as a run may read them. */
  readonly files: Files;
  /** Of a module file: the session whose contents are searched. Default: all contents. */
  readonly session?: string;
  /** Of a module file: the collection file whose documents its sources may name by their ids; absolute. */
  readonly collection?: string;
  /** Searches by meaning too. */
  readonly embedder?: Embedder;
  /** The index is kept in `.orrery/`, where that can be written. Default true. */
  readonly isKept?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Opens the documents of a `*.collection.yml` or `*.module.yml` file for searching.
 *
 * @param file absolute
 * @throws {ProblemsError} for everything that is wrong with the file, and for documents that cannot be read
 * @throws {FileError} when it is not there, {PermissionRefused} when it, or a document, may not be read
 */
export async function projectCollection(
  file: string,
  { root, files, session, collection, embedder, isKept = true, signal }: ProjectCollectionOptions,
): Promise<Collection & Disposable> {
  const documents = await collectionSources(file, { root, files, session, collection });
  const options = { documents, files, embedder, signal };
  const name = sha256(JSON.stringify([file, session, collection])).slice(0, 16);
  const path = isKept ? ownDatabasePath(root, `retrieval-${name}`) : undefined;
  return path === undefined ? await inMemory(options) : await inFile(path, options);
}

type Options = Omit<PassageCollectionOptions, "index">;

async function inMemory(options: Options): Promise<Collection & Disposable> {
  return await openPassageCollection({ ...options, index: ":memory:" });
}

/** Whatever is wrong with the file, all that was in it can be made again. */
async function inFile(path: string, options: Options): Promise<Collection & Disposable> {
  const open = () => openPassageCollection({ ...options, index: path });
  try {
    return await open().catch((error) => {
      if (!isSqlite(error) || !/malformed|not a database/.test(messageOf(error))) throw error;
      removeDatabase(path);
      return open();
    });
  } catch (error) {
    if (!isSqlite(error)) throw error;
    return await inMemory(options);
  }
}

function isSqlite(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ERR_SQLITE_ERROR";
}
