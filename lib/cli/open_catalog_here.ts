import type { Catalog } from "../core/catalog.ts";
import { workingFolder } from "../host/paths.ts";
import type { Terminal } from "../host/terminal.ts";
import { printable } from "../render/printable.ts";
import { openCatalog, openSettings } from "../project/project.ts";
import type { ProjectFlags } from "../project/project.ts";

/** The catalogue of the project the working folder belongs to, for commands that look and run nothing. */
export async function openCatalogHere(flags: ProjectFlags, terminal: Terminal): Promise<Catalog> {
  const cwd = workingFolder();
  const { catalog } = await openCatalog(await openSettings(cwd, { cwd }), {
    flags,
    user: {
      canAnswer: false,
      ask: () => Promise.reject(new Error("Nobody is asked by a command that only looks")),
    },
    notice: (text) => void terminal.stderr.write(`warning: ${printable(text)}\n`),
  });
  return catalog;
}
