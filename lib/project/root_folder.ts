import { filePath } from "../core/file_url.ts";
import { resolve } from "../core/path.ts";
import { workingFolder } from "../host/paths.ts";

/** The folder that a program names: a path from the working folder, or a `file:` URL. */
export function rootFolder(root: string | URL): string {
  if (typeof root === "string") return resolve(workingFolder(), root);
  return filePath(root);
}
