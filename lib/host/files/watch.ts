// Editors put a new file in the place of the old one: what is watched is the folder, by the names in it.

import type { FileWatch } from "../../core/core.ts";
import { dirname } from "node:path";
import { denoGrants } from "../process.ts";

/** How often is looked where the system cannot tell of changes. */
const POLL_MS = 1000;

/** The changes of files as the system tells them; where it does not, `onChange` is called once a second. */
export function hostFileWatch(): FileWatch {
  return { watch: watchFiles };
}

function watchFiles(paths: readonly string[], onChange: () => void): Disposable {
  const watcher = maybeWatcher(paths);
  if (watcher === undefined) return polling(onChange);
  let isOver = false;
  let poll: Disposable | undefined;
  const onError = (): void => {
    if (!isOver) poll = polling(onChange);
  };
  follow(watcher, { paths, onChange }).catch(onError);
  return {
    [Symbol.dispose]() {
      isOver = true;
      poll?.[Symbol.dispose]();
      watcher.close();
    },
  };
}

/** The system has a limit of what it watches, and some file systems tell nothing. */
function maybeWatcher(paths: readonly string[]): Deno.FsWatcher | undefined {
  try {
    for (;;) {
      const folders = nearestFolders(paths);
      const watcher = Deno.watchFs([...folders], { recursive: false });
      // A folder that was made just before it was watched is one that nobody tells of.
      if (nearestFolders(paths).isSubsetOf(folders)) return watcher;
      watcher.close();
    }
  } catch {
    return undefined;
  }
}

function nearestFolders(paths: readonly string[]): ReadonlySet<string> {
  return new Set(paths.map(nearestFolder));
}

async function follow(
  watcher: Deno.FsWatcher,
  { paths, onChange }: { readonly paths: readonly string[]; readonly onChange: () => void },
): Promise<void> {
  for await (const { kind, paths: changed } of watcher) {
    if (kind !== "access" && changed.some((at) => paths.some((path) => isAtOrAbove(at, path)))) onChange();
  }
}

/** A folder on the way to a file that is not there yet may be made. */
function isAtOrAbove(at: string, path: string): boolean {
  return path === at || (path.startsWith(at) && /[\\/]/.test(path.charAt(at.length)));
}

function nearestFolder(path: string): string {
  const folder = dirname(path);
  try {
    if (Deno.statSync(folder).isDirectory || folder === path) return folder;
  } catch { /* not there: the one above */ }
  return folder === path ? folder : nearestFolder(folder);
}

function polling(onChange: () => void): Disposable {
  const timer = setInterval(onChange, POLL_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** A folder with more than this is looked at no further. */
const MAX_ENTRIES = 2_000;

/** A longer file is told by its time and size alone. */
const MAX_TEXT_BYTES = 1024 * 1024;

/**
 * A text that is another one when a file, or something in a folder at any depth, was changed, came or went. What is not there, or not to be
 * looked at, is the same text each time. Folders that begin with `.`, and `node_modules`, are left out.
 *
 * @param path absolute
 */
export function treeStamp(path: string): string {
  const lines: string[] = [];
  if (denoGrants({ name: "read", path })) addStamps(path, lines);
  return lines.join("\n");
}

/**
 * The same for one small file, and also another text when the file was written twice in one moment of its file system's clock.
 *
 * @param path absolute
 */
export function textStamp(path: string): string {
  const stamp = treeStamp(path);
  if (stamp === "") return stamp;
  try {
    const { isFile, size } = Deno.statSync(path);
    return isFile && size <= MAX_TEXT_BYTES ? `${stamp} ${Deno.readTextFileSync(path)}` : stamp;
  } catch { // gone by now, or not to be read
    return stamp;
  }
}

function addStamps(path: string, lines: string[]): void {
  try {
    const { isDirectory, size, mtime, ino } = Deno.statSync(path);
    lines.push(`${path} ${size} ${mtime?.getTime() ?? 0} ${ino ?? 0}`);
    if (!isDirectory) return;
    for (const { name } of Deno.readDirSync(path)) {
      if (lines.length >= MAX_ENTRIES) return;
      if (!name.startsWith(".") && name !== "node_modules") addStamps(`${path}/${name}`, lines);
    }
  } catch { /* not there, or gone while it was looked at */ }
}
