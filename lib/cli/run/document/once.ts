// One run of a document: it is checked, then run. `--watch` comes here again and again.
import { type RunEvent, type RunJournal, typedPath } from "../../../core/core.ts";
import { type FileProblem, maybeBlock, problemLine } from "../../../check/check_options.ts";
import type { Terminal } from "../../../host/terminal/terminal.ts";
import { documentPath, type DocumentPlace, placeHome } from "../../../project/document/place.ts";
import { createRun, type KeptRun } from "../../../project/open_run.ts";
import type { ProjectSettings } from "../../../project/project.ts";
import { printable, printableLine } from "../../../render/shown_text.ts";
import { EXIT, UsageError } from "../../../service/exit_code.ts";
import type { SeenDocument } from "../../../service/look/document_outline.ts";
import {
  checkedDocument,
  type CheckedRun,
  DocumentResults,
  type DocumentRunInput,
  readyDocument,
} from "../../../service/start/document.ts";
import type { AroundRun, Interruptible } from "../around.ts";
import { type DeliverOptions, endRun, toItsEnd } from "../end.ts";
import type { COMMANDS, ParsedCommand } from "../../flags/flags.ts";
import { followRun, type RunView } from "../view.ts";

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

/** What is wrong with a document by itself. */
export function documentProblems({ file: { path, problems }, project }: SeenDocument): string {
  return problemLines(problems.map((problem) => ({ ...problem, file: path })), project);
}

/** A document that is about to run. */
interface DocumentWork {
  readonly terminal: Terminal;
  readonly flags: DeliverOptions["flags"];
  readonly root: string;
  readonly cwd: string;
  readonly view: RunView;
  readonly stop: Interruptible;
  readonly results: DocumentResults;
  readonly kept: KeptRun | undefined;
  /** Of its run. */
  readonly events: AsyncIterable<RunEvent>;
}

/** Runs a document and delivers what it gives; gives the exit code. */
export async function performDocument(work: DocumentWork): Promise<number> {
  const { terminal, view, results, events } = work;
  const shows = { ...work, view: typingPaths(view, work) };
  const summary = await toItsEnd(work, () => followRun(events, shows));
  const { shown } = results;
  if (shown !== undefined) await terminal.stdout.write(shown);
  return await endRun(summary, { ...work, isShown: shown !== undefined, endsLine: true });
}

/** Names files as they are typed in the working folder, which events name from the root (documents.md 1.3). */
function typingPaths(
  view: RunView,
  place: Pick<DocumentWork, "root" | "cwd">,
): Pick<RunView, "event" | "end"> {
  if (place.root === place.cwd) return view;
  const operation = (name: string): string =>
    name.replace(
      /^(@\S+ )(.+)(?=:\d+$)/,
      (_, before: string, file: string) => before + typedPath(file, place),
    );
  const message = (text: string): string =>
    text.replace(/^.+?(?=:\d+:\d+: error: )/, (file) => typedPath(file, place));
  const typed = (event: RunEvent): RunEvent => {
    if (event.type === "step-start") return { ...event, name: operation(event.name) };
    if (event.type === "step-skip" && event.name !== undefined) {
      return { ...event, name: operation(event.name) };
    }
    if (event.type === "warning" && event.file !== undefined) {
      return { ...event, file: typedPath(event.file, place) };
    }
    if (event.type === "run-end" && event.error !== undefined) {
      return { ...event, error: message(event.error) };
    }
    if (event.type !== "step-end" || event.error === undefined) return event;
    return { ...event, error: { ...event.error, message: message(event.error.message) } };
  };
  return { event: (event) => view.event(typed(event)), end: () => view.end() };
}
