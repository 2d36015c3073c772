import { messageOf } from "../core/source_error.ts";
import type { RunGrants } from "../project/grants.ts";
import type { OpenCatalogOptions } from "../project/project.ts";
import { askingUser } from "./asking_user.ts";
import { Asks } from "./asks.ts";
import type { OpenProject } from "./project_hold.ts";
import type { StartPlace } from "./ready_run.ts";
import { NOBODY } from "./nobody.ts";

/** A run that is being made ready: what it is opened with, what stops it, and what it asks. */
export interface PlacedRun {
  readonly at: StartPlace;
  readonly stop: AbortController;
  /** Absent when nobody can be asked. */
  readonly asks: Asks | undefined;
  /** It has ended, or does not begin: closes what was opened for it. */
  leave(): void;
}

/** How a run is placed. */
export interface PlaceRunOptions {
  /** What is not granted is asked about. */
  readonly canAsk: boolean;
  readonly grants: RunGrants;
  /** It may do what all runs of the service may, so that it has their gadgets; else they are opened for it alone. */
  readonly isShared: boolean;
  readonly notice: (text: string) => void;
  readonly secrets: NonNullable<OpenCatalogOptions["secrets"]>;
}

/** Puts together what is around a run of a project that is held open. */
export function placeRun(open: OpenProject, options: PlaceRunOptions): PlacedRun {
  const { canAsk, grants, isShared, notice, secrets } = options;
  const { accepted, openCatalog, project } = open;
  const stop = new AbortController();
  const asks = canAsk ? new Asks() : undefined;
  const asking = asks && askingUser(asks);
  const use = open.use();
  let closing: (() => Promise<void>)[] = NONE;
  const { signal } = stop;
  const opening = { notice, signal, secrets, user: asking?.user ?? NOBODY };
  return {
    stop,
    asks,
    at: {
      project,
      grants,
      around: {
        opening: asking === undefined ? opening : { ...opening, approve: asking.approve },
        ...(isShared ? { accepted, openCatalog } : {}),
        approvals: asking?.approvals,
        found: [],
        unlessAborted: asItIs,
        open: isShared ? asItIs : async (work) => {
          const opened = await work;
          if (opened.catalog.close !== undefined) closing = [...closing, opened.catalog.close];
          return opened;
        },
      },
    },
    leave() {
      use[Symbol.dispose]();
      const closers = closing;
      closing = NONE;
      for (const close of closers) close().catch((error) => notice(messageOf(error)));
    },
  };
}

const asItIs = <Value>(work: Promise<Value>): Promise<Value | undefined> => work;

/** Most runs open nothing of their own. */
const NONE: (() => Promise<void>)[] = [];
