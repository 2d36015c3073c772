// A project of a test as a run of the service meets it, with nobody to be asked.
import type { Catalog, RunEvent } from "../mod.ts";
import { NO_GRANTS, NOBODY, type RunGrants } from "../lib/project/trust/grants.ts";
import { createRun } from "../lib/project/open_run.ts";
import { openSettings } from "../lib/project/project.ts";
import type { ReadyRun, StartPlace } from "../lib/service/start/ready_run.ts";

/** A place, and what it noticed. */
export interface TestedPlace extends StartPlace, AsyncDisposable {
  readonly notices: readonly string[];
}

/** Opens a folder for one run. */
export async function startPlace(
  folder: string,
  { signal, grants = NO_GRANTS }: { readonly signal?: AbortSignal; readonly grants?: RunGrants } = {},
): Promise<TestedPlace> {
  const notices: string[] = [];
  const opened: Catalog[] = [];
  return {
    project: await openSettings(folder, { cwd: folder }),
    grants,
    notices,
    around: {
      opening: { user: NOBODY, notice: (text) => void notices.push(text), ...(signal && { signal }) },
      accepted: false,
      approvals: undefined,
      found: [],
      unlessAborted: (opening) => opening,
      async open(opening) {
        const given = await opening;
        opened.push(given.catalog);
        return given;
      },
    },
    async [Symbol.asyncDispose]() {
      for (const catalog of opened) await catalog.close?.();
    },
  };
}

/** How a run ended. */
export type RunEnd = Extract<RunEvent, { readonly type: "run-end" }>;

/** Runs it to its end, kept in the journal of its project; `onEvent` hears of each event. */
export async function runKept(
  ready: ReadyRun,
  { place: { project, grants }, id, onEvent = () => {} }: {
    readonly place: StartPlace;
    readonly id?: string;
    readonly onEvent?: (event: RunEvent) => void;
  },
): Promise<RunEnd & { readonly id: string }> {
  const start = id === undefined ? ready.start : { ...ready.start, id };
  const kept = await createRun(start, { ...project, grants }, { ephemeral: false, record: undefined });
  let end: RunEnd | undefined;
  for await (const event of ready.events(kept.options)) {
    onEvent(event);
    if (event.type === "run-end") end = event;
  }
  if (end === undefined || kept.id === undefined) throw new Error("the run has no end");
  await kept.close(end.status);
  return { ...end, id: kept.id };
}
