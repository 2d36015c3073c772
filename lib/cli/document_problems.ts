import { typedPath } from "../catalog/paths.ts";
import { type FileProblem, problemLine } from "../check/check_options.ts";
import type { ProjectSettings } from "../project/project.ts";
import { printable } from "../render/shown_text.ts";
import type { SeenDocument } from "../service/look/document_outline.ts";

/** Problems of documents, a line each (documents.md 1.3), with their files as they are typed in the working folder. */
export function problemLines(
  problems: readonly FileProblem[],
  place: Pick<ProjectSettings, "root" | "cwd">,
): string {
  return problems.map((problem) => {
    const file = problem.file === "" ? "" : typedPath(problem.file, place);
    return printable(`${problemLine({ ...problem, file })}\n`);
  }).join("");
}

/** What is wrong with a document by itself. */
export function documentProblems({ file: { path, problems }, project }: SeenDocument): string {
  return problemLines(problems.map((problem) => ({ ...problem, file: path })), project);
}
