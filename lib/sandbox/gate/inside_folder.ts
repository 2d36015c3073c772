import { isAbsolute, relative, sep } from "node:path";

/** The way from a folder to what is in it or below, with `/`; undefined for what is not. Both are absolute and real. */
export function wayInside(folder: string, path: string): string | undefined {
  const way = relative(folder, path);
  const isOutside = way === "" || way === ".." || way.startsWith(`..${sep}`) || isAbsolute(way);
  return isOutside ? undefined : way.replaceAll(sep, "/");
}

/** A path as a message names it: from the working folder, unless the absolute one is shorter. */
export function shownFile(path: string, cwd: string): string {
  const way = relative(cwd, path);
  return way !== "" && way.length < path.length && !isAbsolute(way) ? way : path;
}
