import { denoGrants } from "../process.ts";

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
