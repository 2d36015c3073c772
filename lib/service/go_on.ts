// A run that stands still goes on in this process, whoever began it.

import type { Journal } from "../core/journal.ts";
import type { Secrets } from "../core/secrets.ts";
import { PermissionRefused } from "../core/world.ts";
import { grantsNothing, NO_GRANTS } from "../project/grants.ts";
import type { RunGrants } from "../project/grants.ts";
import { NOBODY } from "../project/nobody.ts";
import { addedGrants, renewedGrants } from "../project/run_grants.ts";
import { addGranted } from "../project/run_secrets.ts";
import type { HeldRun } from "./held_run.ts";
import type { PlacedRun } from "./placed_run.ts";
import type { ProjectHold } from "./project_hold.ts";
import { readyResumed } from "./resume_run.ts";
import { inWords } from "./run_refusals.ts";
import type { RunRoom } from "./run_room.ts";
import type { RunStage } from "./run_stage.ts";
import { ServiceError } from "./service.ts";
import type { ResumeWishes } from "./service.ts";
import { settleRun } from "./settle_run.ts";

/** Where it goes on. */
export interface GoOnPlace {
  readonly root: string;
  /** What every run may do. */
  readonly grants: RunGrants;
  readonly hold: ProjectHold;
  readonly journal: Journal;
  readonly secrets: Secrets;
  readonly stage: RunStage;
  readonly room: Pick<RunRoom, "assertGoing">;
}

/** Goes on with it, with what it was allowed and what every run may do. @throws as `Service.resume`; then it stands where it stood */
export async function goOn(id: string, wishes: ResumeWishes, at: GoOnPlace): Promise<HeldRun> {
  const { hold, journal, secrets, stage, room } = at;
  const run = inWords(id, () => journal.open(id));
  let placed: PlacedRun | undefined;
  try {
    const { steps, summary: { startedAt } } = journal.read(id);
    await settleRun(run, { ...wishes, steps });
    const grants = await renewed(id, at);
    addGranted(secrets, grants.settings);
    const open = await hold.current();
    const counting = grants === at.grants ? grants : asAccepted(grants, open.accepted);
    placed = stage.place(open, { canAsk: wishes.canAsk ?? false, grants: counting });
    const ready = await readyResumed({ run, secrets, budget: wishes.budget }, placed.at);
    await stage.keepGrants(id, grants);
    room.assertGoing();
    return stage.begin(ready, { id, journal: run, placed, startedAt });
  } catch (error) {
    placed?.leave();
    run.release(run.resumedFrom === "held" ? "held" : "stopped");
    throw error;
  }
}

/** What a run was allowed, and what every run may do. @throws {ServiceError} `refused` where it was trusted with something that is another one now */
export async function renewed(
  id: string,
  { root, grants }: Pick<GoOnPlace, "root" | "grants">,
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
