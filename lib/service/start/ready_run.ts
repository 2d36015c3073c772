import { loadConfig } from "../../catalog/config/load.ts";
import {
  type Catalog,
  EMPTY_CATALOG,
  memoryFiles,
  type RunEvent,
  type RunStart,
  type Secrets,
  type User,
} from "../../core/core.ts";
import { keepStdout, NO_GRANTS, NOBODY, type RunGrants } from "../../project/trust/grants.ts";
import type { FoundSecret, KeptRun } from "../keep.ts";
import {
  isProjectAccepted,
  openCatalog,
  type OpenCatalogOptions,
  type OpenedCatalog,
  openSettings,
  type ProjectSettings,
} from "../../project/project.ts";
import { Approvals } from "../../run/approvals.ts";
import type { RunOptions } from "../../run/run.ts";
import { containersOf, type PromptCallsOptions } from "./containers.ts";
import type { DocumentResults } from "../kinds/document/ready.ts";
import type { RunShows } from "../service.ts";

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
  /** A record answers everything: no gadget is opened, and no model is found. Default false. */
  readonly isRecorded?: boolean;
  /** Where the prompts are that its calls may ask. Default: in the project. */
  readonly prompts?: PromptCallsOptions["place"];
}

/** What an engine gets besides: where its steps survive or are answered from, what is masked, who records it, and what stops it. */
export type Keeping = KeptRun["options"] & Pick<RunOptions, "stop">;

/** A run that can begin: everything about it was looked at, and nothing has run. */
export interface ReadyRun {
  /** What is kept of it before its first step, so that whoever goes on with it has the same. */
  readonly start: RunStart;
  readonly shows: ShownResult;
  /** Runs it; to be called once. */
  events(keeping: Keeping): AsyncIterable<RunEvent>;
}

/** How what comes of a run is shown. */
export interface ShownResult extends RunShows {
  /** Of a document. */
  readonly results?: DocumentResults;
}

/** A run that was begun, or recorded, and is to be made ready again. */
export interface BegunRun {
  readonly id: string;
  /** What it began with; its `input` with what is said of it now. */
  readonly run: RunStart;
  /** Of the journal: what was masked is known again by them. */
  readonly secrets?: Secrets;
}

/** How the person at a terminal is asked about what no flag allows; not at all where nobody can answer. */
export function asking(user: User): Pick<RunSurroundings, "approvals"> & Pick<OpenCatalogOptions, "approve"> {
  const approvals = user.canAnswer ? new Approvals(user) : undefined;
  return { approvals, approve: approvals && ((refused) => approvals.ask(refused)) };
}

/** The gadgets of a project for a run, to be closed at its end. @throws {InterruptedError} when Ctrl-C came first */
export function openedCatalog(
  { project, grants, around }: StartPlace,
  more: Pick<OpenCatalogOptions, "accepted" | "calls" | "servers" | "late" | "against"> = {},
): Promise<OpenedCatalog> {
  keepStdout(grants.flags);
  const open = around.openCatalog ?? openCatalog;
  return around.open(open(project, { ...grants, ...around.opening, late: true, ...more }));
}

/** Where the prompts are that the calls of a run may ask. @param accepted whether what the project says for itself counts */
export function promptsAt(
  { project, grants, prompts }: StartPlace,
  accepted: boolean,
): PromptCallsOptions["place"] {
  return prompts ?? (() => ({ project, grants, accepted }));
}

/** What there is for a run whose project was opened. */
export interface OpenedRun extends Pick<OpenedCatalog, "catalog"> {
  readonly world?: OpenedCatalog["world"];
  /** Asks about what no flag allows; undefined: nobody. */
  readonly approvals: Approvals | undefined;
  readonly signal: AbortSignal;
  /** Where the prompts are that its calls may ask. */
  readonly prompts: PromptCallsOptions["place"];
}

/** What there is, by what was opened. */
export function openedRun(at: StartPlace, { catalog, world, projectAccepted }: typeof RECORDED): OpenedRun {
  const { approvals } = at.around;
  return { catalog, world, approvals, signal: signalAt(at), prompts: promptsAt(at, projectAccepted) };
}

/** The same for its engine. @param asked what the prompts and documents that its calls may run are run with */
export function engineOptions(
  { catalog, world, approvals, signal, prompts: place }: OpenedRun,
  { effort, ...asked }:
    & Omit<PromptCallsOptions, "place" | "catalog" | "world" | "canAsk">
    & Pick<RunOptions, "effort">,
): Pick<OpenedRun, "signal" | "approvals"> & Pick<RunOptions, "clock" | "containers" | "effort"> {
  const canAsk = approvals !== undefined;
  return {
    effort,
    signal,
    approvals,
    clock: world?.clock,
    containers: containersOf({ place, catalog, world, canAsk, ...asked }),
  };
}

/** What ends the run. */
export function signalAt({ around: { opening: { signal } } }: StartPlace): AbortSignal {
  return signal ?? new AbortController().signal;
}

/** What is opened where a record answers everything. */
export const RECORDED: Pick<OpenedCatalog, "catalog" | "projectAccepted"> & Partial<OpenedCatalog> = {
  catalog: EMPTY_CATALOG,
  projectAccepted: false,
};

/**
 * Where a record answers everything, and nobody is asked anything. The project itself is opened by the first call that asks a prompt of it: those
 * are the program of the record, as they are now.
 *
 * @param folder in that project
 */
export async function recordedPlace(
  folder: string,
  { cwd, grants = NO_GRANTS, signal = new AbortController().signal }: {
    readonly cwd: string;
    readonly grants?: RunGrants;
    readonly signal?: AbortSignal;
  },
): Promise<StartPlace> {
  const config = await loadConfig(cwd, memoryFiles({}, { root: cwd }), { look: () => "nothing" });
  const asked = { user: NOBODY, notice: () => undefined };
  return {
    isRecorded: true,
    project: { root: cwd, cwd, config },
    grants,
    around: {
      opening: { ...asked, signal },
      approvals: undefined,
      found: [],
      unlessAborted: (opening) => opening,
      open: (opening) => opening,
    },
    prompts: async () => {
      const project = await openSettings(folder, { cwd });
      return { project, accepted: await isProjectAccepted({ ...project, ...grants, ...asked }), grants };
    },
  };
}
