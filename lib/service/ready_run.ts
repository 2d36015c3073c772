import type { RunEvent } from "../core/event.ts";
import type { RunStart } from "../core/journal.ts";
import type { RunGrants } from "../project/grants.ts";
import type { KeptRun } from "../project/open_run.ts";
import type { ProjectSettings } from "../project/project.ts";
import type { RunOptions } from "../run/run.ts";
import type { RunSurroundings } from "./run_surroundings.ts";
import { ServiceError } from "./service.ts";

/** Where a run belongs, what it may do, and who is around it. */
export interface StartPlace {
  readonly project: ProjectSettings;
  readonly grants: RunGrants;
  /** Its `opening.signal` aborts the run. */
  readonly around: RunSurroundings;
}

/** What an engine gets besides: where its steps survive, what is masked, who records it, and what stops it. */
export type Keeping = KeptRun["options"] & Pick<RunOptions, "stop">;

/** A run that can begin: everything about it was looked at, and nothing has run. */
export interface ReadyRun {
  /** What is kept of it before its first step, so that whoever goes on with it has the same. */
  readonly start: RunStart;
  /** Runs it; to be called once. */
  events(keeping: Keeping): AsyncIterable<RunEvent>;
}

/** What was being opened was stopped before it could begin. */
export function stoppedError(): ServiceError {
  return new ServiceError("the run was stopped before it began; start it again", { code: "stopping" });
}
