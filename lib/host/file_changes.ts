// Changes of files as they are, without any policy: lib/policy/guard_file_changes.ts puts one around them. Whoever judged a path judged
// the real one. So every method looks once more whether a link has been put on it, and acts in the same turn of the event loop: nothing
// else that Orrery does for a gadget can come between.
import { type FileChanges, type FileLook, tooLargeReason } from "../core/file_changes.ts";
import { type FileAction, fileProblem } from "../core/file_text.ts";
import { resolve } from "../core/path.ts";
import { attemptOnFile, readable } from "./file_attempt.ts";
import { exactly, fileBytes, maybeInfo, openExactly, type Place, writable, writeAll } from "./exact_place.ts";
import { appendExactly, createExactly, replaceExactly } from "./replace_exactly.ts";

/** The files of this machine. @param options.root what relative paths are relative to; real and absolute */
export function hostFileChanges({ root }: { readonly root: string }): FileChanges {
  const placeOf = (action: FileAction, path: string): Place => ({
    action,
    path,
    target: resolve(root, path),
  });
  const attempt = <T>(
    action: FileAction,
    path: string,
    work: (place: Place) => T | Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> => attemptOnFile(action, path, () => work(placeOf(action, path)), signal);
  return {
    look: (path, { isLink = false } = {}) => attempt("look at", path, (place) => look(place, isLink)),
    readBytes: (path, limits) => attempt("read", path, (place) => readWhole(place, limits), limits.signal),
    list: (path) => attempt("list", path, list),
    writeBytes: (path, bytes) =>
      attempt("write", path, (place) => replaceExactly(place, { fill: (file) => writeAll(file, bytes) })),
    append: (path, bytes) => attempt("append to", path, (place) => appendExactly(place, bytes)),
    create: (path, bytes) => attempt("create", path, (place) => createExactly(place, bytes)),
    makeFolder: (path, { isRecursive }) =>
      attempt("make the folder", path, (place) => makeFolder(place, isRecursive)),
    remove: (path, { isRecursive }) => attempt("remove", path, (place) => remove(place, isRecursive)),
    rename: (path, to) => attempt("rename", path, (place) => rename(place, placeOf("rename", to))),
    copy: (path, to) => attempt("copy", path, (place) => copy(place, placeOf("write", to))),
  };
}

function look(place: Place, isLink: boolean): FileLook {
  exactly(place, { isLink });
  const info = Deno.lstatSync(readable(place.action, place.path, place.target));
  const { size, mtime, birthtime, mode } = info;
  return {
    kind: kindOf(info),
    size,
    ...(mtime !== null && { modifiedMs: mtime.getTime() }),
    ...(birthtime !== null && { createdMs: birthtime.getTime() }),
    ...(mode !== null && { mode }),
  };
}

function kindOf(info: { isFile: boolean; isDirectory: boolean; isSymlink: boolean }): FileLook["kind"] {
  return info.isSymlink ? "link" : info.isFile ? "file" : info.isDirectory ? "folder" : "other";
}

function list(place: Place): Awaited<ReturnType<FileChanges["list"]>> {
  exactly(place);
  return [...Deno.readDirSync(readable(place.action, place.path, place.target))]
    .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
    .sort((a, b) => a.name < b.name ? -1 : 1);
}

async function readWhole(
  place: Place,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal },
): Promise<Uint8Array> {
  using file = openExactly(place);
  const expected = file.statSync().size;
  const tooLarge = (size: number): Error =>
    fileProblem(place.path, {
      action: place.action,
      code: "too-large",
      reason: tooLargeReason(size, maxBytes),
    });
  if (expected > maxBytes) throw tooLarge(expected);
  const chunks: Uint8Array[] = [];
  let size = 0;
  // One that grows meanwhile, or that says nothing of its size, as those of the kernel do, is bounded too.
  for await (const chunk of fileBytes(file)) {
    signal?.throwIfAborted();
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(size);
    chunks.push(chunk);
  }
  return oneArray(chunks, size);
}

function oneArray(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const all = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

function makeFolder(place: Place, isRecursive: boolean): void {
  exactly(place);
  if (isRecursive && maybeInfo(place.target)?.isDirectory) return;
  Deno.mkdirSync(writable(place), { recursive: isRecursive });
}

function remove(place: Place, isRecursive: boolean): void {
  exactly(place, { isLink: true });
  Deno.removeSync(writable(place), { recursive: isRecursive });
}

function rename(from: Place, to: Place): void {
  exactly(from, { isLink: true });
  exactly(to, { isLink: true });
  Deno.lstatSync(readable("rename", from.path, from.target)); // so that what is missing below is the new folder
  try {
    Deno.renameSync(writable(from), writable(to));
  } catch (error) {
    const isMissing = error instanceof Deno.errors.NotFound;
    if (isMissing) throw fileProblem(to.path, { action: "write", code: "not-found", cause: error });
    if (error instanceof Deno.errors.IsADirectory) {
      throw fileProblem(to.path, { action: "rename", code: "is-folder" });
    }
    if (error instanceof Deno.errors.NotADirectory) {
      throw fileProblem(to.path, { action: "rename", code: "not-folder" });
    }
    throw error;
  }
}

async function copy(from: Place, to: Place): Promise<void> {
  using file = openExactly(from);
  const { mode } = file.statSync();
  await attemptOnFile("write", to.path, () =>
    replaceExactly(to, {
      mode: mode === null ? undefined : mode & 0o777,
      fill: async (copied) => {
        for await (const chunk of fileBytes(file)) await writeAll(copied, chunk);
      },
    }));
}
