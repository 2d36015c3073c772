import { byPlace } from "../core/by_place.ts";
import { type Problem, PromptError, type PromptErrorCode } from "../core/prompt_error.ts";
import { MOST_TOLD } from "../parse/check_fields.ts";
import type { LineProblem } from "../parse/front_matter.ts";

/** @throws {PromptError} with one `file:line: message` a line, when there are any */
export function throwProblems(problems: readonly Problem[], code: PromptErrorCode): void {
  if (problems.length === 0) return;
  const lines = problems.map(({ file, line, message }) => `${file}:${line}: ${message}`);
  throw new PromptError(lines.join("\n"), { code, problems });
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
