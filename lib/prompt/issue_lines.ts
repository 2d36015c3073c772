import type { ParseIssue } from "../core/prompt_error.ts";

const MAX_LINES = 20;

/** One line `- path: message` for each issue, at most 20, then how many more there are (prompts.md 3). */
export function issueLines(issues: readonly ParseIssue[]): string {
  const lines = issues.slice(0, MAX_LINES).map(({ path, message }) =>
    `- ${pathText(path)}: ${message.replaceAll(/\s*[\r\n]\s*/g, " ")}`
  );
  const left = issues.length - lines.length;
  return [...lines, ...(left > 0 ? [`- and ${left} more`] : [])].join("\n");
}

/** As a program would write it: `a.b[0]["odd key"]`; `(root)` for the top. */
export function pathText(path: ParseIssue["path"]): string {
  if (path.length === 0) return "(root)";
  return path.map((key, index) => {
    if (typeof key === "number") return `[${key}]`;
    if (!/^[\p{L}_$][\p{L}\p{M}\p{N}_$]*$/u.test(key)) return `[${JSON.stringify(key)}]`;
    return index === 0 ? key : `.${key}`;
  }).join("");
}
