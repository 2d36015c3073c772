// A run that was interrupted goes on as it was begun, whoever began it.
import {
  type Journal,
  type Json,
  PermissionRefused,
  type RunJournal,
  type Secrets,
} from "../../core/core.ts";
import {
  addedGrants,
  grantsNothing,
  NO_GRANTS,
  NOBODY,
  renewedGrants,
  type RunGrants,
} from "../../project/trust/grants.ts";
import { addGranted } from "../../project/run_secrets.ts";
import type { Budget } from "../../run/budget.ts";
import { ask } from "../../run/dialog/dialog.ts";
import { ChangedError } from "../exit_code.ts";
import { wishedBudget } from "../input/budget.ts";
import { withBudget } from "../input/kept_input.ts";
import type { ProjectHold } from "../project_hold.ts";
import { openPromptRun } from "../prompt/open.ts";
import { assertSamePrompt, promptRunInput } from "../prompt/run.ts";
import type { HeldRun } from "../runs/held_run.ts";
import { inWords } from "../runs/kept.ts";
import type { RunRegistry } from "../runs/registry.ts";
import type { PlacedRun, RunStage } from "../runs/stage.ts";
import { type ResumeWishes, ServiceError } from "../service.ts";
import { resumedCalls } from "./calls.ts";
import { dialogInput, dialogOptions, openDialog } from "./dialog.ts";
import { resumedDocument } from "./document.ts";
import { readyPrompt } from "./prompt.ts";
import type { ReadyRun, StartPlace } from "./ready_run.ts";
import { settleRun } from "./settle.ts";

/** Where it goes on. */
export interface GoOnPlace {
  readonly root: string;
  /** What every run may do. */
  readonly grants: RunGrants;
  readonly hold: ProjectHold;
  readonly journal: Journal;
  readonly secrets: Secrets;
  readonly stage: RunStage;
  readonly registry: RunRegistry;
}

/** Goes on with it, with what it was allowed and what every run may do. @throws as `Service.resume`; then it stands where it stood */
export async function goOn(id: string, wishes: ResumeWishes, at: GoOnPlace): Promise<HeldRun> {
  const { hold, journal, secrets, stage, registry } = at;
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
    registry.assertGoing();
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

/** A run that this process has taken over, to go on with it. */
export interface ResumeWish {
  readonly run: RunJournal;
  /** In place of what it had; never more than the settings allow. */
  readonly budget?: Budget;
  /** Of the journal: what was masked is known again by them. */
  readonly secrets: Secrets;
}

/**
 * Makes a run ready to go on, whoever began it. Conversations go on with their next turn instead (`Talks.open`).
 *
 * @throws {ServiceError} `changed` when a prompt or a document is not what it was, `invalid` for runs that only a terminal can go on with;
 * {UsageError}, {PromptError}, {ModelError}
 */
async function readyResumed(wish: ResumeWish, at: StartPlace): Promise<ReadyRun> {
  const { run, secrets, budget } = wish;
  const input = withBudget(run.run.input, budget, (wanted) => wishedBudget(at.project, wanted));
  try {
    switch (run.run.kind) {
      case "calls":
        return await resumedCalls({ run: { ...run.run, input } }, at);
      case "document":
        return (await resumedDocument({ run, input, secrets }, at)).ready;
      case "prompt":
        return await readyAgain({ run, input }, at);
      case "ask":
        return await readyQuestion({ run, input }, at);
      default:
        throw atTerminal(run);
    }
  } catch (error) {
    if (error instanceof ChangedError) throw new ServiceError(error.message, { code: "changed" });
    throw error;
  }
}

/** A run with what it goes on with. */
interface Resumed {
  readonly run: RunJournal;
  readonly input: Json;
}

async function readyAgain({ run, input: kept }: Resumed, at: StartPlace): Promise<ReadyRun> {
  const { project, grants, around } = at;
  const input = promptRunInput(kept);
  const { path, profile, model } = input;
  const opened = await openPromptRun(project, { path, profile, model, around, grants, command: "resume" });
  assertSamePrompt(opened.found, input, run.id);
  return { ...readyPrompt(opened, { ...at, input }), start: run.run };
}

async function readyQuestion({ run, input: kept }: Resumed, at: StartPlace): Promise<ReadyRun> {
  const { project, grants, around } = at;
  const { signal = new AbortController().signal } = around.opening;
  const input = dialogInput(kept);
  const { tools, model: name } = input;
  const dialog = await openDialog(project, { around, grants, tools, name });
  return {
    start: run.run,
    events: (options) =>
      ask(input.text ?? "", dialogOptions(input, { ...dialog, signal, kept: { options } })),
  };
}

/** Whose next message is typed, or of a kind that comes from a newer Orrery. */
function atTerminal({ id, run: { kind } }: RunJournal): ServiceError {
  const message = kind === "chat"
    ? `run ${id} is a chat at a terminal, which goes on there: orrery resume ${id}`
    : kind === "conversation"
    ? `run ${id} is a conversation, which goes on with a message or with retry`
    : `run ${id} is of a kind that this Orrery does not know: ${kind}`;
  return new ServiceError(message, { code: "invalid" });
}
