import { isAbsolute, relative } from "../core/path.ts";

/** A path as a message names it: relative to the folder, unless the absolute one is shorter. */
export function shownPath(path: string, folder: string): string {
  const way = relative(folder, path);
  return way === "" ? "." : way.length < path.length && !isAbsolute(way) ? way : path;
}
