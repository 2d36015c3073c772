// One run of a document: it is checked, then run. `--watch` comes here again and again.
import type { RunJournal } from "../core/journal.ts";
import type { Terminal } from "../host/terminal.ts";
import { documentPath, type DocumentPlace, placeHome } from "../project/document/place.ts";
import { createRun } from "../project/open_run.ts";
import type { ProjectSettings } from "../project/project.ts";
import { printableLine } from "../render/shown_text.ts";
import {
  checkedDocument,
  type CheckedRun,
  DocumentResults,
  type DocumentRunInput,
  readyDocument,
} from "../service/start/document.ts";
import { EXIT } from "../service/exit_code.ts";
import type { AroundRun, Interruptible } from "./around_run.ts";
import { problemLines } from "./document_problems.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { blockOf } from "./given_input.ts";
import { performDocument } from "./perform_document.ts";
import type { RunView } from "./run_view.ts";

/** What the command line says of a run. */
export interface DocumentCommand {
  readonly flags: ParsedCommand<typeof COMMANDS.run>["flags"];
  readonly terminal: Terminal;
  readonly cwd: string;
  readonly stop: Interruptible;
}

/** A document that is about to be checked and run. */
export interface DocumentStart {
  readonly command: DocumentCommand;
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
  const { command, place, input, view, around, journal, onResult } = start;
  const { flags, terminal, stop } = command;
  const { project, grants } = place;
  const blocks = flags.block.map((block) => {
    const { file, reference } = blockOf(block, "run");
    return { file: documentPath(file, project), reference };
  });
  const { problems, checked } = await checkedDocument(placeHome(place), { input, blocks });
  await tell(problems, { ...command, ...project });
  if (checked === undefined) return EXIT.usage;
  const results = new DocumentResults(input.out, { ...project, onWritten: onResult });
  const ready = readyDocument(place, { ...checked, results, around });
  const kept = await createRun(ready.start, { ...project, grants, found: around.found }, flags);
  const keeping = { ...kept.options, ...(journal && { journal: journal(kept.options.journal) }) };
  const exit = await performDocument({
    terminal,
    flags,
    ...project,
    view,
    stop,
    results,
    kept,
    events: ready.events(keeping),
  });
  const { warning } = results;
  if (warning !== undefined && !flags.quiet) {
    await terminal.stderr.write(`warning: ${printableLine(warning)}\n`);
  }
  return exit;
}

async function tell(
  problems: CheckedRun["problems"],
  { flags, terminal, ...place }: DocumentCommand & ProjectSettings,
): Promise<void> {
  const told = flags.quiet ? problems.filter(({ severity }) => severity === "error") : problems;
  if (told.length === 0) return;
  await terminal.stderr.write(problemLines(told, place));
}
