import type { Catalog } from "../core/catalog.ts";
import type { Model } from "../core/model.ts";
import type { World } from "../core/world.ts";
import type { KeptRun } from "../project/open_run.ts";
import type { Approvals } from "../run/approvals.ts";
import type { DialogOptions } from "../run/dialog.ts";
import { schemaContract } from "../run/output_contract.ts";
import type { Replay } from "../run/replay.ts";
import type { DialogInput } from "./dialog_input.ts";

/** What a dialog is run with, besides its input. */
export interface DialogMeans {
  readonly model: Model;
  readonly catalog: Catalog;
  readonly world?: World | undefined;
  readonly kept: KeptRun | undefined;
  readonly replay?: Replay | undefined;
  /** Asks about what no flag allows; default: nobody. */
  readonly approvals?: Approvals | undefined;
  readonly signal: AbortSignal;
}

/** The input of a dialog as its engine takes it. */
export function dialogOptions(input: DialogInput, means: DialogMeans): DialogOptions {
  const { model, catalog, world, kept, replay, approvals, signal } = means;
  const { toolsMode, rounds, contractRetries, temperature } = input;
  return {
    model,
    catalog,
    signal,
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
    ...(input.system === undefined ? {} : { system: input.system }),
    ...(input.schema === undefined ? {} : { contract: schemaContract(input.schema) }),
    ...(temperature === undefined ? {} : { sampling: { temperature } }),
    ...(world === undefined ? {} : { clock: world.clock }),
    ...(replay === undefined ? {} : { replay }),
    ...(approvals === undefined ? {} : { approvals }),
    ...kept?.options,
  };
}
