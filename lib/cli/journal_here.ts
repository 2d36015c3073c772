import { type Journal, RunNotFoundError, type RunSummary } from "../core/journal.ts";
import type { Secrets } from "../core/secrets.ts";
import { FileError } from "../core/world.ts";
import { hostFiles } from "../host/files.ts";
import { workingFolder } from "../host/paths.ts";
import { openSettings, type ProjectSettings } from "../project/project.ts";
import { runSecrets } from "../project/run_secrets.ts";
import { NO_GRANTS, type RunGrants } from "../project/trust/grants.ts";

/** The journal of the project that the working folder belongs to. */
export interface JournalHere extends Disposable {
  readonly project: ProjectSettings;
  readonly journal: Journal;
  readonly secrets: Secrets;
}

/** Opens what is kept here; undefined when nothing ever was: looking makes no journal. @throws {JournalError} */
export async function journalHere(grants: RunGrants = NO_GRANTS): Promise<JournalHere | undefined> {
  const cwd = workingFolder();
  const project = await openSettings(cwd, { cwd });
  if (!await hasJournal(project.root)) return undefined;
  const { openJournal }: typeof import("../project/open_journal.ts") = await import(
    "../project/open_journal.ts" as string
  );
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
