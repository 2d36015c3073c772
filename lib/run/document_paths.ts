import { dirname, isAbsolute, join, relative, sep } from "node:path";

/** A path that a document names, from the folder of that document: relative to the root where it lies inside, with `/` (documents.md 10.1). */
export function pathFrom(file: string, named: string): string {
  const path = isAbsolute(named) ? named : join(dirname(file), named);
  return path.replaceAll(sep, "/");
}

/** A path as messages show it: relative to the root where it lies inside, with `/`. */
export function shownPath(path: string, root: string): string {
  const shown = isAbsolute(path) && (path === root || path.startsWith(root + sep))
    ? relative(root, path)
    : path;
  return shown.replaceAll(sep, "/");
}

/** The result document of a file: beside it, with another ending (documents.md 12.1). */
export function resultPath(file: string): string {
  return file.replace(/\.[^./\\]*$/, "") + ".ctx";
}
