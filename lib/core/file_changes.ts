// What the effects of a gadget need of files, beside `Files`: bytes, and every change there is.

/** What is at a path. */
export interface FileLook {
  readonly kind: "file" | "folder" | "link" | "other";
  /** Bytes. */
  readonly size: number;
  /** ms since 1970, as far as the system says it. */
  readonly modifiedMs?: number;
  readonly createdMs?: number;
  /** POSIX bits with the kind. */
  readonly mode?: number;
}

/** An entry of a folder; a link is told as a link, wherever it leads. */
export interface FileEntry {
  readonly name: string;
  readonly kind: FileLook["kind"];
}

/**
 * Changes of files, and looks at them, each on exactly the path given. Paths are relative to the project root or absolute; the guarded
 * form (lib/policy/guard_files.ts) follows links and judges where they lead, and what it then names here must be real: a path
 * on which a link has been put meanwhile is an error.
 *
 * Every method throws a `FileError` that names the path as it was given.
 */
export interface FileChanges {
  /** @param options.isLink at a link itself, not at what it leads to; the guarded form alone follows */
  look(path: string, options?: { readonly isLink?: boolean }): Promise<FileLook>;
  /** @throws {FileError} `too-large` when it has more than `maxBytes` */
  readBytes(
    path: string,
    options: { readonly maxBytes: number; readonly signal?: AbortSignal },
  ): Promise<Uint8Array>;
  /** The entries of a folder, sorted by name. */
  list(path: string): Promise<readonly FileEntry[]>;
  /** Whole or not at all: written beside the target, then renamed; the mode is kept. Its folder must be there. */
  writeBytes(path: string, bytes: Uint8Array): Promise<void>;
  /** At the end of the file, which is made when it is not there. What cannot be written whole is taken back. */
  append(path: string, bytes: Uint8Array): Promise<void>;
  /** A file that is not there yet. @throws {FileError} `exists` */
  create(path: string, bytes: Uint8Array): Promise<void>;
  /** @param options.isRecursive with the folders on the way; one that is there is no error */
  makeFolder(path: string, options: { readonly isRecursive: boolean }): Promise<void>;
  /** A link itself, not what it leads to. @param options.isRecursive a folder with all that is in it */
  remove(path: string, options: { readonly isRecursive: boolean }): Promise<void>;
  /** A link itself; what is at the new path is replaced, unless it is a folder with something in it. */
  rename(path: string, to: string): Promise<void>;
  /** The bytes and the mode of a file, whole or not at all; what is at the new path is replaced. */
  copy(path: string, to: string): Promise<void>;
}

/** In words, for the error of a file that is larger than may be read at once. */
export function tooLargeReason(size: number, maxBytes: number): string {
  return `it has ${size} bytes, at most ${maxBytes} can be read at once`;
}
