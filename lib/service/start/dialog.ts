import {
  type Catalog,
  EMPTY_CATALOG,
  type Json,
  type JsonSchema,
  type Model,
  objectOrEmpty,
  toJson,
  type World,
} from "../../core/core.ts";
import type { Markers } from "../../parse/calls/header.ts";
import { findModel } from "../../project/models.ts";
import { keepStdout, type RunGrants } from "../../project/trust/grants.ts";
import type { KeptRun } from "../../project/open_run.ts";
import { openCatalog, type OpenCatalogOptions, type ProjectSettings } from "../../project/project.ts";
import type { Approvals } from "../../run/approvals.ts";
import type { Budget } from "../../run/budget.ts";
import type { CallLimits } from "../../run/calls/graph.ts";
import type { DialogOptions } from "../../run/dialog/dialog.ts";
import { schemaContract } from "../../run/turn/answer_contract.ts";
import type { Replay } from "../../run/replay/replay.ts";
import { containersOf, type PromptCallsOptions } from "../prompt/containers.ts";
import { budgetFrom, limitsFrom, markersFrom, numberFrom, textFrom } from "../input/kept_input.ts";
import { assertKnownModel, modelFrom } from "../input/known_model.ts";
import type { RunSurroundings } from "./ready_run.ts";
import { stoppableCatalog, stoppableModel } from "./stoppable.ts";

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

/** The gadgets of a dialog and its model. @throws {UsageError} for a model that is unknown, {ModelError} as `findModel` */
export async function openDialog(
  project: ProjectSettings,
  { around, grants, tools, name, typed }: OpenDialogOptions,
): Promise<OpenedDialog> {
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
  const { catalog, world, projectAccepted: isAccepted } = opened;
  if (typed !== undefined && name !== undefined) {
    const { flag, command } = typed;
    assertKnownModel(name, { from: modelFrom(flag), config: project.config, accepted: isAccepted, command });
  }
  const model = await findModel({ ...project, isAccepted, settings: grants.settings, name });
  const prompts = () => ({ project, grants, accepted: isAccepted });
  return { model, catalog, world, approvals: around.approvals, prompts };
}

/** What a dialog needs of its project. */
export interface DialogCatalog {
  readonly catalog: Catalog;
  readonly world?: World;
  /** Whether what the project says of providers counts. */
  readonly projectAccepted: boolean;
}

/** The gadgets that a model may be offered. Without tools no server is started, and a project that asks for nothing is not opened at all. */
export async function openDialogCatalog(
  project: ProjectSettings,
  { open = openCatalog, ...options }: OpenCatalogOptions & {
    readonly tools: readonly string[];
    /** Opens them. Default: for this run alone. */
    readonly open?: typeof openCatalog;
  },
): Promise<DialogCatalog> {
  const { config } = project;
  const hasTools = options.tools.length > 0;
  if (hasTools || Object.keys(config.project.parts).length > 0) {
    return await open(project, {
      ...options,
      servers: hasTools,
      late: !options.tools.some((name) => name.endsWith("__*")),
    });
  }
  config.notices.forEach(options.notice);
  return { catalog: EMPTY_CATALOG, projectAccepted: false };
}

/** What a dialog is run with, besides its input. */
export interface DialogMeans {
  readonly model: Model;
  readonly catalog: Catalog;
  readonly world?: World;
  readonly kept: Pick<KeptRun, "options"> | undefined;
  readonly replay?: Replay;
  /** Asks about what no flag allows; default: nobody. */
  readonly approvals?: Approvals;
  readonly signal: AbortSignal;
  /** Where the prompts are that its calls may ask. */
  readonly prompts: PromptCallsOptions["place"];
  /** Of a conversation: stops what is being answered. */
  readonly turn?: () => AbortSignal;
}

/** The input of a dialog as its engine takes it. */
export function dialogOptions(input: DialogInput, means: DialogMeans): DialogOptions {
  const { model, catalog, world, kept, replay, approvals, signal, turn } = means;
  const { toolsMode, rounds, contractRetries, temperature } = input;
  return {
    model: turn === undefined ? model : stoppableModel(model, turn),
    catalog: turn === undefined ? catalog : stoppableCatalog(catalog, turn),
    signal,
    containers: containersOf({
      place: means.prompts,
      catalog,
      world,
      canAsk: approvals !== undefined,
      model,
      modelName: input.model,
      budget: input.budget,
      limits: input.limits,
      stop: turn,
    }),
    tools: input.tools,
    markers: input.markers,
    limits: input.limits,
    budget: input.budget,
    policy: {
      toolsMode,
      rounds,
      contractRetries,
      parallel: input.limits.concurrency,
    },
    system: input.system,
    contract: input.schema && schemaContract(input.schema),
    ...(temperature === undefined ? {} : { sampling: { temperature } }),
    clock: world?.clock,
    replay,
    approvals,
    ...kept?.options,
  };
}

/** What a question or a conversation is made of: kept with the run, so that a resumed one is the same. */
export interface DialogInput {
  /** The question; absent for a conversation. */
  readonly text?: string;
  /** As it was named: an alias keeps its fallbacks. */
  readonly model: string;
  /** What that was when the run began. */
  readonly modelId: string;
  /** Of that model's window; absent when not known. */
  readonly contextTokens?: number;
  readonly system?: string;
  readonly tools: readonly string[];
  readonly toolsMode: "blocks" | "native";
  readonly schema?: JsonSchema;
  readonly temperature?: number;
  readonly budget: Budget;
  readonly markers: Markers;
  readonly limits: CallLimits;
  /** How many answers may call gadgets. */
  readonly rounds: number;
  readonly contractRetries: number;
}

/** As a run keeps it. */
export function dialogJson(input: DialogInput): Json {
  return toJson(input);
}

/** What a run has kept. */
export function dialogInput(kept: Json): DialogInput {
  const input = objectOrEmpty(kept);
  const { model, tools, schema } = input;
  return {
    text: textFrom(input.text),
    model: String(model),
    modelId: String(input.modelId ?? model),
    contextTokens: numberFrom(input.contextTokens),
    system: textFrom(input.system),
    tools: Array.isArray(tools) ? tools.map(String) : [],
    toolsMode: input.toolsMode === "native" ? "native" : "blocks",
    schema: schema === undefined ? undefined : objectOrEmpty(schema),
    temperature: numberFrom(input.temperature),
    budget: budgetFrom(input.budget),
    markers: markersFrom(input.markers),
    limits: limitsFrom(input.limits),
    rounds: numberFrom(input.rounds) ?? 10,
    contractRetries: numberFrom(input.contractRetries) ?? 3,
  };
}
