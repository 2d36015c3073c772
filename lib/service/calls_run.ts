// A text of calls with all that it needs: what the command line and a server do with it in the same way. On the way to the first call.
import type { Catalog } from "../core/catalog.ts";
import type { RunEvent } from "../core/event.ts";
import type { Json } from "../core/json.ts";
import type { World } from "../core/world.ts";
import type { Markers } from "../parse/calls/header.ts";
import type { Approvals } from "../run/approvals.ts";
import type { CallLimits } from "../run/call_graph.ts";
import { runCalls } from "../run/calls.ts";
import type { Replay } from "../run/replay.ts";
import { containersOf, type PromptCallsOptions } from "./containers.ts";
import { budgetFrom, objectFrom, textFrom } from "./kept_input.ts";
import type { Keeping } from "./ready_run.ts";

/** A text of calls with everything that it needs. */
export interface CallsRun {
  readonly source: {
    readonly name: string;
    readonly isReadOnce: boolean;
    readonly text: Iterable<string> | AsyncIterable<string>;
  };
  readonly catalog: Catalog;
  readonly world?: World;
  readonly approvals?: Approvals;
  /** Answers every effect. */
  readonly replay?: Replay;
  readonly markers: Markers;
  readonly limits: CallLimits;
  /** What the run has kept of itself, with the model and the budget of the prompts that its calls ask. */
  readonly asked: Json;
  /** Where those prompts are. */
  readonly prompts: PromptCallsOptions["place"];
  readonly signal?: AbortSignal;
}

/** Runs it. */
export function callsEvents(run: CallsRun, keeping: Keeping): AsyncIterable<RunEvent> {
  const { source, catalog, world, approvals, replay, markers, limits, signal } = run;
  const { model, budget } = objectFrom(run.asked);
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
