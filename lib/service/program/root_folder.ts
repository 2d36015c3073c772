import { fileURLToPath } from "node:url";
import { resolve } from "node:path";
import { workingFolder } from "../../host/paths.ts";

/** The folder that a program names: a path from the working folder, or a `file:` URL. */
export function rootFolder(root: string | URL): string {
  if (typeof root === "string") return resolve(workingFolder(), root);
  return fileURLToPath(root);
}
