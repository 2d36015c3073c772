import { type FileAction, FileError, type FileErrorCode, fileProblem, messageOf } from "../../core/core.ts";
import { denoGrants } from "../process.ts";

/** Turns what Deno throws into a `FileError` that names the path as it was given. */
export async function attemptOnFile<T>(
  action: FileAction,
  path: string,
  work: () => T | Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  try {
    signal?.throwIfAborted();
    if (path.length > MAX_PATH_LENGTH) {
      const reason = `the path has ${path.length} characters, at most ${MAX_PATH_LENGTH} are possible`;
      throw fileProblem(`${path.slice(0, 100)}\u2026`, { action, code: "other", reason });
    }
    if (path.includes("\0")) {
      throw fileProblem(path, { action, code: "other", reason: "the path holds a NUL character" });
    }
    return await work();
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof FileError) throw error;
    const code = codeOf(error);
    throw fileProblem(path, {
      action,
      code,
      cause: error,
      ...(code === "other" && { reason: systemReason(error) }),
    });
  }
}

/** PATH_MAX of Linux; other systems have less. */
const MAX_PATH_LENGTH = 4096;

/** What kind of problem an error of Deno or of `node:fs` is. */
export function codeOf(error: unknown): FileErrorCode {
  if (error instanceof Deno.errors.NotFound) return "not-found";
  if (error instanceof Deno.errors.AlreadyExists) return "exists";
  if (error instanceof Deno.errors.IsADirectory) return "is-folder";
  if (error instanceof Deno.errors.NotADirectory) return "not-folder";
  if (error instanceof Deno.errors.PermissionDenied) return "denied";
  return error instanceof Error && "code" in error ? SYSTEM_CODES.get(error.code) ?? "other" : "other";
}

/** See errno(3). */
const SYSTEM_CODES: ReadonlyMap<unknown, FileErrorCode> = new Map([
  ["ENOENT", "not-found"],
  ["EEXIST", "exists"],
  ["EISDIR", "is-folder"],
  ["ENOTDIR", "not-folder"],
  ["ENOTEMPTY", "not-empty"],
  ["EACCES", "denied"],
  ["EPERM", "denied"],
]);

/**
 * What went wrong, as the system says it: `No space left on device (os error 28): write ...` and `ENOSPC: no space left on device, write`
 * are `No space left on device`.
 */
export function systemReason(error: unknown): string {
  return messageOf(error)
    .replace(/ \(os error \d+\).*$/s, "")
    .replace(/^E[A-Z0-9]+: (.)([^,]*).*$/s, (_, first: string, rest: string) => first.toUpperCase() + rest);
}

/** Gives the target back when Deno may read it. @throws {FileError} `denied` otherwise. */
export function readable(action: FileAction, path: string, target: string): string {
  if (denoGrants({ name: "read", path: target })) return target;
  throw withoutDeno(path, { action, flag: `--allow-read=${target}` });
}

/** The error for what Deno was not started with. */
export function withoutDeno(
  path: string,
  options: { readonly action: FileAction; readonly flag: string },
): FileError {
  const reason = `Deno itself was started without ${options.flag}`;
  return fileProblem(path, { action: options.action, code: "denied", reason });
}
