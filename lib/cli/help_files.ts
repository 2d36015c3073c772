// The texts of lib/help: the pages of help and the project of `orrery init`. A compiled program has them inside, as one file.

import { maybeOwnFile, ownFiles } from "../host/own_file.ts";

/** Where `.ci/compile.ts` puts them: beside the modules of the bundle. */
const INSIDE = new URL("./assets/help.json", import.meta.url);

const FOLDER = new URL("../help/", import.meta.url);

/** A text of lib/help. @param path from there, such as `calls.md` @returns undefined when it is not there */
export async function helpFile(path: string): Promise<string | undefined> {
  return (await open()).files.get(path);
}

/** All texts below a folder of lib/help, by their path from it, in order. @param folder such as `project/`; `""` is lib/help itself */
export async function helpFiles(folder: string): Promise<ReadonlyMap<string, string>> {
  const below = [...(await open()).files].filter(([path]) => path.startsWith(folder));
  return new Map(below.map(([path, text]) => [path.slice(folder.length), text]));
}

/** True in a compiled program: there are no sources beside it. */
export async function isCompiled(): Promise<boolean> {
  return (await open()).isInside;
}

interface HelpFiles {
  readonly isInside: boolean;
  readonly files: ReadonlyMap<string, string>;
}

let opening: Promise<HelpFiles> | undefined;

function open(): Promise<HelpFiles> {
  opening ??= read();
  return opening;
}

async function read(): Promise<HelpFiles> {
  const inside = await maybeOwnFile(INSIDE);
  if (inside !== undefined) {
    const files: Readonly<Record<string, string>> = JSON.parse(inside);
    return { isInside: true, files: new Map(Object.entries(files)) };
  }
  const files = new Map<string, string>();
  for (const path of await ownFiles(FOLDER)) {
    if (/\.(?:png|svg)$/.test(path)) continue; // pictures of README.md
    files.set(path, await maybeOwnFile(new URL(path, FOLDER)) ?? "");
  }
  return { isInside: false, files };
}
