import { join, relative, resolve } from "node:path";
import { messageOf, ProblemsError, SourceError, type Span } from "../../core/core.ts";
import { hostFiles } from "../../host/files/files.ts";
import { lookAt, workingFolder } from "../../host/paths.ts";
import type { Terminal } from "../../host/terminal/terminal.ts";
import { keepStdout } from "../../project/trust/grants.ts";
import { printable, printableLine } from "../../render/shown_text.ts";
import { EXIT, UsageError } from "../../service/exit_code.ts";
import { walkFiles } from "../../service/project_files.ts";
import type { COMMANDS, ParsedCommand } from "../flags/flags.ts";
import { strayErrorText } from "../report_failure.ts";
import { interruptible } from "../run/around.ts";
import { conversationTests } from "./conversation.ts";
import { documentTests } from "./document.ts";
import type { TestFailure, TestSource } from "./field.ts";
import { TestProjects } from "./tested.ts";
import { warningsTo } from "../page.ts";

// `orrery test FILE...`: tests that are kept as files. Nothing of the project is touched, and no provider is asked.

/** A test that was read. */
export interface FileTest {
  readonly name: string;
  /** Where it stands. */
  readonly span: Span;
  /** Runs it; gives what is not as expected. */
  run(): Promise<readonly TestFailure[]>;
}

type Reader = (source: TestSource, projects: TestProjects) => Promise<readonly FileTest[]>;

/** What kinds of tests there are, by the ends of their files' names. */
const KINDS: readonly (readonly [ending: string, read: Reader])[] = [
  [".document-test", documentTests],
  [".conversation-test", conversationTests],
];

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
): Promise<number> {
  const { signal } = interruptible(terminal);
  keepStdout(flags);
  const warn = warningsTo(terminal);
  // Of a module that was loaded: what it does later nobody waits for.
  using _stray = terminal.onStrayError((error) => warn(strayErrorText(error, workingFolder())));
  await using projects = new TestProjects({
    flags,
    signal,
    notice: warn,
  });
  const tests = await readTests(words, projects);
  const outcomes: TestOutcome[] = [];
  for (const each of tests) {
    const begunAt = performance.now();
    const failures = await failuresOf(each);
    if (signal.aborted) return EXIT.interrupted;
    const outcome = { test: each, failures, ms: Math.round(performance.now() - begunAt) };
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

async function failuresOf(test: FileTest): Promise<readonly TestFailure[]> {
  try {
    return await test.run();
  } catch (error) {
    return [{ what: "run", span: test.span, message: messageOf(error) }];
  }
}

async function readTests(words: readonly string[], projects: TestProjects): Promise<readonly FileTest[]> {
  const cwd = workingFolder();
  const named = (await testFiles(words, cwd)).map((file) => ({ file, read: readerOf(file) }));
  const tests: FileTest[] = [];
  const problems: SourceError[] = [];
  for (const { file, read } of named) {
    const text = await hostFiles({ root: cwd }).readText(file);
    try {
      tests.push(...await read({ text, file, path: resolve(cwd, file) }, projects));
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
async function testFiles(words: readonly string[], cwd: string): Promise<readonly string[]> {
  const found = new Set<string>();
  const empty: string[] = [];
  for (const word of words) {
    const folder = resolve(cwd, word);
    if (lookAt(folder) !== "folder") {
      found.add(word);
      continue;
    }
    const isWanted = (name: string) => maybeReaderOf(name) !== undefined;
    const paths = await walkFiles(folder, { files: hostFiles({ root: cwd }), isWanted });
    if (paths.length === 0) empty.push(`There are no tests in ${JSON.stringify(word)}`);
    for (const path of paths) found.add(join(word, relative(folder, path)));
  }
  if (empty.length > 0) throw new UsageError(empty, "test");
  return [...found];
}

function maybeReaderOf(file: string): Reader | undefined {
  return KINDS.find(([ending]) => [".yml", ".yaml"].some((yaml) => file.endsWith(ending + yaml)))?.[1];
}

/** @throws {UsageError} for a file of no kind */
function readerOf(file: string): Reader {
  const reader = maybeReaderOf(file);
  if (reader !== undefined) return reader;
  const endings = KINDS.map(([ending]) => `${ending}.yml`).join(" or ");
  throw new UsageError(
    `${JSON.stringify(file)} is no test: tests are files whose names end with ${endings}`,
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
