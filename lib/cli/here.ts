import { dirname, resolve } from "node:path";
import { pathInProject, realPath } from "../host/paths.ts";
import { readDocumentText } from "../run/document/files.ts";
import { orNearest } from "./run/source.ts";
import type { LookedFile } from "../service/kinds/kind.ts";
import {
  type Catalog,
  FileError,
  type Journal,
  RunNotFoundError,
  type RunSummary,
  type Secrets,
} from "../core/core.ts";
import { hostFiles } from "../host/files/files.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal/terminal.ts";
import { openJournal } from "../service/keep.ts";
import { openCatalog, openSettings, type ProjectFlags, type ProjectSettings } from "../project/project.ts";
import { type PromptIndex, promptIndex } from "../project/prompt_index.ts";
import { runSecrets } from "../project/run_secrets.ts";
import { keepStdout, NO_GRANTS, type RunGrants } from "../project/trust/grants.ts";
import { EXIT } from "../service/exit_code.ts";
import { interruptible, nobody } from "./run/around.ts";
import { type Told, warningsTo } from "./page.ts";

/** The journal of the project that the working folder belongs to. */
export interface JournalHere extends Disposable {
  readonly project: ProjectSettings;
  readonly journal: Journal;
  readonly secrets: Secrets;
}

/** Opens what is kept here; undefined when nothing ever was: looking makes no journal. @throws {JournalError} */
export async function journalHere(grants: RunGrants = NO_GRANTS): Promise<JournalHere | undefined> {
  const project = await openSettings();
  if (!await hasJournal(project.root)) return undefined;
  const secrets = runSecrets({ config: project.config, settings: grants.settings });
  const journal = openJournal(project.root, { secrets });
  return { project, journal, secrets, [Symbol.dispose]: () => journal[Symbol.dispose]() };
}

/** The same where a run is named. @throws {RunNotFoundError} when nothing is kept here */
export async function neededJournal(grants: RunGrants = NO_GRANTS): Promise<JournalHere> {
  const here = await journalHere(grants);
  if (here !== undefined) return here;
  throw new RunNotFoundError("No run is kept in this project: the working folder decides which one it is");
}

/** Whether somebody can go on with the run. */
export function isResumable({ status, owned }: RunSummary): boolean {
  return !owned && (status === "running" || status === "stopped" || status === "held");
}

async function hasJournal(root: string): Promise<boolean> {
  try {
    return (await hostFiles({ root }).stat(".orrery/orrery.db")).kind === "file";
  } catch (error) {
    if (error instanceof FileError && error.code === "denied") throw error;
    return false;
  }
}

/** Writes a text to the file that was named with `-o`, whole or not at all, or else to stdout. */
export async function writeText(
  text: string,
  { output, terminal }: { readonly output: string | undefined; readonly terminal: Terminal },
): Promise<void> {
  if (output === undefined) await terminal.stdout.write(text);
  else await hostFiles({ root: workingFolder() }).writeText(output, text);
}

/** The project of the working folder, with its prompts. */
export interface PromptsHere {
  readonly project: ProjectSettings;
  readonly index: PromptIndex;
}

/** Looks at the prompts of the project that the working folder belongs to, for commands that ask nobody. */
export async function promptsHere({ flags, terminal, tellsNotices = true }: {
  readonly flags: ProjectFlags;
  readonly terminal: Terminal;
  /** Whether what was ignored of the settings is told. Default true. */
  readonly tellsNotices?: boolean;
}): Promise<PromptsHere> {
  const project = await openSettings();
  if (tellsNotices) project.config.notices.forEach(warningsTo(terminal));
  return { project, index: await promptIndex(project.root, { trustsCode: flags["trust-code"] === true }) };
}

/** How the catalogue is looked at. */
interface LookOptions {
  readonly flags: ProjectFlags;
  readonly terminal: Terminal;
  /** Whether MCP servers are started for their gadgets. Default true. */
  readonly servers?: boolean;
}

/**
 * Looks at the catalogue of the project the working folder belongs to, for commands that run nothing and ask nobody; its servers end with
 * the work. Gives the exit code where that was ended.
 */
export async function withCatalogHere(
  { flags, terminal, servers = true }: LookOptions,
  work: (catalog: Catalog) => Promise<Told>,
): Promise<Told | number> {
  const { signal } = interruptible(terminal);
  keepStdout(flags);
  let catalog: Catalog | undefined;
  try {
    const project = await openSettings();
    const notice = warningsTo(terminal);
    ({ catalog } = await openCatalog(project, { flags, user: nobody, servers, signal, notice }));
    return await work(catalog);
  } catch (error) {
    if (signal.aborted) return EXIT.interrupted;
    throw error;
  } finally {
    await catalog?.close?.();
  }
}

/** A file as it is typed, with its project. @throws {FileError} */
export async function fileHere(word: string): Promise<LookedFile> {
  const cwd = workingFolder();
  const path = realPath(resolve(cwd, word));
  const text = await orNearest(word, cwd, readDocumentText(hostFiles({ root: cwd }), word));
  const project = await openSettings(dirname(path));
  return { file: pathInProject(word, project), path, text, project };
}
