import type { Catalog } from "../core/catalog.ts";
import { didYouMean } from "../core/nearest.ts";
import type { RunGrants } from "../project/trust/grants.ts";
import type { FoundSecret, KeepFlags, KeptRun } from "../project/open_run.ts";
import type { ProjectSettings } from "../project/project.ts";
import { type DialogInput, dialogJson } from "../service/start/dialog.ts";
import { UsageError } from "../service/exit_code.ts";

/** Where a dialog belongs, and what is wanted of it. */
export interface KeepDialogOptions {
  readonly project: ProjectSettings;
  /** Where its tools are. */
  readonly catalog: Catalog;
  readonly grants: RunGrants;
  /** What its servers are given. */
  readonly found: readonly FoundSecret[];
  readonly flags: KeepFlags;
}

/** Begins to keep a new dialog. @throws {UsageError} for tools that there are not, {JournalError} when the journal cannot be written, {FileError} for the record */
export async function keepDialog(
  { kind, input }: { readonly kind: "ask" | "chat"; readonly input: DialogInput },
  { project, catalog, grants, found, flags }: KeepDialogOptions,
): Promise<KeptRun> {
  assertKnownTools(input.tools, { catalog, command: kind });
  const { createRun }: typeof import("../project/open_run.ts") = await import(
    "../project/open_run.ts" as string
  );
  return await createRun({ kind, input: dialogJson(input) }, { ...project, grants, found }, flags);
}

/** Finds out before a run whether there is a gadget for each name of `--tools`. @throws {UsageError} for every one that is unknown */
function assertKnownTools(
  tools: readonly string[],
  { catalog, command }: { readonly catalog: Catalog; readonly command: string },
): void {
  const names = catalog.entries.map(({ name }) => name);
  const problems = tools.filter((name) => catalog.maybeFind(name) === undefined).map((name) =>
    `--tools: Unknown gadget ${JSON.stringify(name)}.${
      didYouMean(name, names)
    } orrery list gadgets shows what there is.`
  );
  if (problems.length > 0) throw new UsageError(problems, { command });
}
