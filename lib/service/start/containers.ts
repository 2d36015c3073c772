import type { Catalog, Model, World } from "../../core/core.ts";
import type { RunGrants } from "../../project/trust/grants.ts";
import type { ProjectSettings } from "../../project/project.ts";
import type { Budget } from "../../run/budget.ts";
import type { CallLimits } from "../../run/calls/graph.ts";
import type { Containers } from "../../run/calls/container.ts";

/** The project whose prompts may be asked. */
export interface PromptsPlace {
  readonly project: ProjectSettings;
  /** Whether what the project says for itself counts. */
  readonly accepted: boolean;
  readonly grants: RunGrants;
}

/** What the prompts are asked with. */
export interface PromptCallsOptions {
  readonly place: () => PromptsPlace | Promise<PromptsPlace>;
  /** What the names among their tools stand for. */
  readonly catalog: Catalog;
  /** What documents may touch. Absent: a record answers everything. */
  readonly world?: World;
  /** Somebody can be asked about what no flag forbids. Default false. */
  readonly canAsk?: boolean;
  /** Of the whole run. Default: what the settings say. */
  readonly budget?: Budget;
  readonly limits: CallLimits;
  /** That of the run, for prompts that name none. Default: the one of the settings. */
  readonly model?: Model;
  /** As it was named. */
  readonly modelName?: string;
  /** The prompt that the run itself asks. */
  readonly within?: string;
  /** Of a conversation: stops what is being answered. */
  readonly stop?: () => AbortSignal;
}

/** The prompts and documents that the calls of a run may ask and run. Most calls ask none: what opens them is loaded with the first that does. */
export function containersOf(options: PromptCallsOptions): () => Promise<Containers> {
  return async () => {
    const { openPromptCalls }: typeof import("./open_calls.ts") = await import(
      "./open_calls.ts" as string
    );
    return openPromptCalls(options);
  };
}
