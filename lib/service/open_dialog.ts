import type { RunGrants } from "../project/grants.ts";
import type { ProjectSettings } from "../project/project.ts";
import type { RunSurroundings } from "./ready_run.ts";
import { openDialogCatalog } from "./dialog_catalog.ts";
import { findModel } from "../project/find_model.ts";
import type { DialogMeans } from "./dialog_options.ts";
import { keepStdout } from "../project/grants.ts";
import { assertKnownModel, modelFrom } from "./known_model.ts";

/** How a dialog is opened. */
export interface OpenDialogOptions {
  readonly around: RunSurroundings;
  readonly grants: RunGrants;
  /** What the model may be offered. */
  readonly tools: readonly string[];
  /** Of the model; undefined leaves it to the settings. */
  readonly name: string | undefined;
  /** Where the command line says it; absent for what a run has kept. */
  readonly typed?: { readonly flag: string | undefined; readonly command: string };
}

/** What a dialog is held with, whatever is kept of it. */
export type OpenedDialog = Pick<DialogMeans, "model" | "catalog" | "world" | "approvals" | "prompts">;

/** The gadgets of a dialog and its model; undefined when Ctrl-C came first. @throws {UsageError} for a model that is unknown, {ModelError} as `findModel` */
export async function openDialog(
  project: ProjectSettings,
  { around, grants, tools, name, typed }: OpenDialogOptions,
): Promise<OpenedDialog | undefined> {
  keepStdout(grants.flags);
  const { accepted, openCatalog: open } = around;
  const opened = await around.open(
    openDialogCatalog(project, {
      ...grants,
      ...around.opening,
      open,
      tools,
      accepted,
    }),
  );
  if (opened === undefined) return undefined;
  const { catalog, world, projectAccepted: isAccepted } = opened;
  if (typed !== undefined && name !== undefined) {
    const { flag, command } = typed;
    assertKnownModel(name, { from: modelFrom(flag), config: project.config, accepted: isAccepted, command });
  }
  const model = await findModel({ ...project, isAccepted, settings: grants.settings, name });
  const prompts = () => ({ project, grants, accepted: isAccepted });
  return { model, catalog, world, approvals: around.approvals, prompts };
}
