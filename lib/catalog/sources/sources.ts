import { resolve } from "node:path";
import { didYouMeanNames, FileError, isInside, isRecord, messageOf, type Problem } from "../../core/core.ts";
import { promptPath } from "../../prompt/registry.ts";
import {
  PROJECT_FILE,
  type ProjectFile,
  type ProjectPlace,
  projectWord,
  readProjectFile,
} from "../project_file.ts";
import { type SourceFiles, sourceFiles, type SourceKind } from "./files.ts";

/** Where files are looked for. */
export interface SourcesOptions extends ProjectPlace {
  /** In place of the folders that `orrery.yaml` names; none scans nothing. */
  readonly folders?: readonly unknown[];
  /** Modules that are at hand without a file, by their absolute paths: they count as if their files were there. */
  readonly modules?: readonly string[];
}

const KINDS: { readonly [key in FoldersKey]: readonly SourceKind[] } = {
  prompts: ["module", "text", "dotprompt"],
  tactics: ["module"],
};

/** The files in which a project's prompts or tactics are defined, in the folders that `orrery.yaml` names. */
export async function projectSources(key: FoldersKey, options: SourcesOptions): Promise<SourceFiles> {
  const wanted = options.folders === undefined
    ? writtenFolders(await readProjectFile(PROJECT_FILE, options), key)
    : givenFolders(options.folders);
  const folders = await sourceFolders(wanted, options);
  const { files, problems } = await sourceFiles(folders.folders, { ...options, kinds: KINDS[key] });
  const all: readonly Problem[] = [...folders.problems, ...problems];
  return { files, problems: all };
}

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
async function sourceFolders(
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

/** The keys of `orrery.yaml` that have a list `folders`, each with a default folder of its own name. */
export type FoldersKey = "prompts" | "tactics";

/** A folder that somebody wants, right or wrong, and where it is written. */
interface WantedFolder {
  readonly word: unknown;
  readonly file: string;
  readonly line: number;
  /** What messages call the word when it is no folder at all. */
  readonly name: string;
  /** Nobody wrote it: it need not be there. */
  readonly isDefault?: boolean;
}

/** The words, and what is wrong around them. */
interface WantedFolders {
  readonly wanted: readonly WantedFolder[];
  readonly problems: readonly Problem[];
}

/** The folders given in code; there is no line to name. */
function givenFolders(given: readonly unknown[]): WantedFolders {
  const wanted = given.map((word, index) => {
    const path = isRecord(word) ? word.path : word;
    return { word, file: String(path), line: 1, name: `folders[${index}]` };
  });
  return { wanted, problems: [] };
}

/** The folders that `orrery.yaml` names, or the default one. */
function writtenFolders(project: ProjectFile, key: FoldersKey): WantedFolders {
  const { file, lineOf } = project;
  if (project.problems.length > 0) return { wanted: [], problems: project.problems };
  const byDefault = [{ word: `${key}/`, file: key, line: 1, name: key, isDefault: true }];
  const settings = projectWord(project, key);
  if (settings === undefined) return { wanted: byDefault, problems: [] };
  const problem = (path: readonly string[], message: string) => ({ file, line: lineOf(path), message });
  if (!isRecord(settings)) {
    return { wanted: [], problems: [problem([key], `${key} must be a mapping with folders`)] };
  }
  const unknown = Object.keys(settings).filter((each) => each !== "folders").map((each) =>
    problem([key, each], `${key}: unknown key ${JSON.stringify(each)}${didYouMeanNames(each, ["folders"])}`)
  );
  const { folders } = settings;
  if (folders === undefined) return { wanted: byDefault, problems: unknown };
  if (!Array.isArray(folders)) {
    return { wanted: [], problems: [...unknown, problem([key, "folders"], `${key}.folders must be a list`)] };
  }
  const wanted = folders.map((word: unknown, index) => ({
    word,
    file,
    line: lineOf([key, "folders", index]),
    name: `${key}.folders[${index}]`,
  }));
  return { wanted, problems: unknown };
}
