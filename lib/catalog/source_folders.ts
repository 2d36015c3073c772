import { didYouMeanNames } from "../core/did_you_mean_names.ts";
import { isRecord } from "../core/json.ts";
import { resolve } from "node:path";
import type { Problem } from "../core/prompt_error.ts";
import { messageOf } from "../core/source_error.ts";
import { FileError } from "../core/world.ts";
import { promptPath } from "../prompt/prompt_path.ts";
import type { ProjectPlace } from "./project_file.ts";
import { isInside } from "./project_path.ts";
import type { WantedFolder, WantedFolders } from "./wanted_folders.ts";

/** A folder that is there, inside the project. */
export interface SourceFolder {
  /** Absolute. */
  readonly path: string;
  /** What the names of what is in it begin with; empty, or without a `/` at its ends. */
  readonly prefix: string;
  /** It is not on the disk: there are only modules in it that are at hand without a file. */
  readonly isMissing?: true;
}

/** The folders that can be used, and why the others cannot. */
export interface SourceFolders {
  readonly folders: readonly SourceFolder[];
  readonly problems: readonly Problem[];
}

interface FoldersPlace extends ProjectPlace {
  /** The modules that are at hand without a file, by their absolute paths. */
  readonly modules?: readonly string[];
}

/** Looks for folders that are wanted: each has to be one, inside the project (prompts.md 12). */
export async function sourceFolders(
  { wanted, problems }: WantedFolders,
  place: FoldersPlace,
): Promise<SourceFolders> {
  const found = await Promise.all(wanted.map((each) => find(each, place)));
  return {
    folders: found.filter((each) => each !== undefined && "path" in each),
    problems: [...problems, ...found.filter((each) => each !== undefined && "message" in each)],
  };
}

async function find(wanted: WantedFolder, place: FoldersPlace): Promise<SourceFolder | Problem | undefined> {
  const { file, line, isDefault = false } = wanted;
  const read = readWord(wanted);
  const found = typeof read === "string" ? read : await look(read, { ...place, isDefault });
  return typeof found === "string" ? { file, line, message: found } : found;
}

/** The folder; undefined when a default one is not there; text says why it cannot be used. */
async function look(
  { path: written, prefix }: SourceFolder,
  { root, files, modules = [], isDefault }: FoldersPlace & { readonly isDefault: boolean },
): Promise<SourceFolder | string | undefined> {
  const path = resolve(root, written);
  const named = `folder ${JSON.stringify(written)}`;
  if (!isInside(path, root)) return `${named} is outside the project`;
  try {
    const { kind } = await files.stat(path);
    if (kind !== "folder") return `${named} is a file`;
    const real = await files.resolve(path);
    return isInside(real, root)
      ? { path, prefix }
      : `${named} is outside the project: it is a link to ${JSON.stringify(real)}`;
  } catch (thrown) {
    if (!(thrown instanceof FileError)) throw thrown;
    if (thrown.code !== "not-found") return `${named} cannot be used: ${messageOf(thrown)}`;
    if (modules.some((module) => isInside(module, path))) return { path, prefix, isMissing: true };
    const target = await files.resolve(path); // the root is real: another path is what a link leads to
    if (target !== path) return `${named} is a link to ${JSON.stringify(target)}, which does not exist`;
    return isDefault ? undefined : `${named} does not exist`;
  }
}

const KEYS: readonly string[] = ["path", "prefix"];

/** The folder as it is written; text says why it is none. */
function readWord({ word, name }: WantedFolder): SourceFolder | string {
  if (typeof word === "string" && word !== "") return { path: word, prefix: "" };
  if (!isRecord(word)) return `${name} must be the path of a folder, or {path, prefix}`;
  const unknown = Object.keys(word).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) {
    return `${name}: unknown key ${JSON.stringify(unknown)}${didYouMeanNames(unknown, KEYS)}`;
  }
  const { path, prefix = "" } = word;
  if (typeof path !== "string" || path === "") return `${name}: path must be the path of a folder`;
  if (typeof prefix !== "string") return `${name}: prefix must be text`;
  try {
    return { path, prefix: promptPath(prefix) };
  } catch (thrown) {
    return `${name}: ${messageOf(thrown)}`;
  }
}
