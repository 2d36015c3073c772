import { hostFiles } from "../host/files.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import { NO_GRANTS } from "../project/grants.ts";
import { checkFiles } from "../service/check_files.ts";
import { readConversationTests } from "./test/conversation_file.ts";
import { readDocumentTests } from "./test/document.ts";
import type { TestSource } from "./test/field.ts";
import { checkFlags } from "./check_flags.ts";
import { CheckPlaces } from "../service/check_places.ts";
import { CheckReport } from "../service/check_report.ts";
import { checkTargets } from "../service/check_targets.ts";
import { EXIT } from "../service/exit_code.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { grantsOf } from "./grants.ts";
import { writeReport } from "./write_report.ts";

/** `orrery check`: finds mistakes without running anything; gives the exit code. */
export async function check(
  { words, flags }: ParsedCommand<typeof COMMANDS.check>,
  terminal: Terminal,
): Promise<number> {
  const cwd = workingFolder();
  // A check calls no gadget and asks nobody: what is granted makes no difference. What gadgets say of themselves is found out in processes that
  // may do nothing.
  const grants = await grantsOf({
    ...NO_GRANTS.flags,
    "allow-gadget": [],
    frozen: false,
    "trust-code": false,
    ...flags,
  });
  const documentFlags = await checkFlags(flags, { cwd, terminal, grants });
  if (documentFlags === undefined) return EXIT.interrupted;
  const report = new CheckReport();
  await using places = new CheckPlaces({ cwd, grants, report, model: flags.model, exclude: flags.exclude });
  const named = words.length > 0 ? words : [places.rootOf(cwd)];
  const targets = await checkTargets(named, { cwd, files: hostFiles({ root: cwd }), places });
  const notLoaded = await checkFiles(targets, { places, report, flags: documentFlags });
  for (const path of targets.tests) {
    const text = await hostFiles({ root: cwd }).readText(path);
    report.file(path, text);
    await report.cutValues(text, { path, kind: "test" });
    await report.unlessProblems(readTests({ text, file: path, path }), [cwd], "test");
  }
  return await writeReport(report, { flags, terminal, cwd, notLoaded });
}

/** As they are read before they run. @throws {ProblemsError} */
async function readTests(source: TestSource): Promise<void> {
  if (/\.document-test\./.test(source.path)) await readDocumentTests(source);
  else await readConversationTests(source);
}
