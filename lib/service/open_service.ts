import type { Clock } from "../core/clock.ts";
import { memoryJournal } from "../journal/memory_journal.ts";
import type { RunGrants } from "../project/grants.ts";
import { openJournal } from "../project/open_journal.ts";
import type { FoundSecret } from "../project/open_run.ts";
import { openSettings } from "../project/project.ts";
import { runSecrets } from "../project/run_secrets.ts";
import { ProjectHold } from "./project_hold.ts";
import { ProjectService } from "./project_service.ts";
import type { Service } from "./service.ts";

/** How a project is held open. */
export interface OpenServiceOptions {
  /** A folder in the project. */
  readonly folder: string;
  /** Nothing outlives this process: runs are in memory. */
  readonly ephemeral: boolean;
  /** What every run may do. */
  readonly grants: RunGrants;
  /** Told what was ignored, or went wrong where nobody else hears of it. */
  readonly notice: (text: string) => void;
  /** What nobody is to see besides what the project and the environment have, such as the token of a server. */
  readonly secrets?: readonly FoundSecret[];
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** Opens a project to be served. @throws {ProblemsError} for settings that cannot be read, {JournalError} when nothing can be kept */
export async function openService(options: OpenServiceOptions): Promise<Service> {
  const { folder, ephemeral, grants, notice } = options;
  const { root, config } = await openSettings(folder, { cwd: folder });
  const secrets = runSecrets({ config, settings: grants.settings });
  for (const { name, value } of options.secrets ?? []) secrets.add(name, value);
  const hold = await ProjectHold.open({ root, grants, ephemeral, notice, secrets });
  try {
    const journal = ephemeral ? memoryJournal({ secrets }) : openJournal(root, { secrets });
    return new ProjectService({ ...options, root, hold, secrets, journal });
  } catch (error) {
    await hold[Symbol.asyncDispose]();
    throw error;
  }
}
