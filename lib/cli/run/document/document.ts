// `orrery run FILE.md` (documents.md 1.1): checks the document, then runs it.
import { dirname, resolve } from "node:path";
import { EMPTY_CATALOG, type Files } from "../../../core/core.ts";
import { hostFiles } from "../../../host/files/files.ts";
import { realPath } from "../../../host/paths.ts";
import { readDocument } from "../../../parse/document/document.ts";
import { MERGE_MODES } from "../../../parse/document/parameters.ts";
import { documentPath } from "../../../project/document/place.ts";
import { openSettings, type ProjectSettings } from "../../../project/project.ts";
import type { DocumentMeans } from "../../../run/document/means.ts";
import { UsageError } from "../../../service/exit_code.ts";
import { budgetOf, budgetWithin } from "../../../service/input/budget.ts";
import { promptInput } from "../../../service/input/prompt_input.ts";
import {
  documentEvents,
  DocumentResults,
  type DocumentRunInput,
  documentRunInput,
  openDocumentPlace,
  settingsInput,
  textsOf,
} from "../../../service/start/document.ts";
import { aroundRun } from "../around.ts";
import { orNearest, stdinText } from "../source.ts";
import { documentView, plainDocumentView } from "./view.ts";
import { grantsOf } from "../../flags/grants.ts";
import { RUN } from "../../flags/groups.ts";
import { refuseFlags } from "../../flags/refused.ts";
import { openReplay } from "../record.ts";
import { assertSameText, replayedPrompts } from "../calls.ts";
import { type DocumentCommand, type DocumentStart, performDocument, runDocumentOnce } from "./once.ts";
import { refuseWithWatch, RenewedView, watchDocument } from "./watch.ts";

/** Runs a document; gives the exit code. @throws {UsageError}, {FileError} */
export async function runDocumentCommand(word: string, command: DocumentCommand): Promise<number> {
  const { flags, terminal, cwd, stop } = command;
  refuseFlags(RUN, flags, "document");
  if (flags.out === "-" && (flags.json || flags.jsonl)) {
    throw new UsageError("--out - and --json cannot both have stdout; choose one", "run");
  }
  if (flags.watch) refuseWithWatch(flags);
  if (flags.replay !== undefined) {
    return await replayDocument(word, { ...command, record: flags.replay });
  }
  const grants = grantsOf(flags);
  await orNearest(word, cwd, hostFiles({ root: cwd }).stat(word));
  const project = await openSettings(dirname(realPath(resolve(cwd, word))), { cwd });
  const renewed = flags.watch ? new RenewedView(plainDocumentView(terminal, flags)) : undefined;
  const view = renewed ?? documentView(terminal, flags);
  await using around = await aroundRun(view, { terminal, stop, isQuiet: flags.quiet, usesStdin: false });
  const place = await openDocumentPlace({ project, grants, around });
  const input = await inputOf(word, { ...command, project });
  const start: DocumentStart = { command, place, input, view, around };
  if (renewed === undefined) return await runDocumentOnce(start);
  return await watchDocument({ ...start, view: renewed });
}

/** What the flags say. */
async function inputOf(
  word: string,
  { flags, cwd, terminal, stop, project }: DocumentCommand & { readonly project: ProjectSettings },
): Promise<DocumentRunInput> {
  const budget = budgetWithin(project.config.limits, budgetOf(flags.budget, { command: "run" }));
  const stdin = () => stdinText(terminal, stop.signal);
  const { values } = await promptInput(flags, { cwd, command: "run", stdin });
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

/** Runs the document of a record again, every effect answered by it. @throws {ReplayError} when the file is not the recorded one any more */
async function replayDocument(
  word: string,
  { flags, terminal, cwd, stop, record }: DocumentCommand & { readonly record: string },
): Promise<number> {
  const opened = await openReplay(record, { cwd, kind: "document", alsoRecords: flags.record });
  const { run } = opened.replay;
  const [stored] = run.files ?? [];
  if (stored === undefined) {
    throw new UsageError(`${JSON.stringify(record)} has no document in it`, "run");
  }
  await assertSameText(word, { opened, cwd, record });
  const input = documentRunInput(run.input);
  const results = new DocumentResults(flags.out ?? "none", { root: cwd, cwd });
  const view = documentView(terminal, flags);
  const events = documentEvents({
    document: await readDocument(stored.text, { path: stored.path }),
    input,
    means: replayedMeans(input, results),
    signal: stop.signal,
    approvals: undefined,
    called: { catalog: EMPTY_CATALOG, place: replayedPrompts(cwd, { cwd, flags }) },
    replay: opened.replay,
  }, {});
  return await performDocument({
    terminal,
    flags,
    root: cwd,
    cwd,
    stop,
    view,
    results,
    kept: undefined,
    events,
  });
}

/** What a document works with when a record answers every effect: nothing is touched. */
function replayedMeans(input: DocumentRunInput, results: DocumentResults): DocumentMeans {
  const { model, mode, showsOperations, budget } = input;
  return {
    root: "/",
    files: NO_FILES,
    maySave: () => true,
    shell: { run: untouched },
    script: { command: "sh", args: () => [], inherit: [] },
    models: { find: untouched },
    tools: { find: () => undefined, names: () => Promise.resolve([]) },
    flags: { model, mode },
    defaults: input.defaults,
    showsOperations,
    budget,
    calls: {},
    random: () => 0,
    check: () => Promise.resolve([]),
    result: (document) => results.keep(document),
  };
}

const untouched = (): never => {
  throw new Error("A replay touches nothing");
};

const NO_FILES: Files = {
  resolve: untouched,
  stat: untouched,
  readBytes: untouched,
  readText: untouched,
  writeText: untouched,
  list: untouched,
};
