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
  readonly cwd: string;
  /** The folder that texts and JSON name files from; what programs of others read is from the working folder. */
  readonly root: string;
  /** How many modules of prompts were not looked at. */
  readonly notLoaded: number;
}

/** Tells what a check found: text on stderr, every other format on stdout. Gives the exit code. */
export async function writeReport(report: CheckReport, options: WriteReportOptions): Promise<number> {
  const { flags: { format = "text" }, terminal, cwd, root } = options;
  const problems = report.problems();
  const told = (folder: string): readonly ToldProblem[] => problems.map((each) => toldProblem(folder, each));
  if (format === "json") await terminal.stdout.write(`${JSON.stringify(told(root), null, 2)}\n`);
  else if (format === "github") await terminal.stdout.write(problemsGithub(told(cwd)));
  else if (format === "sarif") {
    const rules = [...new Map(problems.map(({ rule }) => [rule.code, rule])).values()];
    const log = problemsSarif(told(cwd), { rules, version: VERSION });
    await terminal.stdout.write(`${JSON.stringify(log, null, 2)}\n`);
  } else await writeText(report, { ...options, problems });
  return problems.some(({ found }) => found.severity === "error") ? EXIT.usage : EXIT.ok;
}

async function writeText(
  report: CheckReport,
  { flags: { quiet }, terminal: { stderr }, root, notLoaded, problems }: WriteReportOptions & {
    readonly problems: readonly ReportedProblem[];
  },
): Promise<void> {
  const paint = paintFor(hasColor(stderr));
  const lines: string[] = [];
  for (const problem of problems) {
    if (quiet && problem.found.severity === "warning") continue;
    const told = toldProblem(root, problem);
    if (!stderr.isTerminal) lines.push(problemPlainLine(told));
    else lines.push(problemFrame(told, { source: await sourceOf(problem.found.path, report), paint }));
  }
  if (!quiet) lines.push(...summary(problems, { files: report.paths.length, notLoaded }));
  await stderr.write(lines.join(""));
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
