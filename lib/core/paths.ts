import { isAbsolute, relative, resolve, sep } from "node:path";

/** Whether an absolute path is the root or below it, by folder: `/database` is not in `/data`. No other path is: `git` is a word, not a file. */
export function isInside(path: string, root: string): boolean {
  if (!isAbsolute(path)) return false;
  const way = relative(root, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The way from a folder to what is in it or below, with `/`; undefined for what is not. Both are absolute and real. */
export function wayInside(folder: string, path: string): string | undefined {
  return path !== folder && isInside(path, folder) ? projectPath(path, folder) : undefined;
}

/** A path inside a folder as it is named from there, with `/`, the folder itself as `.`; every other path stays as it is, with `/`. */
export function pathFromFolder(path: string, folder: string): string {
  return isInside(path, folder) ? projectPath(path, folder) || "." : path.replaceAll(sep, "/");
}

/** An absolute path as problems name it: from the root, with `/`. */
export function projectPath(path: string, root: string): string {
  return relative(root, path).replaceAll(sep, "/");
}

/** A path as a message names it: relative to the folder, unless the absolute one is shorter. */
export function shownPath(path: string, folder: string): string {
  const way = relative(folder, path);
  return way === "" ? "." : way.length < path.length && !isAbsolute(way) ? way : path;
}

/** A file that is named from the root, as it is typed in the working folder, with `/`. */
export function typedPath(
  file: string,
  { root, cwd }: { readonly root: string; readonly cwd: string },
): string {
  return shownPath(resolve(root, file), cwd).replaceAll(sep, "/");
}
