import { type Problem, PromptError, type PromptErrorCode } from "../core/prompt_error.ts";

/** @throws {PromptError} with one `file:line: message` a line, when there are any */
export function throwProblems(problems: readonly Problem[], code: PromptErrorCode): void {
  if (problems.length === 0) return;
  const lines = problems.map(({ file, line, message }) => `${file}:${line}: ${message}`);
  throw new PromptError(lines.join("\n"), { code, problems });
}

/** By file, then by line; what is of one line stays in its order. */
export function sortedProblems(problems: readonly Problem[]): readonly Problem[] {
  return problems.toSorted((a, b) => a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1);
}
