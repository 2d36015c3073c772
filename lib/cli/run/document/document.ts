// `orrery run FILE.md` (documents.md 1.1): checks the document, then runs it.
import { effortFrom } from "../../../core/core.ts";
import type { FileCommand } from "../perform.ts";
import { hostFiles } from "../../../host/files/files.ts";
import { pathInProject } from "../../../host/paths.ts";
import { MERGE_MODES } from "../../../parse/document/parameters.ts";
import type { ProjectSettings } from "../../../project/project.ts";
import { openApp } from "../../../service/app.ts";
import { budgetOf, budgetWithin } from "../../../service/input/budget.ts";
import { promptInput } from "../../../service/input/prompt_input.ts";
import {
  type DocumentRunInput,
  openDocumentPlace,
  settingsInput,
  textsOf,
} from "../../../service/kinds/document/ready.ts";
import { aroundRun } from "../around.ts";
import { orNearest, stdinText } from "../source.ts";
import { documentView, plainDocumentView } from "./view.ts";
import { grantsOf } from "../../flags/grants.ts";
import { type DocumentStart, runDocumentOnce } from "./once.ts";
import { RenewedView, watchDocument } from "./watch.ts";

/** Runs a document; gives the exit code. @throws {UsageError}, {FileError} */
export async function runDocument(word: string, command: FileCommand): Promise<number> {
  const { flags, terminal, cwd, stop } = command;
  const grants = grantsOf(flags);
  await orNearest(word, cwd, hostFiles({ root: cwd }).stat(word));
  const app = await openApp({ file: word, grants });
  const { project } = app;
  const renewed = flags.watch ? new RenewedView(plainDocumentView(terminal, flags)) : undefined;
  const view = renewed ?? documentView(terminal, flags);
  await using around = await aroundRun(view, { terminal, stop, isQuiet: flags.quiet, usesStdin: false });
  const place = await openDocumentPlace({ project, grants, around });
  const input = await inputOf(word, { ...command, project });
  const start: DocumentStart = { command, app, place, input, view, around };
  if (renewed === undefined) return await runDocumentOnce(start);
  return await watchDocument({ ...start, view: renewed });
}

/** What the flags say. */
async function inputOf(
  word: string,
  { flags, cwd, terminal, stop, project }: FileCommand & { readonly project: ProjectSettings },
): Promise<DocumentRunInput> {
  const budget = budgetWithin(project.config.limits, budgetOf(flags.budget, { command: "run" }));
  const stdin = () => stdinText(terminal, stop.signal);
  const { values } = await promptInput(flags, { cwd, command: "run", stdin });
  const settings = settingsInput(project, flags);
  const mode = MERGE_MODES.find((each) => each === flags.mode);
  return {
    ...settings,
    path: pathInProject(word, project),
    values: textsOf(values),
    showsOperations: flags["show-operations"] || settings.showsOperations,
    budget,
    prompt: flags.prompt,
    model: flags.model,
    effort: effortFrom(flags.effort),
    mode,
    out: flags.out,
  };
}
