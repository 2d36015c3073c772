// The turns of conversations among the runs of this process.

import type { RunGrants } from "../project/grants.ts";
import { renewed } from "./resume_run.ts";
import type { ProjectHold } from "./project_hold.ts";
import { busyRun } from "./run_refusals.ts";
import type { RunRegistry } from "./run_registry.ts";
import type { RunStage } from "./run_stage.ts";
import type { HeldTurn, TurnWish } from "./talk_host.ts";

/** Where turns are made. */
export interface TalkTurnsOptions {
  readonly root: string;
  readonly ephemeral: boolean;
  /** What every run may do. */
  readonly grants: RunGrants;
  readonly hold: ProjectHold;
  readonly registry: RunRegistry;
  readonly stage: RunStage;
}

/** A conversation makes one turn at a time, and each takes the place of a run. */
export class TalkTurns {
  readonly #options: TalkTurnsOptions;
  /** Conversations whose next turn is being opened. */
  readonly #opening = new Set<string>();

  constructor(options: TalkTurnsOptions) {
    this.#options = options;
  }

  /** @throws {ServiceError} `busy`, `limit`, `stopping` */
  async hold({ id, file, canAsk }: TurnWish): Promise<HeldTurn> {
    const { ephemeral, hold, registry, stage } = this.#options;
    if (registry.find(id)?.isOver === false || this.#opening.has(id)) throw busyRun(id);
    const leaveRoom = registry.enter();
    this.#opening.add(id);
    const opened = (): void => {
      leaveRoom();
      this.#opening.delete(id);
    };
    try {
      const kept = await this.#grants(id);
      const open = await hold.current(); // last: while somebody waits it may be closed
      const placed = stage.place(open, { canAsk, grants: kept });
      return {
        at: placed.at,
        ...(ephemeral ? {} : { drain: stage.drain }),
        assertGoing: () => registry.assertGoing(),
        follow: (events, { before, startedAt }) => {
          opened();
          const start = { kind: "conversation", file, input: null };
          const held = stage.hold({ start }, placed, { id, before, startedAt });
          void stage.follow(held, events, { placed });
          return held;
        },
        leave: () => {
          opened();
          placed.leave();
        },
      };
    } catch (error) {
      opened();
      throw error;
    }
  }

  /** What it was allowed, and what every run may do. */
  async #grants(id: string): Promise<RunGrants> {
    const { root, ephemeral, grants } = this.#options;
    return ephemeral ? grants : await renewed(id, { root, grants });
  }
}
