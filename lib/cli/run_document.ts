// `orrery run FILE.md` (documents.md 1.1): checks the document, then runs it.
import { dirname, resolve } from "node:path";
import { FileError } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { realPath } from "../host/paths.ts";
import { MERGE_MODES } from "../parse/document/parameters.ts";
import { documentPath } from "../project/document/place.ts";
import { openSettings, type ProjectSettings } from "../project/project.ts";
import {
  type DocumentRunInput,
  openDocumentPlace,
  settingsInput,
  textsOf,
} from "../service/start/document.ts";
import { EXIT, UsageError } from "../service/exit_code.ts";
import { budgetOf, budgetWithin } from "../service/input/budget.ts";
import { promptInput } from "../service/input/prompt_input.ts";
import { aroundRun } from "./around_run.ts";
import { nearestFile } from "./call_source.ts";
import { documentView, plainDocumentView } from "./document_view.ts";
import { grantsOf } from "./grants.ts";
import { RenewedView } from "./renewed_view.ts";
import { type DocumentCommand, type DocumentStart, runDocumentOnce } from "./run_document_once.ts";
import { stdinText } from "./stdin_text.ts";

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
  const place = await openDocumentPlace({ project, grants, around });
  if (place === undefined) return EXIT.interrupted;
  const input = await inputOf(word, { ...command, project });
  if (input === undefined) return EXIT.interrupted;
  const start: DocumentStart = { command, place, input, view, around };
  if (watching === undefined || renewed === undefined) return await runDocumentOnce(start);
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

/** What the flags say; undefined after Ctrl-C. */
async function inputOf(
  word: string,
  { flags, cwd, terminal, stop, project }: DocumentCommand & { readonly project: ProjectSettings },
): Promise<DocumentRunInput | undefined> {
  const budget = budgetWithin(project.config.limits, budgetOf(flags.budget, { command: "run" }));
  const stdin = () => stdinText(terminal, stop.signal);
  const { values } = await promptInput(flags, { cwd, command: "run", stdin });
  if (stop.signal.aborted) return undefined;
  const settings = settingsInput(project, flags);
  const mode = MERGE_MODES.find((each) => each === flags.mode);
  return {
    ...settings,
    path: documentPath(word, project),
    values: textsOf(values),
    showsOperations: flags["show-operations"] || settings.showsOperations,
    budget,
    prompt: flags.prompt,
    model: flags.model,
    mode,
    out: flags.out,
  };
}
