import type { Journal, RunQuery } from "../core/journal.ts";
import { listedState } from "./kept_run_state.ts";
import { noRun } from "./run_refusals.ts";
import type { RunsQuery, RunState } from "./service.ts";

/** Who knows of runs. */
export interface KnownRuns {
  readonly journal: Journal;
  /** Those that this process knows better than the journal. */
  readonly held: Iterable<RunState>;
}

/** Runs of all processes, newest first; of one time in the order of the journal. @throws {ServiceError} `not-found` for a `before` that is none of them */
export function listedRuns(query: RunsQuery, { journal, held }: KnownRuns): readonly RunState[] {
  const { status, limit = 50, before } = query;
  const own = [...held].filter((state) => isOf(query, state)).reverse();
  const kept = journal.list(keptQuery(query, own.length));
  const states = new Map(kept.map((summary) => [summary.id, listedState(summary)]));
  for (const state of own) {
    const { steps } = states.get(state.id) ?? state; // a journal has more of them than are told
    states.set(state.id, { ...state, steps });
  }
  const newest = [...states.values()].sort((a, b) => b.startedAt - a.startedAt);
  const from = before === undefined ? 0 : newest.findIndex(({ id }) => id === before) + 1;
  if (before !== undefined && from === 0) throw noRun(before);
  return newest.slice(from).filter((state) => status === undefined || state.status === status).slice(
    0,
    limit,
  );
}

function isOf({ kind, file }: RunsQuery, state: RunState): boolean {
  return (kind === undefined || kind === state.kind) && (file === undefined || file === state.file);
}

/**
 * No more than can be shown: as many as are wanted, and one for each run that this process may know to stand otherwise. What `before` is
 * before is found among all of them, whatever has become of it.
 */
function keptQuery({ status, kind, file, limit = 50, before }: RunsQuery, held: number): RunQuery {
  return {
    kind,
    file,
    ...(before !== undefined ? {} : {
      limit: limit + held,
      ...(status === undefined ? {} : { standing: status === "completed" ? "done" : status }),
    }),
  };
}
