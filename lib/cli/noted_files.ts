import { FileError } from "../core/world.ts";
import type { Files } from "../core/world.ts";

/** What a file is, as far as it matters: the hash of its bytes, or that there is none. */
export type FilePrint = string;

/** The print of a path where no file is. */
export const NO_FILE_THERE: FilePrint = "nothing";

/** The print of a file with these bytes. */
export async function printOf(bytes: Uint8Array): Promise<FilePrint> {
  const hash = await crypto.subtle.digest("SHA-256", new Uint8Array(bytes));
  return new Uint8Array(hash).toHex();
}

/** Hears which files are used. Paths are as they were named. */
export interface FileListener {
  /** It was read, or was not there. */
  onRead(path: string, print: FilePrint): void;
  /** It was looked at. */
  onLook(path: string): void;
  /** The run itself has written it. */
  onWrite(path: string): Promise<void>;
}

/** The same files; somebody hears of each that is used. */
export function notedFiles(files: Files, listener: FileListener): Files {
  const orMissing = (path: string, error: unknown): never => {
    if (error instanceof FileError && error.code === "not-found") listener.onRead(path, NO_FILE_THERE);
    throw error;
  };
  return {
    resolve: (path, options) => files.resolve(path, options),
    list: (path) => files.list(path),
    async stat(path) {
      const info = await files.stat(path).catch((error) => orMissing(path, error));
      listener.onLook(path);
      return info;
    },
    async readBytes(path, options) {
      const bytes = await files.readBytes(path, options).catch((error) => orMissing(path, error));
      listener.onRead(path, await printOf(bytes));
      return bytes;
    },
    async readText(path, options) {
      const text = await files.readText(path, options).catch((error) => orMissing(path, error));
      listener.onLook(path);
      return text;
    },
    async writeText(path, text) {
      await files.writeText(path, text);
      await listener.onWrite(path);
    },
  };
}
