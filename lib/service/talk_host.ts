import type { RunEvent } from "../core/event.ts";
import type { Journal } from "../core/journal.ts";
import type { Secrets } from "../core/secrets.ts";
import type { DrainRun } from "../run/run_drain.ts";
import type { StartPlace } from "./ready_run.ts";
import type { RunHandle, RunReader } from "./service.ts";

/** What conversations need of whoever holds the project. */
export interface TalkHost {
  /** Of the project: real and absolute. */
  readonly root: string;
  /** Where they are kept; in memory where nothing is to be written. */
  readonly journal: Journal;
  /** What that journal masks. */
  readonly secrets: Secrets;
  /** Nothing outlives this process. */
  readonly isEphemeral: boolean;
  /** Takes a place among the runs of this process, for one turn. @throws {ServiceError} `busy`, `limit`, `stopping` */
  hold(turn: TurnWish): Promise<HeldTurn>;
  /** A turn under way, or one that ended a while ago. */
  find(id: string): RunHandle | undefined;
  /** Of all turns so far. @throws {ServiceError} `not-found` */
  read(id: string, options: { readonly after: number }): Promise<RunReader>;
}

/** A turn that is to begin. */
export interface TurnWish {
  /** Of the conversation, which is one run of the kind `conversation`. */
  readonly id: string;
  /** Of its agent. */
  readonly file: string;
  /** Somebody is asked about what is not granted. */
  readonly canAsk: boolean;
}

/** What there was before a turn. */
export interface FollowTurnOptions {
  /** `seq` of the last event of before; 0 where there was none. */
  readonly before: number;
  /** When its conversation began, ms since 1970; absent: now. */
  readonly startedAt?: number;
}

/** A place for a turn. */
export interface HeldTurn {
  /** What it is opened with; its asks are those of the turn, and its signal stops it. */
  readonly at: StartPlace;
  /** Stops it behind the steps that are under way when the process is about to end; absent where it could not be gone on with. */
  readonly drain?: DrainRun;
  /** Asked last before it begins. @throws {ServiceError} `stopping` */
  assertGoing(): void;
  /** Reads the events to their end, and gives the place back then. To be called once. */
  follow(events: AsyncIterable<RunEvent>, options: FollowTurnOptions): RunHandle;
  /** The turn does not begin. */
  leave(): void;
}
