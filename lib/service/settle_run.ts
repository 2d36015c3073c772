import { StepNotFoundError } from "../core/journal.ts";
import type { RunJournal, StepRecord } from "../core/journal.ts";
import { NOBODY } from "../project/nobody.ts";
import { ServiceError } from "./service.ts";
import { settleSteps } from "./settle_steps.ts";
import type { Decisions } from "./settle_steps.ts";

/** What is said of steps whose end is not known. */
type SaidOfSteps = { readonly [Decision in keyof Decisions]?: Decisions[Decision] | undefined };

/** The same, before a run goes on. */
export interface SettleWishes extends SaidOfSteps {
  /** As the journal has read them. */
  readonly steps: readonly StepRecord[];
}

/**
 * Settles them.
 *
 * @throws {ServiceError} `unverified` with `details.steps`, `{key, name, input}` each, when nobody has said what to do with them; `invalid`
 * for keys that are none
 */
export async function settleRun(
  run: Pick<RunJournal, "id" | "settle">,
  { steps, rerun, skip }: SettleWishes,
): Promise<void> {
  const settle = (decisions: Decisions) => settleSteps(run, { steps, decisions, user: NOBODY });
  await settled(run.id, { wishes: { rerun, skip }, settle });
}

/** The same for whoever settles them in another way. @param settling `settle` gives those that nobody has decided about */
export async function settled(
  id: string,
  { wishes: { rerun = [], skip = [] }, settle }: {
    readonly wishes: SaidOfSteps;
    readonly settle: (decisions: Decisions) => Promise<readonly StepRecord[]>;
  },
): Promise<void> {
  assertOnce({ rerun, skip });
  let left: readonly StepRecord[];
  try {
    left = await settle({ rerun, skip });
  } catch (error) {
    if (!(error instanceof StepNotFoundError)) throw error;
    throw new ServiceError(`rerun, skip: ${error.message}`, { code: "invalid", details: { field: "rerun" } });
  }
  if (left.length > 0) throw unverifiedError(id, left);
}

/** @throws {ServiceError} `invalid` */
function assertOnce({ rerun, skip }: Decisions): void {
  const both = rerun.find((key) => skip.includes(key));
  if (both === undefined) return;
  throw new ServiceError(`rerun and skip both name ${JSON.stringify(both)}: leave it out of one of them`, {
    code: "invalid",
    details: { field: "skip" },
  });
}

/** Nothing runs until somebody says what to do. */
function unverifiedError(id: string, left: readonly StepRecord[]): ServiceError {
  const [were, they] = left.length === 1 ? ["one step was", "it"] : [`${left.length} steps were`, "they"];
  return new ServiceError(
    `${were} started in ${id} and may not be done twice, and how ${they} ended is not known: ` +
      "name each in rerun (it is done again) or in skip (it is taken as done, with the result null)",
    { code: "unverified", details: { steps: left.map(({ key, name, input }) => ({ key, name, input })) } },
  );
}
