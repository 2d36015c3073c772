import {
  type Clock,
  type Journal,
  messageOf,
  type RunQuery,
  type RunTrace,
  type Secrets,
  systemClock,
  VERSION,
} from "../core/core.ts";
import { memoryJournal } from "../journal/memory_journal.ts";
import { newRunId } from "../journal/new_run.ts";
import { dropGrants, type RunGrants } from "../project/trust/grants.ts";
import { type FoundSecret, openJournal } from "./keep.ts";
import type { Kind } from "./kinds/kind.ts";
import { KINDS } from "./kinds/kinds.ts";
import { openLook } from "./look/open_look.ts";
import { ProjectHold } from "./project_hold.ts";
import type { HeldRun } from "./runs/held_run.ts";
import { busyRun, heldTrace, inWords, listedState, noRun, tracedState } from "./runs/kept.ts";
import { keptReader } from "./runs/history.ts";
import { ABORT_MS, RunRegistry, within } from "./runs/registry.ts";
import { type BegunRun, RunStage } from "./runs/stage.ts";
import {
  type RunHandle,
  type RunReader,
  type RunShows,
  type RunsQuery,
  type RunState,
  type Service,
  ServiceError,
  type StartRun,
} from "./service.ts";
import type { ReadyRun } from "./start/ready_run.ts";
import { goOn, renewed } from "./start/resume.ts";
import { startRun } from "./start/start.ts";
import type { ConversationInput } from "./talks/agent.ts";
import { type OpenedTalks, openTalks, type TalkHost } from "./talks/talks.ts";

/** How a project is held open. */
export interface OpenServiceOptions {
  /** A folder in the project. */
  readonly folder: string;
  /** Nothing outlives this process: runs are in memory. */
  readonly ephemeral: boolean;
  /** What every run may do. */
  readonly grants: RunGrants;
  /** Told what was ignored, or went wrong where nobody else hears of it. */
  readonly notice: (text: string) => void;
  /** What nobody is to see besides what the project and the environment have, such as the token of a server. */
  readonly secrets?: readonly FoundSecret[];
  /** Keeps the runs beyond this process and gives them to any of several. Default: they are this process's, in the project's journal. */
  readonly engine?: (about: { readonly secrets: Secrets }) => RunEngine;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** What files and runs there are. Default: all of Orrery's. */
  readonly kinds?: readonly Kind[];
}

/** What keeps the runs of several nodes and gives them to one, instead of the journal of this machine. */
export interface RunEngine {
  /** What this node knows of them. */
  readonly journal: Journal;
  /** Takes runs from now on; gives the service that asks all nodes. */
  serve(service: Service, own: OwnRuns): Promise<Service>;
  /** Makes known here what conversations have left in their slots. */
  learnSlots(scope: ConversationInput["scope"]): Promise<void>;
  close(): Promise<void>;
}

/** What a node does by itself. */
export interface OwnRuns {
  readonly stage: RunStage;
  readonly talks: OpenedTalks;
  /** Begins a run here, under this id. */
  start(request: StartRun, id: string): Promise<RunHandle>;
  /** Looks at all that is wished, and begins nothing. Gives what is shown of the run before its first event. */
  look(request: StartRun): Promise<RunShows>;
}

/**
 * Opens a project to be served: what may be asked of it, and who does it. What a run does is in `start/`; what is told of it goes through
 * its hub.
 *
 * @throws {ProblemsError} for settings that cannot be read, {JournalError} when nothing can be kept
 */
export async function openService(options: OpenServiceOptions): Promise<Service> {
  const { ephemeral, grants, notice, kinds = KINDS, clock = systemClock } = options;
  const hold = await ProjectHold.open(options);
  const { root, secrets } = hold;
  for (const { name, value } of options.secrets ?? []) secrets.add(name, value);
  let journal: Journal; // in memory, for conversations, where nothing is kept
  let engine: RunEngine | undefined;
  try {
    engine = options.engine?.({ secrets });
    journal = engine !== undefined
      ? engine.journal
      : ephemeral
      ? memoryJournal({ secrets })
      : openJournal(root, { secrets });
  } catch (error) {
    await hold[Symbol.asyncDispose]();
    throw error;
  }
  const drain = new AbortController();
  const registry = new RunRegistry({
    clock,
    isKept: !ephemeral,
    limit: () => hold.latest.app.project.config.limits.runs,
  });
  const stage = new RunStage({
    grants,
    notice,
    journal,
    registry,
    hold,
    kinds,
    drain: drain.signal,
  });
  let stopping: Promise<void> | undefined;

  const find = (id: string): HeldRun | undefined => {
    const held = registry.find(id);
    return held === undefined || ephemeral || !canGoOn(held) ? held : undefined;
  };

  const trace = async (id: string): Promise<RunTrace> => {
    const held = find(id);
    if (ephemeral && held !== undefined && held.kind !== "conversation") return heldTrace(held);
    return await Promise.resolve(stage.kept(id));
  };

  /** @throws {ServiceError} `not-found` */
  const readKept = (id: string, reading: { readonly after: number }): RunReader => {
    stage.summary(id);
    return keptReader((after) => {
      try {
        return stage.told(id, after);
      } catch (error) {
        if (error instanceof ServiceError && error.code === "not-found") return []; // removed meanwhile
        throw error;
      }
    }, reading);
  };

  const read = async (id: string, reading: { readonly after: number }): Promise<RunReader> =>
    find(id)?.read(reading) ?? await Promise.resolve(readKept(id, reading));

  /** Comes back when it is durable. */
  const begin = async (
    ready: ReadyRun,
    { placed, traceparent, id = newRunId(Date.now()) }: Pick<BegunRun, "placed" | "traceparent"> & {
      readonly id?: string;
    },
  ): Promise<RunHandle> => {
    const begun = { id, placed, traceparent };
    if (ephemeral) return stage.begin(ready, begun);
    await stage.keepGrants(id, placed.at.grants);
    try {
      registry.assertGoing();
      return stage.begin(ready, { ...begun, journal: journal.create({ ...ready.start, id }) });
    } catch (error) {
      dropGrants(id);
      throw error;
    }
  };

  const end = async (graceMs: number): Promise<void> => {
    drain.abort(new Error("the process is about to end"));
    await registry.stop({ graceMs });
    const closed = hold[Symbol.asyncDispose]().catch((error) => notice(messageOf(error)));
    await within(ABORT_MS, closed, clock);
    await engine?.close();
    journal[Symbol.dispose](); // last: until then it is read
  };
  const stop = (graceMs: number): Promise<void> => stopping ??= end(graceMs);

  const talks = openTalks({
    root,
    journal,
    secrets,
    isEphemeral: ephemeral,
    learnSlots: engine?.learnSlots,
    turn: turnMaker(stage, ephemeral),
    assertGoing: () => registry.assertGoing(),
    find,
    read,
  });

  const start = (request: StartRun, id?: string): Promise<RunHandle> => {
    const wish = { canAsk: request.canAsk ?? false, grants: () => grants };
    return stage.accept(wish, async (placed, { catalog }) => {
      const ready = await startRun(request, { ...placed.at, catalog, kinds });
      registry.assertGoing();
      return await begin(ready, { placed, traceparent: request.traceparent, id });
    });
  };

  const service: Service = {
    version: VERSION,
    root,
    talks,
    look: openLook(hold, kinds),
    get active() {
      return registry.active;
    },
    get limit() {
      return registry.limit;
    },
    get now() {
      return registry.now;
    },
    watch: () => registry.watch(),
    start: (request) => start(request),
    find,
    idOf: async (beginning) => await Promise.resolve(stage.idOf(beginning)),
    run: async (id) => find(id)?.state ?? tracedState(await trace(id), kinds),
    status: async (id) =>
      find(id)?.status ?? await Promise.resolve(listedState(stage.summary(id), kinds).status),
    async runs(query = {}) {
      const held = registry.all.flatMap(({ id }) => find(id)?.listed ?? []);
      return await Promise.resolve(listedRuns(query, { journal, held, kinds }));
    },
    trace,
    read,
    async resume(id, wishes) {
      registry.assertRoom();
      const held = find(id);
      if (held?.isOver === false) throw busyRun(id);
      const kind = held?.kind ?? stage.summary(id).kind;
      if (kind === "conversation") return await talks.resume(id, wishes);
      if (ephemeral) throw new ServiceError(`Run ${id} was not kept: it cannot go on`, { code: "ended" });
      return await goOn(id, wishes, stage);
    },
    async remove(id) {
      const held = find(id);
      if (held?.isOver === false) throw busyRun(id);
      if (!ephemeral || held === undefined || held.kind === "conversation") {
        stage.summary(id);
        inWords(id, () => journal.remove(id));
        dropGrants(id);
      }
      registry.remove(id);
      registry.changed();
      talks.removed(id);
      await Promise.resolve();
    },
    async model(name) {
      registry.assertRoom();
      return await (await hold.current()).model(name);
    },
    stop: ({ graceMs }) => stop(graceMs),
    [Symbol.asyncDispose]: () => stop(0),
  };
  if (engine === undefined) return service;
  return await engine.serve(service, {
    stage,
    start,
    talks,
    look: (request) =>
      stage.accept({ canAsk: false, grants: () => grants }, async (placed, { catalog }) => {
        const { shows: { results: _results, ...shows } } = await startRun(request, {
          ...placed.at,
          catalog,
          kinds,
        });
        placed.leave();
        return shows;
      }),
  });
}

/** Another process may have done so by now: the journal knows better. */
function canGoOn({ kind, isOver, outcome }: HeldRun): boolean {
  if (!isOver || outcome === "done" || outcome === "completed") return false;
  return outcome !== "failed" || kind === "conversation"; // whose turn can be tried again
}

/** Who knows of runs. */
interface KnownRuns {
  readonly journal: Journal;
  /** Those that this process knows better than the journal. */
  readonly held: Iterable<RunState>;
  readonly kinds: readonly Kind[];
}

/** Runs of all processes, newest first; of one time in the order of the journal. @throws {ServiceError} `not-found` for a `before` that is none of them */
function listedRuns(query: RunsQuery, { journal, held, kinds }: KnownRuns): readonly RunState[] {
  const { status, limit = 50, before } = query;
  const own = [...held].filter((state) => isOf(query, state)).reverse();
  const kept = journal.list(keptQuery(query, own.length));
  const states = new Map(kept.map((summary) => [summary.id, listedState(summary, kinds)]));
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

/** Makes turns of conversations among the runs of this process: a conversation makes one at a time, and each takes the place of a run. */
function turnMaker(stage: RunStage, ephemeral: boolean): TalkHost["turn"] {
  const { grants, registry } = stage.options;
  /** Conversations whose next turn is being opened. */
  const opening = new Set<string>();
  return async ({ id, file, canAsk }, begin) => {
    if (registry.find(id)?.isOver === false || opening.has(id)) throw busyRun(id);
    registry.assertRoom();
    opening.add(id);
    try {
      const kept = ephemeral ? grants : await renewed(id, { root: stage.options.hold.root, grants }); // what it was allowed, and what every run may do
      return await stage.accept({ canAsk, grants: () => kept }, async (placed) => {
        const { events, ...options } = await begin(placed.at, ephemeral ? undefined : stage.drain);
        const start = { kind: "conversation", file, input: null };
        const held = stage.hold(start, placed, { id, ...options });
        void stage.follow(held, events, { placed });
        return held;
      });
    } finally {
      opening.delete(id);
    }
  };
}
