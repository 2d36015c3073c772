import { resolve } from "../core/path.ts";
import { workingFolder } from "../host/paths.ts";

/** The folder that a program names: a path from the working folder, or a `file:` URL. */
export async function rootFolder(root: string | URL): Promise<string> {
  if (typeof root === "string") return resolve(workingFolder(), root);
  return (await import("node:url")).fileURLToPath(root);
}
