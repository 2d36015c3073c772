import { FileError, type FileErrorCode } from "./world.ts";

/** What was being done to a file. */
export type FileAction = "find" | "look at" | "read" | "write" | "list";

/**
 * The `FileError` in the words that every implementation of `Files` uses: `Cannot read "notes.txt": no such file`.
 *
 * `reason` replaces the usual words of the code; `other` has none of its own.
 */
export function fileProblem(
  path: string,
  options: {
    readonly action: FileAction;
    readonly code: FileErrorCode;
    readonly reason?: string;
    readonly cause?: unknown;
  },
): FileError {
  const { action, code, cause } = options;
  const reason = options.reason ?? usualReason(code, action);
  return new FileError(`Cannot ${action} ${JSON.stringify(path)}: ${reason}`, {
    path,
    code,
    ...(cause === undefined ? {} : { cause }),
  });
}

function usualReason(code: FileErrorCode, action: FileAction): string {
  switch (code) {
    case "not-found":
      return action === "list"
        ? "no such folder"
        : action === "look at"
        ? "no such file or folder"
        : "no such file";
    case "is-folder":
      return "it is a folder, not a file";
    case "not-folder":
      return action === "list" ? "it is a file, not a folder" : "a part of the path is a file, not a folder";
    case "not-text":
      return "it is not UTF-8 text";
    case "denied":
      return "the operating system does not permit it";
    case "other":
      return "it is not a regular file";
    default:
      return code satisfies never;
  }
}
