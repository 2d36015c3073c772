// The project that the working folder, or a file, belongs to, for commands that look at it.
import type { Catalog } from "../core/core.ts";
import type { RunState } from "../service/service.ts";
import { hostFiles } from "../host/files/files.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal/terminal.ts";
import { NO_POLICY_FLAGS } from "../policy/policy_settings.ts";
import type { ProjectFlags } from "../project/project.ts";
import type { PromptIndex } from "../project/prompt_index.ts";
import { type App, openApp } from "../service/app.ts";
import { EXIT } from "../service/exit_code.ts";
import type { LookedFile } from "../service/kinds/kind.ts";
import { interruptible } from "./run/around.ts";
import { orNearest } from "./run/source.ts";
import { type Told, warningsTo } from "./page.ts";

/** Whether somebody can go on with the run. */
export function isResumable({ status, owned }: Pick<RunState, "status" | "owned">): boolean {
  return !owned && (status === "running" || status === "stopped" || status === "held");
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
  readonly app: App;
  readonly index: PromptIndex;
}

/** How the project is looked at. */
interface LookOptions {
  readonly flags: ProjectFlags;
  readonly terminal: Terminal;
}

/** The project of the working folder, for a command that looks at it and is granted nothing by flags of permissions. */
const openHere = (flags: ProjectFlags) => openApp({ grants: { settings: NO_POLICY_FLAGS, flags } });

/** Looks at the prompts of the project that the working folder belongs to. */
export async function promptsHere({ flags, terminal, tellsNotices = true }: LookOptions & {
  /** Whether what was ignored of the settings is told. Default true. */
  readonly tellsNotices?: boolean;
}): Promise<PromptsHere> {
  const app = await openHere(flags);
  if (tellsNotices) app.project.config.notices.forEach(warningsTo(terminal));
  return { app, index: await app.prompts() };
}

/**
 * Looks at the catalogue of the project the working folder belongs to, for commands that run nothing and ask nobody; its servers end with
 * the work. Gives the exit code where that was ended.
 */
export async function withCatalogHere(
  { flags, terminal, servers = true }: LookOptions & {
    /** Whether MCP servers are started for their gadgets. Default true. */
    readonly servers?: boolean;
  },
  work: (catalog: Catalog) => Promise<Told>,
): Promise<Told | number> {
  const { signal } = interruptible(terminal);
  let catalog: Catalog | undefined;
  try {
    const app = await openHere(flags);
    catalog = await app.catalog({ servers, signal, notice: warningsTo(terminal) });
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
  await orNearest(word, cwd, hostFiles({ root: cwd }).stat(word)); // a wrong name is told before wrong settings
  return await (await openApp({ file: word })).look(word);
}
