import { dirname, resolve } from "node:path";
import { FileError, pathFromFolder, PermissionRefused } from "../core/core.ts";
import { type DocumentFile, MAX_DOCUMENT_BYTES, readDocument } from "../parse/document/document.ts";
import type { CheckDocumentOptions } from "./check_options.ts";
import { DocumentSource } from "./document_source.ts";

const MAX_BYTES_OF_UNIT = 3;

/** Why a file cannot be used. */
export interface ReadFailure {
  /** Whether it is not there: what runs before may make it. */
  readonly isMissing: boolean;
  /** The text of the error, with the path as it is written. */
  message(written: string): string;
}

/** What came of reading a file. */
export type ReadResult<T> = { readonly value: T } | { readonly failure: ReadFailure };

/** The files that a check reads, each once. */
export class SourceFiles {
  /** Every document, by its shown path. */
  readonly documents = new Map<string, DocumentFile>();
  readonly #options: Pick<CheckDocumentOptions, "root" | "read" | "mediaProblem">;
  readonly #texts = new Map<string, Promise<ReadResult<string>>>();
  readonly #sources = new Map<string, Promise<ReadResult<DocumentSource>>>();

  constructor(options: Pick<CheckDocumentOptions, "root" | "read" | "mediaProblem">) {
    this.#options = options;
  }

  /** A path that a file names, as messages show it: relative to the root where it lies inside. */
  shown(written: string, from = ""): string {
    const { root } = this.#options;
    return pathFromFolder(resolve(resolve(root, from === "" ? "" : dirname(from)), written), root);
  }

  /** A document, by its shown path. @param hasOperations false: its operations are text */
  open(path: string, hasOperations = true): Promise<ReadResult<DocumentSource>> {
    return remembered(this.#sources, `${hasOperations} ${path}`, () => this.#open(path, hasOperations));
  }

  /** The text of a file, by its shown path. */
  text(path: string): Promise<ReadResult<string>> {
    return remembered(this.#texts, path, () => attempt(() => this.#options.read(path)));
  }

  /** Why a file cannot be shown to a model; undefined when nothing is known to be wrong. */
  mediaProblem(path: string): Promise<ReadResult<string | undefined>> {
    return attempt(async () => await this.#options.mediaProblem?.(path));
  }

  async #open(path: string, hasOperations: boolean): Promise<ReadResult<DocumentSource>> {
    const read = await this.text(path);
    if ("failure" in read) return read;
    if (isTooLong(read.value)) return { failure: { isMissing: false, message: tooLong } };
    const file = await readDocument(read.value, { path, hasOperations });
    if (!this.documents.has(path)) this.documents.set(path, file);
    return { value: new DocumentSource(file, hasOperations) };
  }
}

async function attempt<T>(work: () => Promise<T>): Promise<ReadResult<T>> {
  try {
    return { value: await work() };
  } catch (thrown) {
    return { failure: failureOf(thrown) };
  }
}

function failureOf(thrown: unknown): ReadFailure {
  if (thrown instanceof PermissionRefused) {
    const { flag } = thrown;
    return { isMissing: false, message: flag === "" ? () => thrown.message : outside(flag) };
  }
  if (!(thrown instanceof FileError)) throw thrown;
  if (thrown.code !== "not-found") return { isMissing: false, message: () => thrown.message };
  return { isMissing: true, message: fileMissing };
}

function outside(flag: string): (written: string) => string {
  return (written) => fileOutside(written, { kind: "read", flag });
}

function tooLong(written: string): string {
  return `"${written}" is larger than 16 MiB: divide it into several files`;
}

function isTooLong(text: string): boolean {
  if (text.length > MAX_DOCUMENT_BYTES) return true;
  return text.length * MAX_BYTES_OF_UNIT > MAX_DOCUMENT_BYTES &&
    new TextEncoder().encode(text).length > MAX_DOCUMENT_BYTES;
}

function remembered<T>(known: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  let made = known.get(key);
  if (made === undefined) known.set(key, made = make());
  return made;
}

// What is said of a file by the check of a document and by its run. `written` is the path as the document has it.

/** A file that is not there (documents.md 10.1). */
export function fileMissing(written: string): string {
  return `file not found: "${written}"`;
}

/** A file beyond what was granted (documents.md 13.1). @param options.flag what would grant it; `where` is what it lies outside of */
export function fileOutside(
  written: string,
  { kind, flag, where = "the project root" }: {
    readonly kind: "read" | "write";
    readonly flag: string;
    readonly where?: string;
  },
): string {
  return `"${written}" is outside ${where}; ${kind} permission for it is needed (${flag})`;
}
