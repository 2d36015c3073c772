// Files as they are, without any policy: lib/policy/guard.ts puts one around them.
import { join, resolve } from "../core/path.ts";
import { fileProblem } from "../core/file_problem.ts";
import { fileText } from "../core/file_text.ts";
import type { FileInfo, Files, FolderEntry } from "../core/world.ts";
import { attemptOnFile as attempt, readable } from "./file_attempt.ts";
import { realPath } from "./paths.ts";
import { writeWhole } from "./write_whole.ts";

/** Where the files are, and how new ones are made. */
export interface HostFilesOptions {
  /** What relative paths are relative to; absolute. */
  readonly root: string;
  /** The mode of every file written, such as 0o600; then folders on the way are 0o700. Default: kept, or the usual one. */
  readonly mode?: number;
}

/** The files of this machine. No effect puts a question of Deno's own on the terminal: without Deno's permission it is a `denied` error. */
export function hostFiles(options: HostFilesOptions): Files {
  const absolute = (path: string) => resolve(options.root, path);
  const readBytes: Files["readBytes"] = (path, { signal } = {}) =>
    attempt("read", path, () => bytesAt({ path, target: absolute(path), ...(signal && { signal }) }), signal);
  return {
    readBytes,
    resolve: (path) => attempt("find", path, () => realPath(readable("find", path, absolute(path)))),
    stat: (path) =>
      attempt(
        "look at",
        path,
        async () => infoOf(await Deno.stat(readable("look at", path, absolute(path)))),
      ),
    readText: async (path, { signal } = {}) =>
      fileText(path, await readBytes(path, { ...(signal && { signal }) })),
    writeText: (path, text) =>
      attempt("write", path, () => writeWhole({ path, target: absolute(path), text, mode: options.mode })),
    list: (path) => attempt("list", path, () => entriesOf(readable("list", path, absolute(path)))),
  };
}

async function bytesAt(options: { path: string; target: string; signal?: AbortSignal }): Promise<Uint8Array> {
  const { path, target, signal } = options;
  const { kind } = infoOf(await Deno.stat(readable("read", path, target)));
  // A pipe or a device may never end.
  if (kind !== "file") {
    throw fileProblem(path, { action: "read", code: kind === "folder" ? "is-folder" : "other" });
  }
  return await Deno.readFile(target, { ...(signal && { signal }) });
}

async function entriesOf(folder: string): Promise<readonly FolderEntry[]> {
  const entries: FolderEntry[] = [];
  for await (const entry of Deno.readDir(folder)) {
    const info = entry.isSymlink ? await Deno.stat(join(folder, entry.name)).catch(() => undefined) : entry;
    const kind = info?.isFile ? "file" : info?.isDirectory ? "folder" : "other";
    entries.push({ name: entry.name, kind, link: entry.isSymlink });
  }
  return entries.sort((a, b) => a.name < b.name ? -1 : 1);
}

function infoOf(info: Deno.FileInfo): FileInfo {
  return { kind: info.isFile ? "file" : info.isDirectory ? "folder" : "other", size: info.size };
}
