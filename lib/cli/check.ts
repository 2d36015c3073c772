import { FileError, typedPath, VERSION } from "../core/core.ts";
import { hostFiles } from "../host/files/files.ts";
import { workingFolder } from "../host/paths.ts";
import { hasColor, type Terminal } from "../host/terminal/terminal.ts";
import { MERGE_MODES } from "../parse/document/parameters.ts";
import { paintFor } from "../render/cells.ts";
import { problemFrame, problemPlainLine } from "../render/error_frame.ts";
import { counted } from "../render/run_tally.ts";
import { type ProblemRule, problemsGithub, problemsSarif, type ToldProblem } from "../render/problems.ts";
import { checkFiles } from "../service/check/check.ts";
import type { Kind } from "../service/kinds/kind.ts";
import { kindOfTests } from "../service/kinds/kinds.ts";
import { CheckPlaces } from "../service/check/places.ts";
import { CheckReport, type ReportedProblem, toldProblem } from "../service/check/report.ts";
import { type CheckFlags, checkTargets } from "../service/check/targets.ts";
import { EXIT } from "../service/exit_code.ts";
import { promptInput } from "../service/input/prompt_input.ts";
import { textsOf } from "../service/kinds/document/ready.ts";
import type { COMMANDS, ParsedCommand } from "./flags/flags.ts";
import { grantsOf } from "./flags/grants.ts";
import { interruptible } from "./run/around.ts";
import { blockOf } from "./run/document/once.ts";
import { stdinText } from "./run/source.ts";
import { helpFile } from "./help.ts";
import { jsonPage } from "./page.ts";

/** `orrery check`: finds mistakes without running anything; gives the exit code. */
export async function check(
  { words, flags }: ParsedCommand<typeof COMMANDS.check>,
  terminal: Terminal,
  kinds: readonly Kind[],
): Promise<number> {
  const cwd = workingFolder();
  // A check calls no gadget and asks nobody: what is granted makes no difference. What gadgets say of themselves is found out in processes that
  // may do nothing.
  const grants = grantsOf({
    trust: [],
    "trust-project": false,
    "allow-gadget": [],
    frozen: false,
    "trust-code": false,
    ...flags,
  });
  const checkFlags = await flagsOf(flags, { cwd, terminal });
  const report = new CheckReport();
  await using places = new CheckPlaces({ cwd, grants, report, model: flags.model, exclude: flags.exclude });
  const named = words.length > 0 ? words : [places.rootOf(cwd)];
  const targets = await checkTargets(named, { cwd, files: hostFiles({ root: cwd }), places, kinds });
  await checkFiles(targets, { kinds, places, report, flags: checkFlags });
  for (const path of targets.tests) {
    const text = await hostFiles({ root: cwd }).readText(path);
    report.file(path, text);
    await report.cutValues(text, { path, kind: "test" });
    const tests = await kindOfTests(path, kinds)?.test?.();
    if (tests !== undefined) {
      await report.unlessProblems(tests.read({ text, file: path, path }), [cwd], "test");
    }
  }
  return await writeReport(report, { flags, terminal, cwd });
}

/** What the flags say of the files. @throws {UsageError}, {FileError} */
async function flagsOf(
  flags: ParsedCommand<typeof COMMANDS.check>["flags"],
  { cwd, terminal }: { readonly cwd: string; readonly terminal: Terminal },
): Promise<CheckFlags> {
  const stdin = () => stdinText(terminal, interruptible(terminal).signal);
  const { values } = await promptInput(flags, { cwd, command: "check", stdin });
  const mode = MERGE_MODES.find((each) => each === flags.mode);
  return {
    values: textsOf(values),
    blocks: flags.block.map((block) => blockOf(block, "check")),
    isGiving: flags.input.length > 0 || flags["input-json"] !== undefined,
    prompt: flags.prompt,
    model: flags.model,
    mode,
  };
}

/** How a report is told. */
interface WriteReportOptions {
  readonly flags: { readonly format: string | undefined; readonly quiet: boolean };
  readonly terminal: Terminal;
  /** Files are named from it. */
  readonly cwd: string;
}

/** Tells what a check found: text on stderr, every other format on stdout. Gives the exit code. */
async function writeReport(
  report: CheckReport,
  { flags: { format, quiet }, terminal: { stdout, stderr }, cwd }: WriteReportOptions,
): Promise<number> {
  const problems = report.problems();
  const told = () => problems.map((each) => toldProblem(cwd, each));
  if (format === "json") await stdout.write(jsonPage(problems.map((each) => typedProblem(cwd, each))));
  else if (format === "github") await stdout.write(problemsGithub(told()));
  else if (format === "sarif") {
    const rules = await rulesOf(problems);
    await stdout.write(jsonPage(problemsSarif(told(), { rules, version: VERSION })));
  } else {
    const paint = paintFor(hasColor(stderr));
    const lines: string[] = [];
    for (const problem of problems) {
      if (quiet && problem.found.severity === "warning") continue;
      const typed = typedProblem(cwd, problem);
      lines.push(
        stderr.isTerminal
          ? problemFrame(typed, { source: await sourceOf(problem.found.path, report), paint })
          : problemPlainLine(typed),
      );
    }
    if (!quiet) {
      lines.push(summary(problems, { files: report.paths.length, notLoaded: report.notLoaded.size }));
    }
    await stderr.write(lines.join(""));
  }
  return problems.some(({ found }) => found.severity === "error") ? EXIT.usage : EXIT.ok;
}

/** The kinds that occur, each once; what they are called and mean says the page of help: `| 105 | `cycle` | documents import …  |`. */
async function rulesOf(problems: readonly ReportedProblem[]): Promise<readonly ProblemRule[]> {
  const rows = (await helpFile("exit-codes.md") ?? "").matchAll(/^\| (\d{3}) \| `(.+)` \| (.)(.+) \|$/gm);
  const known = new Map(
    [...rows].map(([, code = "", name = "", first = "", rest = ""]) =>
      [code, { name, about: `${first.toUpperCase()}${rest}.` }] as const
    ),
  );
  const unknown = { name: "problem", about: "Something is not as it has to be." };
  const rules = problems.map(({ found: { severity }, rule }): readonly [string, ProblemRule] => [
    rule.code,
    { ...unknown, ...known.get(rule.code.slice(1)), ...rule, severity },
  ]);
  return [...new Map(rules).values()];
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
  return await hostFiles({ root: "/" }).readText(path).catch((thrown) => {
    if (thrown instanceof FileError) return undefined;
    throw thrown;
  });
}

function summary(
  problems: readonly ReportedProblem[],
  { files, notLoaded }: { readonly files: number; readonly notLoaded: number },
): string {
  const errors = problems.filter(({ found }) => found.severity === "error").length;
  const counts = [
    counted(files, "file"),
    counted(errors, "error"),
    counted(problems.length - errors, "warning"),
  ];
  const modules = counted(notLoaded, "module");
  const unseen = notLoaded === 0
    ? ""
    : `not looked at: ${modules} of prompts or tactics, since a check does not run their code\n`;
  return `${unseen}${counts.join(", ")}\n`;
}
