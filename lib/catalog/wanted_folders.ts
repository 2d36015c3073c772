import { didYouMeanNames } from "../core/did_you_mean_names.ts";
import { isRecord } from "../core/json.ts";
import type { Problem } from "../core/prompt_error.ts";
import { type ProjectFile, projectWord } from "./project_file.ts";

/** The keys of `orrery.yaml` that have a list `folders`, each with a default folder of its own name. */
export type FoldersKey = "prompts" | "tactics";

/** A folder that somebody wants, right or wrong, and where it is written. */
export interface WantedFolder {
  readonly word: unknown;
  readonly file: string;
  readonly line: number;
  /** What messages call the word when it is no folder at all. */
  readonly name: string;
  /** Nobody wrote it: it need not be there. */
  readonly isDefault?: boolean;
}

/** The words, and what is wrong around them. */
export interface WantedFolders {
  readonly wanted: readonly WantedFolder[];
  readonly problems: readonly Problem[];
}

/** The folders given in code; there is no line to name. */
export function givenFolders(given: readonly unknown[]): WantedFolders {
  const wanted = given.map((word, index) => {
    const path = isRecord(word) ? word.path : word;
    return { word, file: String(path), line: 1, name: `folders[${index}]` };
  });
  return { wanted, problems: [] };
}

/** The folders that `orrery.yaml` names, or the default one. */
export function writtenFolders(project: ProjectFile, key: FoldersKey): WantedFolders {
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
