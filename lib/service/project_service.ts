// A project that is held open: what may be asked of it, and who does it. What a run does is in the files `start_*.ts`; what is told of it
// goes through its hub.

import { systemClock } from "../core/clock.ts";
import type { Clock } from "../core/clock.ts";
import type { Journal, RunTrace } from "../core/journal.ts";
import type { Model } from "../core/model.ts";
import type { Secrets } from "../core/secrets.ts";
import { messageOf } from "../core/source_error.ts";
import { VERSION } from "../core/version.ts";
import { newRunId } from "../journal/new_run.ts";
import type { RunGrants } from "../project/grants.ts";
import { promptIndex } from "../project/prompt_index.ts";
import { dropGrants } from "../project/run_grants.ts";
import type { HeldRun } from "./held_run.ts";
import { heldTrace, listedState, tracedState } from "./kept_run_state.ts";
import { listedRuns } from "./listed_runs.ts";
import type { Look } from "./look/look.ts";
import { openLook } from "./look/open_look.ts";
import type { ProjectHold } from "./project_hold.ts";
import type { ReadyRun } from "./ready_run.ts";
import { keptReader } from "./run_reader.ts";
import { busyRun, inWords } from "./run_refusals.ts";
import { goOn } from "./resume_run.ts";
import { ABORT_MS, RunRegistry, within } from "./run_registry.ts";
import { RunStage } from "./run_stage.ts";
import type { PlacedRun } from "./run_stage.ts";
import { ServiceError } from "./service.ts";
import type {
  ProjectNow,
  ProjectReader,
  ResumeWishes,
  RunHandle,
  RunReader,
  RunsQuery,
  RunState,
  Service,
  StartRun,
} from "./service.ts";
import { startRun } from "./start_run.ts";
import { TalkTurns } from "./talk_turns.ts";
import { openTalks } from "./talks.ts";
import type { OpenedTalks } from "./talks.ts";

/** What was opened for it; it is closed with the service. */
export interface ProjectServiceOptions {
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
export class ProjectService implements Service {
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
