// `orrery run FILE.md` (documents.md 1.1): checks the document, then runs it.

import { checkDocument } from "../check/check_document.ts";
import { problemLine } from "../check/problem_line.ts";
import { LiveDocument } from "../document/live_document.ts";
import { nodeTexts } from "../document/node_text.ts";
import type { StoredFile } from "../core/journal.ts";
import { ModelError } from "../core/model.ts";
import { dirname, resolve } from "../core/path.ts";
import { FileError } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import type { Terminal } from "../host/terminal.ts";
import { realPath } from "../host/paths.ts";
import type { DocumentFile } from "../parse/document_file.ts";
import { MERGE_MODES } from "../parse/parameter_reader.ts";
import { createRun } from "../project/open_run.ts";
import { openCatalog, openSettings } from "../project/project.ts";
import type { ProjectSettings } from "../project/project.ts";
import { printable } from "../render/printable.ts";
import { aroundRun } from "./around_run.ts";
import type { AroundRun, Interruptible } from "./around_run.ts";
import { budgetOf, budgetWithin } from "./budget_flag.ts";
import { nearestFile } from "./call_source.ts";
import { DocumentBounds } from "../project/document_bounds.ts";
import { DocumentResults } from "./document_results.ts";
import { documentRunJson } from "./document_run_input.ts";
import type { DocumentRunInput } from "./document_run_input.ts";
import { documentView, plainDocumentView } from "./document_view.ts";
import { EXIT, UsageError } from "./exit_code.ts";
import type { COMMANDS, ParsedCommand } from "./flags.ts";
import { grantsOf, keepStdout } from "./grants.ts";
import { homeCheck } from "../project/document_home.ts";
import type { DocumentHome } from "../project/document_home.ts";
import { documentPath, placeHome } from "../project/document_place.ts";
import type { DocumentPlace } from "../project/document_place.ts";
import { blockOf, textsOf } from "./given_input.ts";
import { documentCalls, documentMeans } from "./open_document.ts";
import { performDocument } from "./perform_document.ts";
import type { DocumentWork } from "./perform_document.ts";
import { promptInput } from "./prompt_input.ts";
import { RenewedView } from "./renewed_view.ts";
import { limitsOf } from "./run_calls.ts";
import type { RunView } from "./run_view.ts";
import { stdinText } from "./stdin_text.ts";

type RunFlags = ParsedCommand<typeof COMMANDS.run>["flags"];

/** What the command line says of a run. */
export interface DocumentCommand {
  readonly flags: RunFlags;
  readonly terminal: Terminal;
  readonly cwd: string;
  readonly stop: Interruptible;
}

/** Runs a document; gives the exit code. @throws {UsageError}, {FileError} */
export async function runDocumentCommand(word: string, command: DocumentCommand): Promise<number> {
  const { flags, terminal, cwd, stop } = command;
  if (flags.profile !== undefined) {
    throw new UsageError(["--profile is for prompts; a document names its models itself, or takes --model"], {
      command: "run",
    });
  }
  if (flags.out === "-" && (flags.json || flags.jsonl)) {
    throw new UsageError(["--out - and --json cannot both have stdout; choose one"], { command: "run" });
  }
  const watching = flags.watch ? await loadWatching() : undefined;
  watching?.refuseWithWatch(flags);
  if (flags.replay !== undefined) {
    const { replayDocument }: typeof import("./replay_document.ts") = await import(
      "./replay_document.ts" as string
    );
    return await replayDocument(word, { ...command, record: flags.replay });
  }
  const grants = await grantsOf(flags);
  await assertThere(word, cwd);
  const project = await openSettings(dirname(realPath(resolve(cwd, word))), { cwd });
  const renewed = flags.watch ? new RenewedView(plainDocumentView(terminal, flags)) : undefined;
  const view = renewed ?? await documentView(terminal, flags);
  await using around = await aroundRun(view, { terminal, stop, isQuiet: flags.quiet, usesStdin: false });
  await keepStdout(flags);
  const bounds = new DocumentBounds(project.root);
  const opened = await around.open(
    openCatalog(project, { ...grants, ...around.opening, against: (request) => bounds.against(request) }),
  );
  if (opened === undefined) return EXIT.interrupted;
  const canAsk = around.approvals !== undefined;
  const place = { ...opened, project, grants, canAsk, bounds, accepted: opened.projectAccepted };
  const input = await inputOf(word, { ...command, project });
  if (input === undefined) return EXIT.interrupted;
  const start: DocumentStart = { command, place, input, view, around };
  if (watching === undefined || renewed === undefined) return await runOnce(start);
  return await watching.watchDocument({ ...start, view: renewed });
}

/** @throws {FileError} that names what may have been meant */
async function assertThere(word: string, cwd: string): Promise<void> {
  const path = resolve(cwd, word);
  try {
    await hostFiles({ root: cwd }).stat(path);
  } catch (error) {
    if (!(error instanceof FileError) || error.code !== "not-found") throw error;
    const hint = await nearestFile(path, word);
    throw new FileError(`file not found: ${JSON.stringify(word)}${hint}`, {
      path: word,
      code: "not-found",
      cause: error,
    });
  }
}

const loadWatching = (): Promise<typeof import("./watch_document.ts")> =>
  import("./watch_document.ts" as string);

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
export async function runOnce(start: DocumentStart): Promise<number> {
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

/** What the flags say; undefined after Ctrl-C. */
async function inputOf(
  word: string,
  { flags, cwd, terminal, stop, project }: DocumentCommand & { readonly project: ProjectSettings },
): Promise<Omit<DocumentRunInput, "text"> & { readonly text: "" } | undefined> {
  const budget = budgetWithin(project.config.limits, budgetOf(flags.budget, { command: "run" }));
  const stdin = () => stdinText(terminal, stop.signal);
  const { values } = await promptInput(flags, { cwd, command: "run", stdin });
  if (stop.signal.aborted) return undefined;
  const { concurrency: _one, ...limits } = limitsOf(project, flags);
  const { documents } = project.config;
  const mode = MERGE_MODES.find((each) => each === flags.mode);
  return {
    path: documentPath(word, project),
    text: "",
    values: textsOf(values),
    showsOperations: flags["show-operations"] || documents.showsOperations,
    budget,
    limits,
    defaults: {
      limits: documents.limits,
      ...(documents.temperature === undefined ? {} : { temperature: documents.temperature }),
    },
    ...(flags.prompt === undefined ? {} : { prompt: flags.prompt }),
    ...(flags.model === undefined ? {} : { model: flags.model }),
    ...(mode === undefined ? {} : { mode }),
    ...(flags.out === undefined ? {} : { out: flags.out }),
  };
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
  const texts = blocks.map(({ file, reference }) => {
    const source = files.get(file);
    return source === undefined ? "" : nodeTexts(new LiveDocument(source.tree).select([reference]));
  });
  return { document: entry, texts: texts.join("\n\n") };
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
