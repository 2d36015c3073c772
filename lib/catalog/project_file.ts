import { join } from "node:path";
import {
  byPlace,
  FileError,
  type Files,
  isRecord,
  maybeText,
  messageOf,
  type Problem,
  ProblemsError,
  PromptError,
} from "../core/core.ts";
import { MOST_TOLD } from "../parse/yaml/check_fields.ts";
import { FILE_START, type LineProblem, lineProblem, type Place, placed } from "../parse/yaml/front_matter.ts";
import { parseYaml } from "../parse/yaml/yaml.ts";

/** A YAML file of a project: what it says, and where. */
export interface ProjectFile {
  /** As problems name it, relative to the project. */
  readonly file: string;
  /** Undefined when there is no such file, when it is empty, and when it cannot be read. */
  readonly value: unknown;
  /** The line of the key at a path; 1 when there is none. */
  lineOf(path: readonly (string | number)[]): number;
  /** The place of the key at a path; where the file begins when there is none. */
  placeOf(path: readonly (string | number)[]): Place;
  readonly problems: readonly Problem[];
}

/** The name of a project's own file. */
export const PROJECT_FILE = "orrery.yaml";

/** Reads a YAML file of a project. Nothing throws: what is wrong is told with its line. */
export async function readProjectFile(file: string, { root, files }: ProjectPlace): Promise<ProjectFile> {
  const nothing = { file, value: undefined, lineOf: () => 1, placeOf: () => FILE_START, problems: [] };
  try {
    const text = await maybeText(files, join(root, file));
    if (text === undefined) return nothing;
    const { value, at } = await parseYaml(text);
    const placeOf = (path: readonly (string | number)[]) => placed(at(path, "key"));
    return { ...nothing, value: value ?? undefined, lineOf: (path) => placeOf(path).line, placeOf };
  } catch (thrown) {
    return { ...nothing, problems: problemsOf(thrown, file) };
  }
}

/** A project's files, from its root, which is absolute. */
export interface ProjectPlace {
  readonly root: string;
  readonly files: Files;
}

/** What `orrery.yaml` says under a key; undefined when it says nothing. */
export function projectWord({ value }: ProjectFile, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function problemsOf(thrown: unknown, file: string): readonly Problem[] {
  if (thrown instanceof ProblemsError) return thrown.problems.map((each) => ({ file, ...lineProblem(each) }));
  if (thrown instanceof FileError) return [{ file, ...FILE_START, message: messageOf(thrown) }];
  throw thrown;
}

/** @throws {PromptError} `discover`, with one `file:line: message` a line, when there are any */
export function throwProblems(problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const lines = problems.map(({ file, line, message }) => `${file}:${line}: ${message}`);
  throw new PromptError(lines.join("\n"), { code: "discover", problems });
}

/** By file, then by place; what is of one place stays in its order. */
export function sortedProblems<Of extends Problem>(problems: readonly Of[]): readonly Of[] {
  return problems.toSorted((a, b) => a.file === b.file ? byPlace(a, b) : a.file < b.file ? -1 : 1);
}

/** The problems of one file by place, none twice, and no more than a reader can do anything with. */
export function inOrder(problems: readonly LineProblem[]): readonly LineProblem[] {
  const sorted = problems.toSorted(byPlace);
  const unique = new Map(sorted.map((each) => [`${each.line}:${each.column} ${each.message}`, each]));
  return [...unique.values()].slice(0, MOST_TOLD);
}
