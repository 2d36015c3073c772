import type { Catalog, RunEvent, RunStart } from "../../core/core.ts";
import type { RunGrants } from "../../project/trust/grants.ts";
import type { FoundSecret, KeptRun } from "../../project/open_run.ts";
import {
  openCatalog,
  type OpenCatalogOptions,
  type OpenedCatalog,
  type ProjectSettings,
} from "../../project/project.ts";
import type { Approvals } from "../../run/approvals.ts";
import type { RunOptions } from "../../run/run.ts";

/** What a run is opened with: who is asked, who is told, and what ends it. */
export interface RunSurroundings {
  /** For the catalogue. */
  readonly opening: Pick<
    OpenCatalogOptions,
    "user" | "approve" | "notice" | "log" | "signal" | "secrets"
  >;
  /** Whether what the project says for itself counts, when that is known already. Default: the user is asked. */
  readonly accepted?: boolean;
  /** Opens the gadgets of the project. Default: for this run alone, `openCatalog`. */
  readonly openCatalog?: typeof openCatalog;
  /** For the run; undefined when nobody can be asked. */
  readonly approvals: Approvals | undefined;
  /** What servers are given, which nobody is to see. */
  readonly found: readonly FoundSecret[];
  /** What is being opened. @throws {InterruptedError} when Ctrl-C came first */
  unlessAborted<Value>(opening: Promise<Value>): Promise<Value>;
  /** What was opened, to be closed at the end. @throws {InterruptedError} when Ctrl-C came first, also where a module never ends loading */
  open<Opened extends { readonly catalog: Catalog }>(opening: Promise<Opened>): Promise<Opened>;
}

/** Where a run belongs, what it may do, and who is around it. */
export interface StartPlace {
  readonly project: ProjectSettings;
  readonly grants: RunGrants;
  /** Its `opening.signal` aborts the run. */
  readonly around: RunSurroundings;
}

/** What an engine gets besides: where its steps survive, what is masked, who records it, and what stops it. */
export type Keeping = KeptRun["options"] & Pick<RunOptions, "stop">;

/** A run that can begin: everything about it was looked at, and nothing has run. */
export interface ReadyRun {
  /** What is kept of it before its first step, so that whoever goes on with it has the same. */
  readonly start: RunStart;
  /** Runs it; to be called once. */
  events(keeping: Keeping): AsyncIterable<RunEvent>;
}

/** The gadgets of a project for a run, to be closed at its end. @throws {InterruptedError} when Ctrl-C came first */
export function openedCatalog(
  { project, grants, around }: StartPlace,
  more: Pick<OpenCatalogOptions, "calls" | "servers" | "against"> = {},
): Promise<OpenedCatalog> {
  const open = around.openCatalog ?? openCatalog;
  return around.open(open(project, { ...grants, ...around.opening, late: true, ...more }));
}
