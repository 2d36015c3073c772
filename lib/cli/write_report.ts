import { typedPath } from "../catalog/shown_path.ts";
import { counted } from "../render/run_tally.ts";
import { FileError } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { hasColor } from "../host/terminal.ts";
import type { Terminal } from "../host/terminal.ts";
import { paintFor } from "../render/paint.ts";
import { problemFrame, problemPlainLine } from "../render/problem_frame.ts";
import { problemsGithub } from "../render/problems_github.ts";
import { problemsSarif } from "../render/problems_sarif.ts";
import type { ToldProblem } from "../render/told_problem.ts";
import type { CheckReport, ReportedProblem } from "../service/check_report.ts";
import { EXIT } from "../service/exit_code.ts";
import { toldProblem } from "../service/look/problem_data.ts";
import { VERSION } from "../core/version.ts";

/** How a report is told. */
export interface WriteReportOptions {
  readonly flags: { readonly format: string | undefined; readonly quiet: boolean };
  readonly terminal: Terminal;
  /** Files are named from it. */
  readonly cwd: string;
  /** How many modules of prompts were not looked at. */
  readonly notLoaded: number;
}

/** Tells what a check found: text on stderr, every other format on stdout. Gives the exit code. */
export async function writeReport(report: CheckReport, options: WriteReportOptions): Promise<number> {
  const { flags: { format = "text" }, terminal, cwd } = options;
  const problems = report.problems();
  const told: readonly ToldProblem[] = problems.map((each) => toldProblem(cwd, each));
  if (format === "json") {
    await terminal.stdout.write(
      `${JSON.stringify(problems.map((each) => typedProblem(cwd, each)), null, 2)}\n`,
    );
  } else if (format === "github") await terminal.stdout.write(problemsGithub(told));
  else if (format === "sarif") {
    const rules = [...new Map(problems.map(({ rule }) => [rule.code, rule])).values()];
    const log = problemsSarif(told, { rules, version: VERSION });
    await terminal.stdout.write(`${JSON.stringify(log, null, 2)}\n`);
  } else await writeText(report, { ...options, problems });
  return problems.some(({ found }) => found.severity === "error") ? EXIT.usage : EXIT.ok;
}

async function writeText(
  report: CheckReport,
  { flags: { quiet }, terminal: { stderr }, cwd, notLoaded, problems }: WriteReportOptions & {
    readonly problems: readonly ReportedProblem[];
  },
): Promise<void> {
  const paint = paintFor(hasColor(stderr));
  const lines: string[] = [];
  for (const problem of problems) {
    if (quiet && problem.found.severity === "warning") continue;
    const told = typedProblem(cwd, problem);
    if (!stderr.isTerminal) lines.push(problemPlainLine(told));
    else lines.push(problemFrame(told, { source: await sourceOf(problem.found.path, report), paint }));
  }
  if (!quiet) lines.push(...summary(problems, { files: report.paths.length, notLoaded }));
  await stderr.write(lines.join(""));
}

/** With the path of its file as it is typed where the user is; what programs of others read has it absolute outside of that folder. */
function typedProblem(cwd: string, problem: ReportedProblem): ToldProblem {
  const { path } = problem.found;
  return {
    ...toldProblem(cwd, problem),
    ...(path !== "" && { file: typedPath(path, { root: cwd, cwd }) }),
  };
}

async function sourceOf(path: string, report: CheckReport): Promise<string | undefined> {
  const known = report.textOf(path);
  if (known !== undefined || path === "") return known;
  try {
    return await hostFiles({ root: "/" }).readText(path);
  } catch (thrown) {
    if (!(thrown instanceof FileError)) throw thrown;
    return undefined;
  }
}

function summary(
  problems: readonly ReportedProblem[],
  { files, notLoaded }: { readonly files: number; readonly notLoaded: number },
): readonly string[] {
  const errors = problems.filter(({ found }) => found.severity === "error").length;
  const counts = [
    counted(files, "file"),
    counted(errors, "error"),
    counted(problems.length - errors, "warning"),
  ];
  const unseen = notLoaded === 0 ? [] : [
    `not looked at: ${
      counted(notLoaded, "module")
    } of prompts or tactics, since a check does not run their code\n`,
  ];
  return [...unseen, `${counts.join(", ")}\n`];
}
