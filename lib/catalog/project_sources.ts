import type { Problem } from "../core/prompt_error.ts";
import { PROJECT_FILE, type ProjectPlace, readProjectFile } from "./project_file.ts";
import { type SourceFiles, sourceFiles, type SourceKind } from "./source_files.ts";
import { sourceFolders } from "./source_folders.ts";
import { type FoldersKey, givenFolders, writtenFolders } from "./wanted_folders.ts";

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
