// Files as requests name them: only below the project root, wherever links lead.
import { FileError, type Files, isInside } from "../core/core.ts";
import { hostFiles } from "../host/files/files.ts";
import { realPath } from "../host/paths.ts";
import { fieldError } from "./service.ts";
import { join, relative, resolve } from "node:path";

/** What is Orrery's own, or git's: nobody runs or shows it. */
const HIDDEN: ReadonlySet<string> = new Set([".orrery", ".git"]);

/**
 * The file of that name, with every link followed: relative to the root, with `/`. It need not be there.
 *
 * @param named relative to the root, with `/`
 * @throws {ServiceError} `outside`, in the same words whether it is there or not
 */
export function fileInProject(
  named: string,
  { root, field = "file" }: { readonly root: string; readonly field?: string },
): string {
  const isPlain = named !== "" && !/[\0\\]|^[A-Za-z]:/.test(named) &&
    named.split("/").every((part) => part !== "" && part !== "." && part !== "..");
  const real = isPlain ? realPath(resolve(root, named)) : root;
  const path = relative(root, real).replaceAll("\\", "/");
  const isHidden = [named, path].some((each) => HIDDEN.has(each.split("/")[0]?.toLowerCase() ?? ""));
  if (isPlain && real !== root && isInside(real, root) && !isHidden) return path;
  throw fieldError(
    field,
    `${field}: ${
      JSON.stringify(named)
    } is not a file of the project: name one below its root, with "/" between folders`,
    "outside",
  );
}

/** The same of a file that is there. @param options.word what it is, for whoever reads the error @throws {ServiceError} `outside`, `not-found` */
export async function foundInProject(
  named: string,
  { root, word }: { readonly root: string; readonly word: string },
): Promise<string> {
  const path = fileInProject(named, { root });
  const there = await hostFiles({ root }).stat(path).catch((error) => {
    if (!(error instanceof FileError)) throw error;
  });
  if (there?.kind === "file") return path;
  const message = `file: there is no ${word} ${JSON.stringify(named)} in the project`;
  throw fieldError("file", message, "not-found");
}

/**
 * The files below a folder whose names are wanted, absolute and sorted, those of a folder before those of the folders in it. Hidden folders,
 * `node_modules`, and folders that may not be looked into are left out, and links are not followed.
 *
 * @param folder absolute
 * @throws {FileError} when the folder itself cannot be looked into
 */
export async function walkFiles(
  folder: string,
  { files, isWanted }: { readonly files: Files; isWanted(name: string): boolean },
): Promise<readonly string[]> {
  const found: string[] = [];
  const waiting = [folder];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const entries = at === folder ? await files.list(at) : await maybeList(at, files);
    const own = entries.filter(({ name, link }) => !link && !isLeftOut(name));
    for (const { name, kind } of own) if (kind === "file" && isWanted(name)) found.push(join(at, name));
    for (const { name, kind } of own.reverse()) if (kind === "folder") waiting.push(join(at, name));
  }
  return found;
}

async function maybeList(folder: string, files: Files): ReturnType<Files["list"]> {
  try {
    return await files.list(folder);
  } catch (thrown) {
    if (!(thrown instanceof FileError)) throw thrown;
    return [];
  }
}

function isLeftOut(name: string): boolean {
  return name.startsWith(".") || name === "node_modules";
}
