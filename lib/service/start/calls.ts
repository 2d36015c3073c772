// A text of calls, of a file or as it comes, made ready to run.
import {
  FileError,
  type Json,
  type JsonObject,
  objectOrEmpty,
  type RunEvent,
  type RunJournal,
  withoutByteOrderMark,
  type World,
} from "../../core/core.ts";
import { exactFiles } from "../../host/files/exact_files.ts";
import type { Markers } from "../../parse/calls/header.ts";
import { limitsOf, type ProjectSettings, wantedModel } from "../../project/project.ts";
import type { CallLimits } from "../../run/calls/graph.ts";
import { runCalls, type RunCallsOptions } from "../../run/calls/calls.ts";
import { containersOf, type PromptCallsOptions } from "../prompt/containers.ts";
import { wishedBudget } from "../input/budget.ts";
import { budgetFrom, keptAsked, limitsFrom, markersFrom, textFrom } from "../input/kept_input.ts";
import { assertKnownModel, modelFrom } from "../input/known_model.ts";
import { fileInProject } from "../project_files.ts";
import { type Keeping, openedCatalog, type ReadyRun, type StartPlace } from "./ready_run.ts";
import { fieldError, type RunWishes } from "../service.ts";

/** What is wished of a text of calls. */
export type CallsWish = Pick<RunWishes, "model" | "budget">;

/**
 * A call file of the project.
 *
 * @throws {ServiceError} `outside`, `not-found`; {UsageError} for a model that nobody knows; {FileError}
 */
export async function startCallFile(
  wish: CallsWish & { readonly file: string },
  at: StartPlace,
): Promise<ReadyRun> {
  const { root } = at.project;
  const path = fileInProject(wish.file, { root });
  const text = withoutByteOrderMark(await textOf(path, { root, named: wish.file }));
  return await ready({ name: path, isReadOnce: false, text: [text] }, { wish, at, files: [{ path, text }] });
}

async function textOf(path: string, { root, named }: { readonly root: string; readonly named: string }) {
  try {
    return await exactFiles({ root }).readText(path);
  } catch (error) {
    if (!(error instanceof FileError && ["not-found", "is-folder"].includes(error.code))) throw error;
    throw fieldError("file", `file: there is no file ${JSON.stringify(named)} in the project`, "not-found");
  }
}

/** A text that was sent, whole or as it comes. @throws as {@linkcode startCallFile} */
export async function startCalls(
  wish: CallsWish & { readonly name: string; readonly text: string | AsyncIterable<string> },
  at: StartPlace,
): Promise<ReadyRun> {
  const { name, text } = wish;
  if (typeof text !== "string") return await ready({ name, isReadOnce: true, text }, { wish, at });
  return await ready({ name, isReadOnce: false, text: [text] }, { wish, at, files: [{ path: name, text }] });
}

/** Calls that were begun, and go on. */
export async function resumedCalls({ run }: Pick<RunJournal, "run">, at: StartPlace): Promise<ReadyRun> {
  const { file = "stdin", files = [] } = run;
  const input = objectOrEmpty(run.input);
  const text = files.slice(0, 1).map((stored) => stored.text);
  const means = await meansOf(at);
  const source = { name: file, isReadOnce: false, text };
  const limits = { markers: markersFrom(input.markers), limits: limitsFrom(input.limits) };
  return {
    start: run,
    events: (keeping) => callsEvents({ ...means, ...limits, source, asked: input }, keeping),
  };
}

async function ready(
  source: CallsRun["source"],
  { wish, at, files }: {
    readonly wish: CallsWish;
    readonly at: StartPlace;
    readonly files?: ReadyRun["start"]["files"];
  },
): Promise<ReadyRun> {
  const { project } = at;
  const means = await meansOf(at);
  const { markers } = project.config.calls;
  const limits = limitsOf(project, {});
  const input = {
    markers: { ...markers },
    limits,
    ...askedWith(wish, { project, accepted: means.accepted }),
  };
  return {
    start: { kind: "calls", file: source.name, input, files },
    events: (keeping) => callsEvents({ ...means, source, markers, limits, asked: input }, keeping),
  };
}

type Means = Pick<CallsRun, "catalog" | "world" | "approvals" | "signal" | "prompts"> & {
  readonly accepted: boolean;
};

async function meansOf(at: StartPlace): Promise<Means> {
  const { project, grants, around } = at;
  const { catalog, world, projectAccepted: accepted } = await openedCatalog(at);
  const { approvals, opening: { signal } } = around;
  return { catalog, world, approvals, signal, accepted, prompts: () => ({ project, grants, accepted }) };
}

/** What is said of the prompts that calls ask. @throws {UsageError} */
function askedWith(
  { model, budget }: CallsWish,
  { project, accepted }: { readonly project: ProjectSettings; readonly accepted: boolean },
): JsonObject {
  const { config } = project;
  if (model !== undefined) {
    assertKnownModel(model, { from: modelFrom(model, "field"), config, accepted, command: "run" });
  }
  return keptAsked(wantedModel(model), budget && wishedBudget(project, budget));
}

// A text of calls with all that it needs: what the command line and a server do with it in the same way. On the way to the first call.

/** A text of calls with everything that it needs. */
export interface CallsRun extends Pick<RunCallsOptions, "catalog" | "approvals" | "replay" | "signal"> {
  readonly source: {
    readonly name: string;
    readonly isReadOnce: boolean;
    readonly text: Iterable<string> | AsyncIterable<string>;
  };
  readonly world?: World;
  readonly markers: Markers;
  readonly limits: CallLimits;
  /** What the run has kept of itself, with the model and the budget of the prompts that its calls ask. */
  readonly asked: Json;
  /** Where those prompts are. */
  readonly prompts: PromptCallsOptions["place"];
}

/** Runs it. */
export function callsEvents(run: CallsRun, keeping: Keeping): AsyncIterable<RunEvent> {
  const { source, catalog, world, approvals, replay, markers, limits, signal } = run;
  const { model, budget } = objectOrEmpty(run.asked);
  return runCalls(source.text, {
    catalog,
    clock: world?.clock,
    replay,
    approvals,
    signal,
    markers,
    limits,
    containers: containersOf({
      place: run.prompts,
      catalog,
      limits,
      world,
      canAsk: approvals !== undefined,
      modelName: textFrom(model),
      budget: budget === undefined ? undefined : budgetFrom(budget),
    }),
    file: source.name,
    isReadOnce: source.isReadOnce,
    ...keeping,
  });
}
