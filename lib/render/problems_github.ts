import { printableLine } from "./shown_text.ts";
import type { ToldProblem } from "./told_problem.ts";

/**
 * Problems as commands to a runner of GitHub Actions, a line each: they become annotations
 * (https://docs.github.com/actions/reference/workflow-commands-for-github-actions).
 */
export function problemsGithub(problems: readonly ToldProblem[]): string {
  return problems.map((problem) => `${commandOf(problem)}\n`).join("");
}

function commandOf({ file, line, column, severity, message }: ToldProblem): string {
  const place = file === "" ? "" : ` file=${property(file)},line=${line},col=${column}`;
  return `::${severity}${place}::${data(message)}`;
}

/** A message may hold anything but what ends it. */
function data(text: string): string {
  return printableLine(text).replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
