// `orrery test FILE...`: tests that are kept as files. Nothing of the project is touched, and no provider is asked.

import { ProblemsError } from "../core/problems_error.ts";
import { resolve } from "../core/path.ts";
import { SourceError } from "../core/source_error.ts";
import { hostFiles } from "../host/files.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import { printable } from "../render/shown_text.ts";
import { interruptible } from "./around_run.ts";
import { EXIT, UsageError } from "../service/exit_code.ts";
import type { FileTest, TestKind } from "./file_test.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { keepStdout } from "../project/grants.ts";
import { TestProjects } from "./test_projects.ts";
import { testFiles } from "./test_files.ts";
import { testLines, testsJson } from "./test_report.ts";
import type { TestOutcome } from "./test_report.ts";

/** What kinds of tests there are. */
const KINDS: readonly TestKind[] = [
  {
    endings: [".document-test.yml", ".document-test.yaml"],
    load: async () => {
      const { documentTests }: typeof import("./test_document.ts") = await import(
        "./test_document.ts" as string
      );
      return documentTests;
    },
  },
  {
    endings: [".conversation-test.yml", ".conversation-test.yaml"],
    load: async () => {
      const { conversationTests }: typeof import("./conversation_test_files.ts") = await import(
        "./conversation_test_files.ts" as string
      );
      return conversationTests;
    },
  },
];

/** All files are read before the first test runs. @throws {UsageError}, {ProblemsError}, {FileError} */
export async function test(
  { words, flags }: ParsedCommand<typeof COMMANDS.test>,
  terminal: Terminal,
): Promise<number> {
  const { signal } = interruptible(terminal);
  await keepStdout(flags);
  using _stray = terminal.onStrayError((error) => void tellStray(error, terminal));
  await using projects = new TestProjects({
    flags,
    signal,
    notice: (text) => void terminal.stderr.write(`warning: ${printable(text)}\n`),
  });
  const tests = await readTests(words, projects);
  const outcomes: TestOutcome[] = [];
  for (const each of tests) {
    const begunAt = performance.now();
    const failures = await each.run();
    if (signal.aborted) return EXIT.interrupted;
    const outcome = { test: each, failures, ms: Math.round(performance.now() - begunAt) };
    outcomes.push(outcome);
    if (!flags.json) await terminal.stdout.write(testLines(outcome, { isQuiet: flags.quiet }));
  }
  const failed = outcomes.filter(({ failures }) => failures.length > 0).length;
  if (flags.json) await terminal.stdout.write(`${JSON.stringify(testsJson(outcomes))}\n`);
  else await terminal.stdout.write(`${outcomes.length - failed} passed, ${failed} failed\n`);
  return failed > 0 ? EXIT.failed : EXIT.ok;
}

/** Of a module that was loaded: what it does later nobody waits for. */
async function tellStray(error: unknown, terminal: Terminal): Promise<void> {
  const { strayErrorText }: typeof import("./stray_error.ts") = await import("./stray_error.ts" as string);
  await terminal.stderr.write(`warning: ${printable(strayErrorText(error, workingFolder()))}\n`);
}

async function readTests(
  words: readonly string[],
  projects: TestProjects,
): Promise<readonly FileTest[]> {
  const cwd = workingFolder();
  const named = await testFiles(words, { cwd, isTest: (name) => maybeKindOf(name) !== undefined });
  const kinds = named.map((file) => ({ file, kind: kindOf(file) }));
  const tests: FileTest[] = [];
  const problems: SourceError[] = [];
  for (const { file, kind } of kinds) {
    const text = await hostFiles({ root: cwd }).readText(file);
    try {
      tests.push(...await (await kind.load())({ text, file, path: resolve(cwd, file) }, projects));
    } catch (error) {
      if (error instanceof SourceError) problems.push(error);
      else if (error instanceof ProblemsError) problems.push(...error.problems);
      else throw error;
    }
  }
  if (problems.length > 0) throw new ProblemsError(problems);
  return tests;
}

function maybeKindOf(file: string): TestKind | undefined {
  return KINDS.find(({ endings }) => endings.some((ending) => file.endsWith(ending)));
}

/** @throws {UsageError} for a file of no kind */
function kindOf(file: string): TestKind {
  const kind = maybeKindOf(file);
  if (kind !== undefined) return kind;
  const endings = KINDS.flatMap(({ endings }) => endings.slice(0, 1)).join(" or ");
  throw new UsageError([
    `${JSON.stringify(file)} is no test: tests are files whose names end with ${endings}`,
  ], {
    command: "test",
  });
}
