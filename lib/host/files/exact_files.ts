// Files for whoever judges paths: lib/policy/guard_files.ts asks for the real path, judges that, and then gives it to the methods here, which
// follow no link. What is at that path by then is an error when it is another place (held_folder.ts).
import { dirname, resolve } from "node:path";
import { type FileInfo, type Files, fileText, type FolderEntry } from "../../core/core.ts";
import {
  exactAttempt,
  holdPlace,
  listExactly,
  lookExactly,
  makeFoldersExactly,
  readExactly,
  replaceExactly,
  writeAll,
} from "./exact_place.ts";
import { attemptOnFile, readable, withoutDeno } from "./attempt.ts";
import type { Place } from "./held_folder.ts";
import { realPath } from "../paths.ts";
import { denoGrants } from "../process.ts";

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
  using at = holdPlace(place);
  const info = lookExactly(at);
  return { kind: kindOf(info), size: info.size };
}

function kindOf(info: { readonly isFile: boolean; readonly isDirectory: boolean }): FileInfo["kind"] {
  return info.isFile ? "file" : info.isDirectory ? "folder" : "other";
}

function entriesOf(place: Place): readonly FolderEntry[] {
  return listExactly(place)
    .map((entry) => ({ name: entry.name, kind: kindOf(entry), link: entry.isSymlink }))
    .sort((a, b) => a.name < b.name ? -1 : 1);
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
