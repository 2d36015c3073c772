import { FileError, type Files } from "./world.ts";

/** The text of a file; undefined when there is none. @throws {FileError} when it is there and cannot be read */
export async function maybeText(files: Files, path: string): Promise<string | undefined> {
  try {
    return await files.readText(path);
  } catch (error) {
    if (error instanceof FileError && error.code === "not-found") return undefined;
    throw error;
  }
}
