import {
  type Effort,
  effortFrom,
  type Json,
  type JsonSchema,
  mediaFrom,
  type MediaPart,
  type Model,
  objectOrEmpty,
  toJson,
  wordsWith,
} from "../../../core/core.ts";
import type { Markers } from "../../../parse/calls/header.ts";
import { findModel } from "../../../project/models.ts";
import { keepStdout } from "../../../project/trust/grants.ts";
import type { Budget } from "../../../run/budget.ts";
import type { CallLimits } from "../../../run/calls/graph.ts";
import { ask, type DialogOptions } from "../../../run/dialog/dialog.ts";
import { schemaContract } from "../../../run/turn/answer_contract.ts";
import { silentModel } from "../../../run/turn/noted_model.ts";
import { budgetFrom, limitsFrom, markersFrom, numberFrom, textFrom } from "../../input/kept_input.ts";
import { assertKnownModel, modelFrom } from "../../input/known_model.ts";
import {
  type BegunRun,
  engineOptions,
  type Keeping,
  openedCatalog,
  type OpenedRun,
  openedRun,
  type ReadyRun,
  RECORDED,
  type StartPlace,
} from "../../start/ready_run.ts";
import { stoppableCatalog, stoppableModel } from "../../start/stoppable.ts";

/** How a dialog is opened. */
export interface OpenDialogOptions {
  /** What the model may be offered. */
  readonly tools: readonly string[];
  /** Of the model; undefined leaves it to the settings. */
  readonly name: string | undefined;
  /** Where the command line says it; absent for what a run has kept. */
  readonly typed?: { readonly flag: string | undefined; readonly command: string };
}

/** What a dialog is held with, whatever is kept of it. */
export interface OpenedDialog extends OpenedRun {
  readonly model: Model;
}

/** The gadgets of a dialog and its model. @throws {UsageError} for a model that is unknown, {ModelError} as `findModel` */
export async function openDialog(
  at: StartPlace,
  { tools, name, typed }: OpenDialogOptions,
): Promise<OpenedDialog> {
  const { project, grants, around } = at;
  keepStdout(grants.flags);
  const { accepted } = around;
  const opened = await openDialogCatalog(at, { tools, accepted });
  const { projectAccepted: isAccepted } = opened;
  if (typed !== undefined && name !== undefined) {
    const { flag, command } = typed;
    assertKnownModel(name, { from: modelFrom(flag), config: project.config, accepted: isAccepted, command });
  }
  const model = await findModel({ ...project, isAccepted, settings: grants.settings, name });
  return { ...openedRun(at, opened), model };
}

/** The same where a record answers everything. */
export function recordedDialog({ modelId, contextTokens }: DialogInput, at: StartPlace): OpenedDialog {
  return { ...openedRun(at, RECORDED), model: silentModel({ id: modelId, contextTokens }) };
}

/** The gadgets that a model may be offered. Without tools no server is started, and a project that asks for nothing is not opened at all. */
export async function openDialogCatalog(
  at: StartPlace,
  { tools, accepted }: { readonly tools: readonly string[]; readonly accepted: boolean | undefined },
): Promise<typeof RECORDED> {
  const { project: { config }, around } = at;
  const servers = tools.length > 0;
  if (servers || Object.keys(config.project.parts).length > 0) {
    const late = !tools.some((name) => name.endsWith("__*"));
    return await openedCatalog(at, { accepted, servers, late });
  }
  config.notices.forEach(around.opening.notice);
  return RECORDED;
}

/** What a dialog is run with, besides its input. */
export interface DialogMeans extends OpenedDialog {
  readonly keeping: Keeping;
  /** Of a conversation: stops what is being answered. */
  readonly turn?: () => AbortSignal;
}

/** A question that can be asked. */
export function readyAsk(input: DialogInput, opened: OpenedDialog): ReadyRun {
  const { tools, schema } = input;
  return {
    start: { kind: "ask", input: toJson(input) },
    shows: { asItComes: tools.length === 0 && schema === undefined, isJson: schema !== undefined },
    events: (keeping) =>
      ask(wordsWith(input.text ?? "", input.media), dialogOptions(input, { ...opened, keeping })),
  };
}

/** A question that was begun, and goes on. */
export async function again({ run }: BegunRun, at: StartPlace): Promise<ReadyRun> {
  const input = dialogInput(run.input);
  const { tools, model: name } = input;
  return { ...readyAsk(input, await openDialog(at, { tools, name })), start: run };
}

/** As JSON where a schema says what the answer has to be. */
export function shown({ input }: BegunRun["run"]): Pick<ReadyRun["shows"], "isJson"> {
  return { isJson: dialogInput(input).schema !== undefined };
}

/** The input of a dialog as its engine takes it. */
export function dialogOptions(input: DialogInput, means: DialogMeans): DialogOptions {
  const { model, catalog, keeping, turn } = means;
  const { toolsMode, rounds, contractRetries, temperature, effort, limits, budget, model: modelName } = input;
  return {
    ...engineOptions(means, { model, modelName, effort, budget, limits, stop: turn }),
    model: turn === undefined ? model : stoppableModel(model, turn),
    catalog: turn === undefined ? catalog : stoppableCatalog(catalog, turn),
    tools: input.tools,
    markers: input.markers,
    limits,
    budget,
    policy: { toolsMode, rounds, contractRetries, parallel: limits.concurrency },
    system: input.system,
    contract: input.schema && schemaContract(input.schema),
    ...(temperature === undefined ? {} : { sampling: { temperature } }),
    ...keeping,
  };
}

/** What a question or a conversation is made of: kept with the run, so that a resumed one is the same. */
export interface DialogInput {
  /** The question; absent for a conversation. */
  readonly text?: string;
  /** What is shown with it. */
  readonly media?: readonly MediaPart[];
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
  readonly effort?: Effort;
  readonly budget: Budget;
  readonly markers: Markers;
  readonly limits: CallLimits;
  /** How many answers may call gadgets. */
  readonly rounds: number;
  readonly contractRetries: number;
}

/** What a run has kept. */
export function dialogInput(kept: Json): DialogInput {
  const input = objectOrEmpty(kept);
  const { model, tools, schema } = input;
  return {
    text: textFrom(input.text),
    media: input.media === undefined ? undefined : mediaFrom(input.media),
    model: String(model),
    modelId: String(input.modelId ?? model),
    contextTokens: numberFrom(input.contextTokens),
    system: textFrom(input.system),
    tools: Array.isArray(tools) ? tools.map(String) : [],
    toolsMode: input.toolsMode === "native" ? "native" : "blocks",
    schema: schema === undefined ? undefined : objectOrEmpty(schema),
    temperature: numberFrom(input.temperature),
    effort: effortFrom(input.effort),
    budget: budgetFrom(input.budget),
    markers: markersFrom(input.markers),
    limits: limitsFrom(input.limits),
    rounds: numberFrom(input.rounds) ?? 10,
    contractRetries: numberFrom(input.contractRetries) ?? 3,
  };
}
