// One run of a document: it is checked, then run. `--watch` comes here again and again.
import type { FileCommand } from "../perform.ts";
import type { RunView } from "../view.ts";
import { type RunJournal, typedPath } from "../../../core/core.ts";
import { type FileProblem, maybeBlock, problemLine } from "../../../check/check_options.ts";
import type { DocumentPlace } from "../../../project/document/place.ts";
import type { App } from "../../../service/app.ts";
import type { ProjectSettings } from "../../../project/project.ts";
import { printable } from "../../../render/shown_text.ts";
import { EXIT, UsageError } from "../../../service/exit_code.ts";
import {
  checkedDocument,
  type CheckedRun,
  DocumentResults,
  type DocumentRunInput,
  readyDocument,
} from "../../../service/kinds/document/ready.ts";
import type { AroundRun } from "../around.ts";
import { performRun } from "../perform.ts";
import { pathInProject } from "../../../host/paths.ts";

/** A document that is about to be checked and run. */
export interface DocumentStart {
  readonly command: FileCommand;
  readonly app: App;
  readonly place: DocumentPlace;
  readonly input: DocumentRunInput;
  readonly view: RunView;
  readonly around: AroundRun;
  /** Gives what is put in front of the run's journal, or in place of one that is not there. */
  readonly journal?: (kept: RunJournal | undefined) => RunJournal;
  /** A result document was written. */
  readonly onResult?: (path: string) => Promise<void>;
}

/** Checks a document and runs it; gives the exit code. */
export async function runDocumentOnce(start: DocumentStart): Promise<number> {
  const { command, app, place, input, view, around, journal, onResult } = start;
  const { flags, terminal, stop } = command;
  const { project, grants } = place;
  const blocks = flags.block.map((block) => {
    const { file, reference } = blockOf(block, "run");
    return { file: pathInProject(file, project), reference };
  });
  const { problems, checked } = await checkedDocument(place, { input, blocks });
  await tell(problems, { ...command, ...project });
  if (checked === undefined) return EXIT.usage;
  const results = new DocumentResults(input.out, { ...project, onWritten: onResult });
  const ready = readyDocument({ ...checked, results }, { project, grants, around }, place);
  const kept = await app.createRun(ready.start, flags, around.found);
  const keeping = { ...kept.options, ...(journal && { journal: journal(kept.options.journal) }) };
  return await performRun(ready, { terminal, flags, place: project, view, stop, kept }, keeping);
}

async function tell(
  problems: CheckedRun["problems"],
  { flags, terminal, ...place }: FileCommand & ProjectSettings,
): Promise<void> {
  const told = flags.quiet ? problems.filter(({ severity }) => severity === "error") : problems;
  if (told.length === 0) return;
  await terminal.stderr.write(problemLines(told, place));
}

// What the command line gives a document, the same for `run` and `check`.

/** What `--block FILE#REF` names; the file as it was typed. @throws {UsageError} */
export function blockOf(
  block: string,
  command: "run" | "check",
): { readonly file: string; readonly reference: string } {
  const named = maybeBlock(block);
  if (named !== undefined) return named;
  throw new UsageError(`--block ${block}: expected FILE#REF, such as notes.md#summary`, command);
}

/** Problems of documents, a line each (documents.md 1.3), with their files as they are typed in the working folder. */
function problemLines(
  problems: readonly FileProblem[],
  place: Pick<ProjectSettings, "root" | "cwd">,
): string {
  return problems.map((problem) => {
    const file = problem.file === "" ? "" : typedPath(problem.file, place);
    return printable(`${problemLine({ ...problem, file })}\n`);
  }).join("");
}
