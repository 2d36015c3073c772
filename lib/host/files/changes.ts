// Files and their changes for whoever judges paths: lib/policy/guard_files.ts asks for the real path, judges that, and then gives it to the methods
// here, which follow no link. What is at that path by then is an error when it is another place (held_folder.ts).
import { dirname, resolve } from "node:path";
import {
  type FileAction,
  type FileChanges,
  type FileEntry,
  type FileInfo,
  type FileLook,
  fileProblem,
  type Files,
  fileText,
  type FolderEntry,
  tooLargeReason,
} from "../../core/core.ts";
import {
  appendExactly,
  createExactly,
  exactAttempt,
  fileBytes,
  holdPlace,
  listExactly,
  lookExactly,
  makeFolderExactly,
  makeFoldersExactly,
  maybeLookExactly,
  openedFile,
  readExactly,
  replaceExactly,
  writable,
  writeAll,
} from "./exact_place.ts";
import { attemptOnFile, codeOf, readable, withoutDeno } from "./attempt.ts";
import type { Place } from "./held_folder.ts";
import { realPath } from "../paths.ts";
import { denoGrants } from "../process.ts";

/** The files of this machine. @param options.root what relative paths are relative to; real and absolute */
export function hostFileChanges({ root }: { readonly root: string }): FileChanges {
  const attempt = exactAttempt(root);
  const goalOf = (action: FileAction, path: string): Place => ({ action, path, target: resolve(root, path) });
  return {
    look: (path, { isLink = false } = {}) => attempt("look at", path, (place) => look(place, isLink)),
    readBytes: (path, limits) => attempt("read", path, (place) => readWhole(place, limits), limits.signal),
    list: (path) => attempt("list", path, list),
    writeBytes: (path, bytes) =>
      attempt("write", path, async (place) => {
        using at = holdPlace(place);
        await replaceExactly(at, { fill: (file) => writeAll(file, bytes) });
      }),
    append: (path, bytes) =>
      attempt("append to", path, async (place) => {
        using at = holdPlace(place);
        await appendExactly(at, bytes);
      }),
    create: (path, bytes) =>
      attempt("create", path, async (place) => {
        using at = holdPlace(place);
        await createExactly(at, bytes);
      }),
    makeFolder: (path, { isRecursive }) =>
      attempt("make the folder", path, (place) => makeFolder(place, isRecursive)),
    remove: (path, { isRecursive }) => attempt("remove", path, (place) => remove(place, isRecursive)),
    rename: (path, to) => attempt("rename", path, (place) => rename(place, goalOf("rename", to))),
    copy: (path, to) => attempt("copy", path, (place) => copy(place, goalOf("write", to))),
  };
}

function look(place: Place, isLink: boolean): FileLook {
  using at = holdPlace(place);
  const info = lookExactly(at, { isLink });
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

function list(place: Place): readonly FileEntry[] {
  return listExactly(place)
    .map((entry) => ({ name: entry.name, kind: kindOf(entry) }))
    .sort((a, b) => a.name < b.name ? -1 : 1);
}

function readWhole(
  place: Place,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal },
): Promise<Uint8Array> {
  // One that grows meanwhile, or that says nothing of its size, as those of the kernel do, is bounded too.
  return readExactly(place, (size) => {
    signal?.throwIfAborted();
    if (size <= maxBytes) return;
    const reason = tooLargeReason(size, maxBytes);
    throw fileProblem(place.path, { action: place.action, code: "too-large", reason });
  });
}

function makeFolder(place: Place, isRecursive: boolean): void {
  if (!isRecursive) return makeFolderExactly(place);
  try {
    makeFoldersExactly(place);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotADirectory)) throw error;
    using at = holdPlace(place); // a part of the path may be no folder, or its end
    throw maybeLookExactly(at) === undefined ? error : new Deno.errors.AlreadyExists();
  }
}

function remove(place: Place, isRecursive: boolean): void {
  using at = holdPlace(place);
  writable(place);
  Deno.removeSync(at.held, { recursive: isRecursive });
}

function rename(from: Place, to: Place): void {
  using at = holdPlace(from);
  lookExactly(at, { isLink: true }); // so that what is missing below is the new folder
  try {
    using goal = holdPlace(to);
    writable(from);
    writable(to);
    Deno.renameSync(at.held, goal.held);
    at.folder.confirm();
    goal.folder.confirm();
  } catch (error) {
    throw renameProblem(error, to.path);
  }
}

/** Of its new place: that there is something at the old one is known. */
function renameProblem(error: unknown, path: string): unknown {
  switch (codeOf(error)) {
    case "not-found":
      return fileProblem(path, { action: "write", code: "not-found", cause: error });
    case "is-folder":
      return fileProblem(path, { action: "rename", code: "is-folder" });
    case "not-folder":
      return fileProblem(path, { action: "rename", code: "not-folder" });
    default:
      return error;
  }
}

async function copy(from: Place, to: Place): Promise<void> {
  using file = openedFile(from);
  await attemptOnFile("write", to.path, async () => {
    using goal = holdPlace(to);
    await replaceExactly(goal, {
      newMode: file.mode === null ? undefined : file.mode & 0o777,
      fill: async (copied) => {
        for await (const chunk of fileBytes(from, file)) await writeAll(copied, chunk);
      },
    });
  });
}

/**
 * The files of this machine, each at exactly its real path; `resolve` alone follows links. A link in a folder is told as `other`, wherever
 * it leads.
 *
 * @param options.root what relative paths are relative to; real and absolute
 */
export function exactFiles({ root }: { readonly root: string }): Files {
  const attempt = exactAttempt(root);
  const readBytes: Files["readBytes"] = (path, { signal } = {}) =>
    attempt("read", path, (place) => readExactly(place, () => signal?.throwIfAborted()), signal);
  return {
    readBytes,
    resolve: (path) =>
      attemptOnFile("find", path, () => realPath(readable("find", path, resolve(root, path)))),
    stat: (path) => attempt("look at", path, infoAt),
    readText: async (path, { signal } = {}) => fileText(path, await readBytes(path, { signal })),
    writeText: (path, text) => attempt("write", path, (place) => writeWhole(place, text)),
    list: (path) => attempt("list", path, entriesOf),
  };
}

function infoAt(place: Place): FileInfo {
  const { kind, size } = look(place, false);
  return { kind: unlinked(kind), size };
}

function entriesOf(place: Place): readonly FolderEntry[] {
  return list(place).map(({ name, kind }) => ({ name, kind: unlinked(kind), link: kind === "link" }));
}

function unlinked(kind: FileLook["kind"]): FileInfo["kind"] {
  return kind === "link" ? "other" : kind;
}

async function writeWhole(place: Place, text: string): Promise<void> {
  const folder = dirname(readable("write", place.path, place.target));
  if (!denoGrants({ name: "write", path: folder })) {
    // The folder, because the new text is written beside the file before it takes its place.
    throw withoutDeno(place.path, { action: "write", flag: `--allow-write=${folder}` });
  }
  makeFoldersExactly({ ...place, target: folder });
  using at = holdPlace(place);
  await replaceExactly(at, { fill: (file) => writeAll(file, new TextEncoder().encode(text)) });
}
