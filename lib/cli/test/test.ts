import { dirname, join, relative, resolve } from "node:path";
import { messageOf, ProblemsError, SourceError } from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { lookAt, workingFolder } from "../../host/paths.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { printable, printableLine } from "../../render/shown_text.ts";
import { EXIT, UsageError } from "../../service/exit_code.ts";
import type { FileTest, Kind } from "../../service/kinds/kind.ts";
import { kindOfTests, testEndings } from "../../service/kinds/kinds.ts";
import { walkFiles } from "../../service/project_files.ts";
import type { TestFailure } from "../../service/test/field.ts";
import { type TestProject, TestProjects } from "../../service/test/project.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { strayErrorText } from "../report_failure.ts";
import { interruptible } from "../run/around.ts";
import { warningsTo } from "../page.ts";

// `orrery test FILE...`: tests that are kept as files. Nothing of the project is touched, and no provider is asked.

/** A test, and the project that its file belongs to. */
type PlacedTest = readonly [test: FileTest, project: TestProject];

/** What a test came to. */
interface TestOutcome {
  readonly test: FileTest;
  readonly failures: readonly TestFailure[];
  readonly ms: number;
}

/** All files are read before the first test runs. @throws {UsageError}, {ProblemsError}, {FileError} */
export async function test(
  { words, flags }: ParsedCommand<typeof COMMANDS.test>,
  terminal: Terminal,
  kinds: readonly Kind[],
): Promise<number> {
  const { signal } = interruptible(terminal);
  const warn = warningsTo(terminal);
  // Of a module that was loaded: what it does later nobody waits for.
  using _stray = terminal.onStrayError((error) => warn(strayErrorText(error, workingFolder())));
  await using projects = new TestProjects({ flags, signal, notice: warn });
  const tests = await readTests(words, { kinds, projects });
  const outcomes: TestOutcome[] = [];
  for (const [test, project] of tests) {
    const begunAt = performance.now();
    const failures = await failuresOf(test, project);
    if (signal.aborted) return EXIT.interrupted;
    const outcome = { test, failures, ms: Math.round(performance.now() - begunAt) };
    outcomes.push(outcome);
    if (!flags.json) await terminal.stdout.write(testLines(outcome, flags.quiet));
  }
  const failed = outcomes.filter(({ failures }) => failures.length > 0).length;
  const passed = outcomes.length - failed;
  await terminal.stdout.write(
    flags.json
      ? `${JSON.stringify(testsJson(outcomes, { passed, failed }))}\n`
      : `${passed} passed, ${failed} failed\n`,
  );
  return failed > 0 ? EXIT.failed : EXIT.ok;
}

async function failuresOf(test: FileTest, project: TestProject): Promise<readonly TestFailure[]> {
  try {
    return await test.run(project);
  } catch (error) {
    return [{ what: "run", span: test.span, message: messageOf(error) }];
  }
}

async function readTests(
  words: readonly string[],
  { kinds, projects }: { readonly kinds: readonly Kind[]; readonly projects: TestProjects },
): Promise<readonly PlacedTest[]> {
  const cwd = workingFolder();
  const named = (await testFiles(words, { cwd, kinds })).map((file) => ({
    file,
    load: testsOf(file, kinds),
  }));
  const tests: PlacedTest[] = [];
  const problems: SourceError[] = [];
  for (const { file, load } of named) {
    const text = await hostFiles({ root: cwd }).readText(file);
    const path = resolve(cwd, file);
    try {
      const project = await projects.of(dirname(path));
      for (const test of await (await load()).read({ text, file, path })) tests.push([test, project]);
    } catch (error) {
      if (error instanceof SourceError) problems.push(error);
      else if (error instanceof ProblemsError) problems.push(...error.problems);
      else throw error;
    }
  }
  if (problems.length > 0) throw new ProblemsError(problems);
  return tests;
}

/** A file is itself, a folder all tests below it. @throws {UsageError} with every folder that has none, {FileError} for one that cannot be looked into */
async function testFiles(
  words: readonly string[],
  { cwd, kinds }: { readonly cwd: string; readonly kinds: readonly Kind[] },
): Promise<readonly string[]> {
  const found = new Set<string>();
  const empty: string[] = [];
  for (const word of words) {
    const folder = resolve(cwd, word);
    if (lookAt(folder) !== "folder") {
      found.add(word);
      continue;
    }
    const isWanted = (name: string) => kindOfTests(name, kinds) !== undefined;
    const paths = await walkFiles(folder, { files: hostFiles({ root: cwd }), isWanted });
    if (paths.length === 0) empty.push(`There are no tests in ${JSON.stringify(word)}`);
    for (const path of paths) found.add(join(word, relative(folder, path)));
  }
  if (empty.length > 0) throw new UsageError(empty, "test");
  return [...found];
}

/** What reads the tests of a file. @throws {UsageError} for a file of no kind */
function testsOf(file: string, kinds: readonly Kind[]): NonNullable<Kind["test"]> {
  const { test } = kindOfTests(file, kinds) ?? {};
  if (test !== undefined) return test;
  throw new UsageError(
    `${JSON.stringify(file)} is no test: tests are files whose names end with ${
      testEndings(kinds).join(" or ")
    }`,
    "test",
  );
}

/** A line for a test, and what is not as expected below it. */
function testLines({ test: { name, span }, failures, ms }: TestOutcome, isQuiet: boolean): string {
  const head = `${printableLine(span.file ?? "")}: ${printableLine(name)}  ${ms} ms\n`;
  if (failures.length === 0) return isQuiet ? "" : `ok    ${head}`;
  return `FAIL  ${head}${failures.map(failureLines).join("")}`;
}

function failureLines({ message, span: { file = "", line, column }, diff = "" }: TestFailure): string {
  const text = `${file}:${line}:${column}: error: ${message}\n${diff}`;
  return text.trimEnd().split("\n").map((line) => `  ${printable(line)}\n`).join("");
}

/** The same for a program. */
function testsJson(
  outcomes: readonly TestOutcome[],
  counts: { readonly passed: number; readonly failed: number },
): unknown {
  return {
    status: counts.failed === 0 ? "done" : "failed",
    ...counts,
    tests: outcomes.map(({ test: { name, span }, failures, ms }) => ({
      file: span.file ?? "",
      line: span.line,
      name,
      status: failures.length === 0 ? "passed" : "failed",
      ms,
      failures: failures.map(({ what, message, span: at, diff }) => ({
        what,
        file: at.file ?? "",
        line: at.line,
        column: at.column,
        message,
        diff,
      })),
    })),
  };
}
