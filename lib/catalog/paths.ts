import { isAbsolute, relative, resolve, sep } from "node:path";

/** Whether an absolute path is the root or below it. */
export function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
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
