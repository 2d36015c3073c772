// A text of calls, of a file or as it comes, made ready to run.
import {
  type Effort,
  effortFrom,
  type JsonObject,
  objectOrEmpty,
  type StoredFile,
  withoutByteOrderMark,
} from "../../../core/core.ts";
import { exactFiles } from "../../../host/files/changes.ts";
import { calledNames, type Markers } from "../../../parse/calls/header.ts";
import type { Budget } from "../../../run/budget.ts";
import type { CallLimits } from "../../../run/calls/graph.ts";
import { runCalls } from "../../../run/calls/calls.ts";
import { limitsOf, wishedBudget } from "../../input/budget.ts";
import { budgetFrom, keptAsked, limitsFrom, markersFrom, textFrom } from "../../input/kept_input.ts";
import type { NamedAs } from "../../input/prompt_input.ts";
import { foundInProject } from "../../project_files.ts";
import {
  type BegunRun,
  engineOptions,
  openedCatalog,
  openedRun,
  type ReadyRun,
  RECORDED,
  type StartPlace,
} from "../../start/ready_run.ts";
import type { FileWish } from "../kind.ts";
import { fieldError, type RunWishes } from "../../service.ts";
import { wantedModel } from "../../../host/process.ts";

/** What is wished of a text of calls. */
export type CallsWish = Pick<RunWishes, "model" | "effort" | "budget">;

const OF_DOCUMENTS = ["input", "prompt", "blocks", "mode", "out"] as const;

/**
 * A call file of the project.
 *
 * @throws {ServiceError} `outside`, `not-found`, `invalid`; {UsageError} for a model that nobody knows; {FileError}
 */
export async function start(wish: FileWish, at: StartPlace): Promise<ReadyRun> {
  const field = OF_DOCUMENTS.find((name) =>
    wish[name] !== undefined && (name !== "out" || wish.out !== "none")
  );
  if (field !== undefined) throw fieldError(field, `${field} is for documents; a call file takes none`);
  const { root } = at.project;
  const path = await foundInProject(wish.file, { root, word: "file" });
  const text = withoutByteOrderMark(await exactFiles({ root }).readText(path));
  return await startCalls({ ...wish, name: path, text }, at);
}

/** A text that was sent, whole or as it comes. @throws as {@linkcode start} */
export async function startCalls(
  { name, text, model, effort, budget }: CallsWish & {
    readonly name: string;
    readonly text: string | AsyncIterable<string>;
  },
  at: StartPlace,
): Promise<ReadyRun> {
  const source = typeof text === "string"
    ? { name, text: [text], stored: { path: name, text } }
    : { name, text };
  const asked = { model, effort, budget: budget && wishedBudget(at.project, budget) };
  return await readyCalls(source, { ...asked, as: "field" }, at);
}

/** Where calls come from. */
export interface CallsSource {
  /** As messages and events name it. */
  readonly name: string;
  readonly text: Iterable<string> | AsyncIterable<string>;
  /** All of it, to be kept with the run; absent where it is read once, as it comes. */
  readonly stored?: StoredFile;
}

/** What is said of calls, and of the prompts that they ask. */
export interface CallsAsked {
  readonly model: string | undefined;
  readonly effort: Effort | undefined;
  readonly budget: Budget | undefined;
  readonly as: NamedAs;
  readonly flags?: Parameters<typeof limitsOf>[1];
}

/** A text of calls with everything that it needs. @throws {UsageError} for a model that nobody knows */
export async function readyCalls(
  source: CallsSource,
  { model, effort, budget, as, flags = {} }: CallsAsked,
  at: StartPlace,
): Promise<ReadyRun> {
  const { project, project: { config } } = at;
  const { markers } = config.calls;
  const { name, stored } = source;
  const calls = calledNames(stored?.text ?? "", markers);
  const opened = await openedCatalog(at, { calls });
  const wanted = wantedModel(model);
  // The variable is for every command: what it names matters where a prompt or a document is run.
  const counts = model !== undefined || as === "flag" && (calls.has("RunPrompt") || calls.has("RunFile"));
  if (wanted !== undefined && counts) {
    const { assertKnownModel, modelFrom }: typeof import("../../input/known_model.ts") = await import(
      "../../input/known_model.ts" as string
    );
    const accepted = opened.projectAccepted;
    assertKnownModel(wanted, { from: modelFrom(model, as), config, accepted, command: "run" });
  }
  const limits = limitsOf(project, flags);
  const input = {
    markers: { ...markers },
    limits: { ...limits },
    ...keptAsked({ model: wanted, effort, budget }),
  };
  const start = { kind: "calls", file: name, input, files: stored && [stored] };
  const text = { ...source, isReadOnce: stored === undefined };
  return performable(text, { start, input, markers, limits, opened }, at);
}

/** Calls that were begun, and go on. */
export async function again({ run }: BegunRun, at: StartPlace): Promise<ReadyRun> {
  const { file: name = "stdin", files = [] } = run;
  const input = objectOrEmpty(run.input);
  const opened = at.isRecorded ? RECORDED : await openedCatalog(at);
  const text = { name, isReadOnce: false, text: files.slice(0, 1).map((stored) => stored.text) };
  const markers = markersFrom(input.markers);
  return performable(text, { start: run, input, markers, limits: limitsFrom(input.limits), opened }, at);
}

function performable(
  { name, isReadOnce, text }: CallsSource & { readonly isReadOnce: boolean },
  { start, input, markers, limits, opened }: {
    readonly start: ReadyRun["start"];
    /** What the run has kept of itself. */
    readonly input: JsonObject;
    readonly markers: Markers;
    readonly limits: CallLimits;
    readonly opened: typeof RECORDED;
  },
  at: StartPlace,
): ReadyRun {
  const { catalog } = opened;
  const budget = input.budget === undefined ? undefined : budgetFrom(input.budget);
  return {
    start,
    shows: { marker: markers.start },
    events: (keeping) =>
      runCalls(text, {
        ...engineOptions(openedRun(at, opened), {
          limits,
          budget,
          modelName: textFrom(input.model),
          effort: effortFrom(input.effort),
        }),
        catalog,
        markers,
        limits,
        file: name,
        isReadOnce,
        ...keeping,
      }),
  };
}
