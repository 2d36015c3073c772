import { isAbsolute, relative, resolve, sep } from "node:path";

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
