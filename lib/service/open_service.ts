import { type Clock, systemClock } from "../core/clock.ts";
import type { Journal, RunQuery, RunTrace } from "../core/journal.ts";
import type { Model } from "../core/model.ts";
import type { Secrets } from "../core/secrets.ts";
import { messageOf } from "../core/source_error.ts";
import { VERSION } from "../core/version.ts";
import { memoryJournal } from "../journal/memory_journal.ts";
import { newRunId } from "../journal/new_run.ts";
import { dropGrants, type RunGrants } from "../project/trust/grants.ts";
import { openJournal } from "../project/open_journal.ts";
import type { FoundSecret } from "../project/open_run.ts";
import { openSettings } from "../project/project.ts";
import { promptIndex } from "../project/prompt_index.ts";
import { runSecrets } from "../project/run_secrets.ts";
import type { Look } from "./look/look.ts";
import { openLook } from "./look/open_look.ts";
import { ProjectHold } from "./project_hold.ts";
import type { HeldRun } from "./runs/held_run.ts";
import { busyRun, heldTrace, inWords, listedState, noRun, tracedState } from "./runs/kept.ts";
import { keptReader } from "./runs/reader.ts";
import { ABORT_MS, RunRegistry, within } from "./runs/registry.ts";
import { type PlacedRun, RunStage } from "./runs/stage.ts";
import {
  type ProjectNow,
  type ProjectReader,
  type ResumeWishes,
  type RunHandle,
  type RunReader,
  type RunsQuery,
  type RunState,
  type Service,
  ServiceError,
  type StartRun,
} from "./service.ts";
import type { ReadyRun } from "./start/ready_run.ts";
import { goOn, renewed } from "./start/resume.ts";
import { startRun } from "./start/start.ts";
import { type HeldTurn, type OpenedTalks, openTalks, type TurnWish } from "./talks/talks.ts";

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
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** Opens a project to be served. @throws {ProblemsError} for settings that cannot be read, {JournalError} when nothing can be kept */
export async function openService(options: OpenServiceOptions): Promise<Service> {
  const { folder, ephemeral, grants, notice } = options;
  const { root, config } = await openSettings(folder, { cwd: folder });
  const secrets = runSecrets({ config, settings: grants.settings });
  for (const { name, value } of options.secrets ?? []) secrets.add(name, value);
  const hold = await ProjectHold.open({ root, grants, ephemeral, notice, secrets });
  try {
    const journal = ephemeral ? memoryJournal({ secrets }) : openJournal(root, { secrets });
    return new ProjectService({ ...options, root, hold, secrets, journal });
  } catch (error) {
    await hold[Symbol.asyncDispose]();
    throw error;
  }
}

// A project that is held open: what may be asked of it, and who does it. What a run does is in the files `start_*.ts`; what is told of it
// goes through its hub.

/** What was opened for it; it is closed with the service. */
interface ProjectServiceOptions {
  /** Of the project: real and absolute. */
  readonly root: string;
  /** Nothing outlives this process: runs are in memory. */
  readonly ephemeral: boolean;
  /** What every run may do. */
  readonly grants: RunGrants;
  readonly notice: (text: string) => void;
  readonly hold: ProjectHold;
  readonly secrets: Secrets;
  /** In memory, for conversations, where nothing is kept. */
  readonly journal: Journal;
  /** Default: the machine's. */
  readonly clock?: Clock;
}

/** Serves a project that was opened. */
class ProjectService implements Service {
  readonly version = VERSION;
  readonly talks: OpenedTalks;
  readonly look: Look;
  readonly #options: ProjectServiceOptions;
  readonly #clock: Clock;
  readonly #registry: RunRegistry;
  readonly #stage: RunStage;
  readonly #drain = new AbortController();
  #stopping: Promise<void> | undefined;

  constructor(options: ProjectServiceOptions) {
    const { ephemeral, hold, clock = systemClock } = options;
    this.#options = options;
    this.#clock = clock;
    this.#registry = new RunRegistry({
      clock,
      isKept: !ephemeral,
      limit: () => hold.latest.project.config.limits.runs,
    });
    this.#stage = new RunStage({ ...options, registry: this.#registry, drain: this.#drain.signal });
    this.talks = this.#openTalks();
    this.look = this.#openLook();
  }

  get root(): string {
    return this.#options.root;
  }

  get active(): number {
    return this.#registry.active;
  }

  get limit(): number {
    return this.#registry.limit;
  }

  get now(): ProjectNow {
    return this.#registry.now;
  }

  watch(): ProjectReader {
    return this.#registry.watch();
  }

  async start(request: StartRun): Promise<RunHandle> {
    const leaveRoom = this.#registry.enter();
    try {
      const { hold, grants } = this.#options;
      const open = await hold.current();
      const placed = this.#stage.place(open, { canAsk: request.canAsk ?? false, grants });
      try {
        const ready = await startRun(request, { ...placed.at, catalog: open.catalog });
        this.#registry.assertGoing();
        return await this.#begin(ready, placed);
      } catch (error) {
        placed.leave();
        throw error;
      }
    } finally {
      leaveRoom();
    }
  }

  find(id: string): HeldRun | undefined {
    const held = this.#registry.find(id);
    return held === undefined || this.#options.ephemeral || !canGoOn(held) ? held : undefined;
  }

  async run(id: string): Promise<RunState> {
    return this.find(id)?.state ?? tracedState(await this.trace(id));
  }

  async status(id: string): Promise<RunState["status"]> {
    return this.find(id)?.status ?? await Promise.resolve(listedState(this.#stage.summary(id)).status);
  }

  async runs(query: RunsQuery = {}): Promise<readonly RunState[]> {
    const held = this.#registry.all.flatMap(({ id }) => this.find(id)?.listed ?? []);
    return await Promise.resolve(listedRuns(query, { journal: this.#options.journal, held }));
  }

  async trace(id: string): Promise<RunTrace> {
    const held = this.find(id);
    if (this.#options.ephemeral && held !== undefined && held.kind !== "conversation") return heldTrace(held);
    return await Promise.resolve(this.#stage.kept(id));
  }

  async read(id: string, options: { readonly after: number }): Promise<RunReader> {
    return this.find(id)?.read(options) ?? await Promise.resolve(this.#keptReader(id, options));
  }

  async resume(id: string, wishes: ResumeWishes): Promise<RunHandle> {
    this.#registry.assertRoom();
    if (this.find(id)?.isOver === false) throw busyRun(id);
    const kind = this.find(id)?.kind ?? this.#stage.summary(id).kind;
    if (kind === "conversation") return await this.talks.resume(id, wishes);
    if (this.#options.ephemeral) {
      throw new ServiceError(`Run ${id} was not kept: it cannot go on`, { code: "ended" });
    }
    const leaveRoom = this.#registry.enter();
    try {
      return await goOn(id, wishes, { ...this.#options, stage: this.#stage, registry: this.#registry });
    } finally {
      leaveRoom();
    }
  }

  async remove(id: string): Promise<void> {
    const held = this.find(id);
    if (held?.isOver === false) throw busyRun(id);
    const isKept = !this.#options.ephemeral || held === undefined || held.kind === "conversation";
    if (isKept) {
      this.#stage.summary(id);
      inWords(id, () => this.#options.journal.remove(id));
      dropGrants(id);
    }
    this.#registry.remove(id);
    this.#registry.changed();
    this.talks.removed(id);
    await Promise.resolve();
  }

  async model(name: string): Promise<Model> {
    this.#registry.assertRoom();
    const open = await this.#options.hold.current();
    return await open.model(name);
  }

  async stop({ graceMs }: { readonly graceMs: number }): Promise<void> {
    await (this.#stopping ??= this.#stop(graceMs));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop({ graceMs: 0 });
  }

  /** @throws {ServiceError} `not-found` */
  #keptReader(id: string, options: { readonly after: number }): RunReader {
    this.#stage.summary(id);
    return keptReader((after) => {
      try {
        return this.#stage.told(id, after);
      } catch (error) {
        if (error instanceof ServiceError && error.code === "not-found") return []; // removed meanwhile
        throw error;
      }
    }, options);
  }

  async #stop(graceMs: number): Promise<void> {
    const { hold, journal, notice } = this.#options;
    this.#drain.abort(new Error("the process is about to end"));
    await this.#registry.stop({ graceMs });
    const closed = hold[Symbol.asyncDispose]().catch((error) => notice(messageOf(error)));
    await within(ABORT_MS, closed, this.#clock);
    journal[Symbol.dispose](); // last: until then it is read
  }

  /** Comes back when it is durable. */
  async #begin(ready: ReadyRun, placed: PlacedRun): Promise<RunHandle> {
    const id = newRunId(Date.now());
    if (this.#options.ephemeral) return this.#stage.begin(ready, { id, placed });
    await this.#stage.keepGrants(id, placed.at.grants);
    try {
      this.#registry.assertGoing();
      const journal = this.#options.journal.create({ ...ready.start, id });
      return this.#stage.begin(ready, { id, journal, placed });
    } catch (error) {
      dropGrants(id);
      throw error;
    }
  }

  #openTalks(): OpenedTalks {
    const { root, ephemeral, journal, secrets } = this.#options;
    const turns = new TalkTurns({
      ...this.#options,
      registry: this.#registry,
      stage: this.#stage,
    });
    return openTalks({
      root,
      journal,
      secrets,
      isEphemeral: ephemeral,
      hold: (turn) => turns.hold(turn),
      find: (id) => this.find(id),
      read: (id, reading) => this.read(id, reading),
    });
  }

  #openLook(): Look {
    const { root, secrets, hold, grants } = this.#options;
    return openLook({
      root,
      grants,
      secrets,
      settings: async () => (await hold.current()).project,
      catalog: async () => (await hold.current()).catalog,
      accepted: async () => (await hold.current()).accepted,
      prompts: () => promptIndex(root, { trustsCode: grants.flags["trust-code"] === true }),
    });
  }
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
}

/** Runs of all processes, newest first; of one time in the order of the journal. @throws {ServiceError} `not-found` for a `before` that is none of them */
function listedRuns(query: RunsQuery, { journal, held }: KnownRuns): readonly RunState[] {
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

// The turns of conversations among the runs of this process.

/** Where turns are made. */
interface TalkTurnsOptions {
  readonly root: string;
  readonly ephemeral: boolean;
  /** What every run may do. */
  readonly grants: RunGrants;
  readonly hold: ProjectHold;
  readonly registry: RunRegistry;
  readonly stage: RunStage;
}

/** A conversation makes one turn at a time, and each takes the place of a run. */
class TalkTurns {
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
