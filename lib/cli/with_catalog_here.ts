import type { Catalog } from "../core/catalog.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import { openCatalog, openSettings, type ProjectFlags } from "../project/project.ts";
import { keepStdout } from "../project/trust/grants.ts";
import { printable } from "../render/shown_text.ts";
import { EXIT } from "../service/exit_code.ts";
import { interruptible, nobody } from "./around_run.ts";

/** How the catalogue is looked at. */
export interface LookOptions {
  readonly flags: ProjectFlags;
  readonly terminal: Terminal;
  /** Whether MCP servers are started for their gadgets. Default true. */
  readonly servers?: boolean;
}

/**
 * Looks at the catalogue of the project the working folder belongs to, for commands that run nothing and ask nobody; its servers end with
 * the work. Gives the exit code.
 */
export async function withCatalogHere(
  { flags, terminal, servers = true }: LookOptions,
  work: (catalog: Catalog) => Promise<number>,
): Promise<number> {
  const cwd = workingFolder();
  const { signal } = interruptible(terminal);
  keepStdout(flags);
  let catalog: Catalog | undefined;
  try {
    ({ catalog } = await openCatalog(await openSettings(cwd, { cwd }), {
      flags,
      user: nobody,
      servers,
      signal,
      notice: (text) => void terminal.stderr.write(`warning: ${printable(text)}\n`),
    }));
    return await work(catalog);
  } catch (error) {
    if (signal.aborted) return EXIT.interrupted;
    throw error;
  } finally {
    await catalog?.close?.();
  }
}
