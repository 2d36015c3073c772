// A run that was interrupted goes on as it was begun, whoever began it.
import { PermissionRefused, type RunJournal, type Secrets } from "../../core/core.ts";
import {
  addedGrants,
  grantsNothing,
  NO_GRANTS,
  NOBODY,
  renewedGrants,
  type RunGrants,
} from "../../project/trust/grants.ts";
import { addGranted } from "../../project/run_secrets.ts";
import { ChangedError } from "../exit_code.ts";
import { wishedBudget } from "../input/budget.ts";
import { withBudget } from "../input/kept_input.ts";
import type { OpenProject } from "../project_hold.ts";
import type { HeldRun } from "../runs/held_run.ts";
import { inWords } from "../runs/kept.ts";
import type { RunStage, RunStageOptions } from "../runs/stage.ts";
import { type ResumeWishes, ServiceError } from "../service.ts";
import { kindNamed } from "../kinds/kinds.ts";
import type { ReadyRun, StartPlace } from "./ready_run.ts";
import { runsOf } from "./runs_of.ts";
import { settled, settleSteps } from "./settle.ts";

/** Goes on with a run, with what it was allowed and what every run may do. @throws as `Service.resume`; then it stands where it stood */
export async function goOn(
  id: string,
  { rerun, skip, budget, canAsk = false }: ResumeWishes,
  stage: RunStage,
): Promise<HeldRun> {
  const { journal, hold: { root, secrets }, registry, grants: common, kinds } = stage.options;
  const run = inWords(id, () => journal.open(id));
  try {
    const { steps, summary: { startedAt } } = journal.read(id);
    await settled(id, { rerun, skip }, (decisions) => settleSteps(run, { steps, decisions, user: NOBODY }));
    const grants = await renewed(id, { root, grants: common });
    addGranted(secrets, grants.settings);
    const counting = ({ accepted }: OpenProject) => grants === common ? grants : asAccepted(grants, accepted);
    return await stage.accept({ canAsk, grants: counting }, async (placed) => {
      const ready = await resumed(run, { secrets, budget, at: placed.at, kinds });
      await stage.keepGrants(id, grants);
      registry.assertGoing();
      return stage.begin(ready, { id, journal: run, placed, startedAt });
    });
  } catch (error) {
    run.release(run.resumedFrom === "held" ? "held" : "stopped");
    throw error;
  }
}

/** What a run was allowed, and what every run may do. @throws {ServiceError} `refused` where it was trusted with something that is another one now */
export async function renewed(
  id: string,
  { root, grants }: { readonly root: string; readonly grants: RunGrants },
): Promise<RunGrants> {
  try {
    const kept = await renewedGrants(id, NO_GRANTS, { root, cwd: root, user: NOBODY });
    return grantsNothing(kept) ? grants : addedGrants(kept, grants);
  } catch (error) {
    if (!(error instanceof PermissionRefused)) throw error;
    throw new ServiceError(error.message, { code: "refused", details: { flag: error.flag } });
  }
}

/** `--trust-project` was said of the project as it was: it accepts nothing that was written since. */
function asAccepted(grants: RunGrants, isAccepted: boolean): RunGrants {
  return isAccepted ? grants : { ...grants, flags: { ...grants.flags, "trust-project": false } };
}

async function resumed(
  run: RunJournal,
  { secrets, budget, at, kinds }: Pick<ResumeWishes, "budget"> & Pick<RunStageOptions, "kinds"> & {
    readonly secrets: Secrets;
    readonly at: StartPlace;
  },
): Promise<ReadyRun> {
  const input = withBudget(run.run.input, budget, (wanted) => wishedBudget(at.project, wanted));
  const { id, run: { kind } } = run;
  const row = kindNamed(kind, kinds);
  const runs = await runsOf(row);
  if (runs === undefined) {
    const why = row?.goesOn?.(id) ?? `is of a kind that this Orrery does not know: ${kind}`;
    throw new ServiceError(`run ${id} ${why}`, { code: "invalid" });
  }
  try {
    return await runs.again({ id, run: { ...run.run, input }, secrets }, at);
  } catch (error) {
    if (error instanceof ChangedError) throw new ServiceError(error.message, { code: "changed" });
    throw error;
  }
}
