import {
  type Collection,
  type Embedder,
  type Files,
  messageOf,
  pathFromFolder,
  ProblemsError,
  sha256,
  SourceError,
} from "../core/core.ts";
import { basename, dirname, resolve } from "node:path";
import { ownDatabasePath, removeDatabase } from "../host/files/journal_files.ts";
import { didYouMean } from "../parse/document/near.ts";
import { type CollectionDocument, readCollectionFile } from "../parse/files/collection.ts";
import { type ModuleFile, type ModuleSource, readModuleFile } from "../parse/files/module.ts";
import type { DocumentRole, SourceDocument } from "../retrieval/passage_index.ts";
import { openPassageCollection, type PassageCollectionOptions } from "../retrieval/passage_collection.ts";

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

/** Where the documents of a search are named. */
interface CollectionSourcesOptions {
  /** The project root, for messages: absolute. */
  readonly root: string;
  readonly files: Pick<Files, "readText">;
  /** Of a module: its documents are those of the contents of this session. Absent: of all its contents. */
  readonly session?: string;
  /** Of a module: the collection file whose documents its sources may name by their ids; absolute. */
  readonly collection?: string;
}

/**
 * The documents that a `*.collection.yml` file names, all of them primary, or those that a `*.module.yml` file does (conversations.md 2.8).
 *
 * @param file absolute
 * @throws {ProblemsError} for everything that is wrong with the file, and for sources that name nothing
 */
export async function collectionSources(
  file: string,
  options: CollectionSourcesOptions,
): Promise<readonly SourceDocument[]> {
  if (!/\.module\.ya?ml$/i.test(file)) return await documentsOf(file, { ...options, role: "primary" });
  const shown = pathFromFolder(file, options.root);
  const module = await readModuleFile(await options.files.readText(file), shown);
  return onlyOnce(await sourcesOf(module, { ...options, file }));
}

type DocumentsOptions = CollectionSourcesOptions & { readonly role: DocumentRole };

async function documentsOf(
  file: string,
  { root, files, role }: DocumentsOptions,
): Promise<readonly SourceDocument[]> {
  const { documents } = await readCollectionFile(await files.readText(file), pathFromFolder(file, root));
  return documents.map((document) => ({ ...document, role, path: resolve(dirname(file), document.file) }));
}

type ModuleOptions = CollectionSourcesOptions & { readonly file: string };

async function sourcesOf(module: ModuleFile, options: ModuleOptions): Promise<readonly SourceDocument[]> {
  const { collection } = options;
  const named = collection === undefined
    ? []
    : await documentsOf(collection, { ...options, role: "primary" });
  const contents = contentsOf(module, options.session);
  const problems: SourceError[] = [];
  const found: SourceDocument[] = [];
  for (const role of ["primary", "secondary"] as const) {
    for (const source of contents.flatMap((content) => content[role])) {
      const document = named.find(({ id }) => id === source.name);
      const problem = document === undefined ? nameProblem(source, named) : undefined;
      if (problem !== undefined) problems.push(problem);
      else if (document !== undefined) found.push({ ...document, role });
      else found.push(...await fileSources(source, { ...options, role }));
    }
  }
  if (problems.length > 0) throw new ProblemsError(problems);
  return found;
}

function contentsOf({ file, sessions, contents }: ModuleFile, wanted: string | undefined) {
  if (wanted === undefined) return contents;
  const session = sessions.find(({ id }) => id === wanted);
  if (session === undefined) {
    const near = didYouMean(wanted, sessions.map(({ id }) => id));
    const message = `module.sessions: there is no session ${JSON.stringify(wanted)}${near}`;
    throw new ProblemsError([new SourceError(message, { span: { file, line: 1, column: 1 } })]);
  }
  return contents.filter(({ id }) => session.contents === undefined || session.contents.includes(id));
}

/** What is neither an id nor looks like a file. */
function nameProblem(
  { name, problem }: ModuleSource,
  named: readonly CollectionDocument[],
): SourceError | undefined {
  if (/[./\\]/.test(name)) return undefined;
  const ids = named.map(({ id }) => id);
  const known = ids.length === 0
    ? "; a file needs its ending, and no collection is configured"
    : didYouMean(name, ids);
  return problem(`there is no document ${JSON.stringify(name)}${known}`);
}

/** A file alone, or all that a collection file names. */
async function fileSources(
  { name, problem }: ModuleSource,
  options: ModuleOptions & { readonly role: DocumentRole },
): Promise<readonly SourceDocument[]> {
  const path = resolve(dirname(options.file), name);
  if (/\.collection\.ya?ml$/i.test(name)) return await documentsOf(path, options);
  const { role } = options;
  return [{ id: name, file: name, path, role, type: "text", name: basename(name), exclude: [], problem }];
}

/** A document that several contents have, or that is primary and secondary, is searched once: where it was first. */
function onlyOnce(documents: readonly SourceDocument[]): readonly SourceDocument[] {
  const first = new Map<string, SourceDocument>();
  for (const document of documents) {
    const { id, path, exclude } = document;
    const key = JSON.stringify([id, path, exclude]);
    if (!first.has(key)) first.set(key, document);
  }
  return [...first.values()];
}
