import { isAbsolute, relative, sep } from "node:path";

/** Whether an absolute path is the root or below it. */
export function isInside(path: string, root: string): boolean {
  const way = relative(root, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** An absolute path as problems name it: from the root, with `/`. */
export function projectPath(path: string, root: string): string {
  return relative(root, path).replaceAll(sep, "/");
}
