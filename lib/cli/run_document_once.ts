// One run of a document: it is checked, then run. `--watch` comes here again and again.

import { checkDocument } from "../check/check_document.ts";
import { givenBlocks } from "../check/given_blocks.ts";
import { problemLine } from "../check/problem_line.ts";
import type { StoredFile } from "../core/journal.ts";
import { ModelError } from "../core/model.ts";
import type { Terminal } from "../host/terminal.ts";
import type { DocumentFile } from "../parse/document_file.ts";
import { homeCheck } from "../project/document_home.ts";
import type { DocumentHome } from "../project/document_home.ts";
import { documentPath, placeHome } from "../project/document_place.ts";
import type { DocumentPlace } from "../project/document_place.ts";
import { createRun } from "../project/open_run.ts";
import type { ProjectSettings } from "../project/project.ts";
import { printable } from "../render/printable.ts";
import type { AroundRun, Interruptible } from "./around_run.ts";
import { DocumentResults } from "./document_results.ts";
import { documentRunJson } from "./document_run_input.ts";
import type { DocumentRunInput } from "./document_run_input.ts";
import { EXIT } from "./exit_code.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { blockOf } from "./given_input.ts";
import { documentCalls, documentMeans } from "./open_document.ts";
import { performDocument } from "./perform_document.ts";
import type { DocumentWork } from "./perform_document.ts";
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
  readonly around: Pick<AroundRun, "approvals" | "found">;
  /** What is put in front of the run's journal, if it has one. */
  readonly journal?: DocumentWork["journal"];
  /** A result document was written. */
  readonly onResult?: (path: string) => Promise<void>;
}

/** Checks a document and runs it; gives the exit code. */
export async function runDocumentOnce(start: DocumentStart): Promise<number> {
  const { command, place, input, view, around, journal, onResult } = start;
  const { flags, terminal, cwd, stop } = command;
  const { project, grants } = place;
  const home = placeHome(place);
  const checked = await checkedDocument(home, { input, project, command });
  if (checked === undefined) return EXIT.usage;
  const { document, texts } = checked;
  const whole = { ...input, text: texts };
  const kept = await createRun(
    {
      kind: "document",
      file: document.path,
      input: documentRunJson(whole),
      files: [storedFile(document)],
    },
    { ...project, grants, found: around.found },
    flags,
  );
  const results = new DocumentResults(input.out, { ...project, ...(onResult && { onWritten: onResult }) });
  return await performDocument({
    terminal,
    flags,
    cwd,
    view,
    stop,
    document,
    input: whole,
    means: documentMeans(home, { input, results }),
    results,
    kept,
    approvals: around.approvals,
    called: documentCalls(place),
    ...(journal && { journal }),
  });
}

/** The document and the texts of the blocks that it is given; undefined when something is wrong, which is told. */
async function checkedDocument(
  home: DocumentHome,
  { input, project, command: { flags, terminal } }: {
    readonly input: DocumentRunInput;
    readonly project: ProjectSettings;
    readonly command: DocumentCommand;
  },
): Promise<{ readonly document: DocumentFile; readonly texts: string } | undefined> {
  const blocks = flags.block.map((block) => {
    const { file, reference } = blockOf(block, "run");
    return { file: documentPath(file, project), reference };
  });
  const { prompt, values, model, mode } = input;
  const options = homeCheck(home);
  const { entry, files, problems } = await checkDocument(input.path, {
    ...options,
    modelProblem: async (name) => await options.modelProblem(name) ?? await unusable(name, home.models),
    input: { values, blocks, ...(prompt === undefined ? {} : { prompt }) },
    ...(model === undefined ? {} : { model }),
    ...(mode === undefined ? {} : { mode }),
  });
  const errors = problems.filter(({ severity }) => severity === "error");
  const told = flags.quiet ? errors : problems;
  if (told.length > 0) {
    await terminal.stderr.write(
      told.map((problem) => `${printable(problemLine(problem))}\n`).join(""),
    );
  }
  if (errors.length > 0 || entry === undefined) return undefined;
  return { document: entry, texts: givenBlocks({ blocks }, { files }) };
}

/** Why a model cannot be asked, such as a key that is missing: known before anything has run. */
async function unusable(
  name: string | undefined,
  models: DocumentHome["models"],
): Promise<string | undefined> {
  try {
    await models.find(name);
    return undefined;
  } catch (error) {
    if (error instanceof ModelError && error.code === "config") return error.message;
    throw error;
  }
}

/** A resumed run has the document as it was. */
function storedFile({ path, text }: DocumentFile): StoredFile {
  return { path, text };
}
