import type { Catalog } from "../core/catalog.ts";
import type { Model } from "../core/model.ts";
import type { World } from "../core/world.ts";
import type { KeptRun } from "../project/open_run.ts";
import type { Approvals } from "../run/approvals.ts";
import type { DialogOptions } from "../run/dialog.ts";
import { schemaContract } from "../run/output_contract.ts";
import type { Replay } from "../run/replay.ts";
import type { DialogInput } from "./dialog_input.ts";
import { containersOf } from "./containers.ts";
import type { PromptCallsOptions } from "./containers.ts";
import { stoppableCatalog, stoppableModel } from "./stoppable.ts";

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
      ...(input.limits.concurrency === undefined ? {} : { parallel: input.limits.concurrency }),
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
