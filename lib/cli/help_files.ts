// The texts of lib/help: the pages of help and the project of `orrery init`. A compiled program has them inside, as one file.

import { maybeOwnFile, ownFiles } from "../host/own_file.ts";
import { isCompiled } from "../host/process.ts";

/** Where `.ci/compile.ts` puts them: beside the modules of the bundle. */
const INSIDE = new URL("./assets/help.json", import.meta.url);

const FOLDER = new URL("../help/", import.meta.url);

/** A text of lib/help. @param path from there, such as `calls.md` @returns undefined when it is not there */
export async function helpFile(path: string): Promise<string | undefined> {
  return isCompiled() ? (await inside()).get(path) : await maybeOwnFile(new URL(path, FOLDER));
}

/** All texts below a folder of lib/help, by their path from it, in order. @param folder such as `project/`; `""` is lib/help itself */
export async function helpFiles(folder: string): Promise<ReadonlyMap<string, string>> {
  if (isCompiled()) {
    const below = [...await inside()].filter(([path]) => path.startsWith(folder));
    return new Map(below.map(([path, text]) => [path.slice(folder.length), text]));
  }
  const texts = new Map<string, string>();
  for (const path of await ownFiles(new URL(folder, FOLDER))) {
    if (/\.(?:png|svg)$/.test(path)) continue; // pictures of README.md
    texts.set(path, await helpFile(folder + path) ?? "");
  }
  return texts;
}

async function inside(): Promise<ReadonlyMap<string, string>> {
  const files: Readonly<Record<string, string>> = JSON.parse(await maybeOwnFile(INSIDE) ?? "{}");
  return new Map(Object.entries(files));
}
