import { systemReason } from "./attempt.ts";
import { FileError, fileProblem } from "../../core/core.ts";
import { denoGrants } from "../process.ts";

/** A file that is written line by line beside its place, and takes it when it is whole. */
export interface GrowingFile {
  /** Where it is until then. */
  readonly partialPath: string;
  /** On return the system has it: what was written outlives this process. */
  write(text: string): void;
  /** Puts it in its place. @throws {FileError} */
  finish(): void;
}

/**
 * Begins a file beside its place, as `PATH.partial`; one that an earlier process left there is overwritten.
 *
 * @param path absolute; `shown` is how messages name it
 * @throws {FileError} when it is a folder, or cannot be written
 */
export function growingFile(path: string, shown: string): GrowingFile {
  const partialPath = `${path}.partial`;
  const file = attempt(shown, () => {
    if (isFolder(path)) throw fileProblem(shown, { action: "write", code: "is-folder" });
    if (!denoGrants({ name: "write", path: partialPath })) {
      throw new FileError(
        `Cannot write ${JSON.stringify(shown)}: Deno itself was started without --allow-write=${partialPath}`,
        { path: shown, code: "denied" },
      );
    }
    return Deno.openSync(partialPath, { write: true, create: true, truncate: true, mode: 0o600 });
  });
  const encoder = new TextEncoder();
  return {
    partialPath,
    write(text) {
      const bytes = encoder.encode(text);
      for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
    },
    finish: () =>
      attempt(shown, () => {
        file.syncSync();
        file.close();
        Deno.renameSync(partialPath, path);
      }),
  };
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

function attempt<Result>(shown: string, work: () => Result): Result {
  try {
    return work();
  } catch (cause) {
    if (cause instanceof FileError) throw cause;
    throw new FileError(`Cannot write ${JSON.stringify(shown)}: ${systemReason(cause)}`, {
      path: shown,
      code: "other",
      cause,
    });
  }
}
