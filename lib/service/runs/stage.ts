// Runs from the moment they are accepted until they have ended: placed, held for whoever reads them, followed to their end.
import {
  type Journal,
  messageOf,
  type RunEvent,
  type RunJournal,
  RunNotFoundError,
  type RunTrace,
} from "../../core/core.ts";
import { dropGrants, grantsNothing, keepGrants, NOBODY, type RunGrants } from "../../project/trust/grants.ts";
import { type DrainRun, runDrain } from "../../run/drain.ts";
import type { Kind } from "../kinds/kind.ts";
import type { OpenProject, ProjectHold } from "../project_hold.ts";
import type { ReadyRun, StartPlace } from "../start/ready_run.ts";
import { askingUser, Asks } from "./asks.ts";
import { HeldRun } from "./held_run.ts";
import { beginningOf } from "../../journal/find.ts";
import { inWords, noRun, runKind } from "./kept.ts";
import type { RunRegistry } from "./registry.ts";
import type { RunShows, RunWishes } from "../service.ts";

/** What is around all runs of a project that is held open. */
export interface RunStageOptions {
  /** What every run may do. */
  readonly grants: RunGrants;
  readonly notice: (text: string) => void;
  readonly journal: Journal;
  readonly registry: RunRegistry;
  readonly hold: ProjectHold;
  /** What its runs may be of. */
  readonly kinds: readonly Kind[];
  /** Once aborted, no run begins a further step. */
  readonly drain: AbortSignal;
}

/** A run that is being made ready: what it is opened with, what stops it, and what it asks. */
export interface PlacedRun {
  readonly at: StartPlace;
  readonly stop: AbortController;
  /** Absent when nobody can be asked. */
  readonly asks: Asks | undefined;
  /** It has ended, or does not begin: closes what was opened for it. */
  leave(): void;
}

/** Which run is held. */
export interface HoldRunOptions {
  readonly id: string;
  /** `seq` of the last event that is kept; absent where nothing is. */
  readonly before?: number;
  /** Of one that goes on, as the journal has it; ms since 1970. Default: now. */
  readonly startedAt?: number;
  readonly shows?: RunShows;
}

/** A run that was made ready. */
export interface BegunRun extends Pick<HoldRunOptions, "id" | "startedAt">, Pick<RunWishes, "traceparent"> {
  /** Absent where nothing is kept. */
  readonly journal?: RunJournal;
  readonly placed: PlacedRun;
}

/** So much is read from the journal at once: it holds everybody up. */
const PART = { limit: 500, maxBytes: 65_536 };

const asItIs = <Value>(work: Promise<Value>): Promise<Value> => work;

/** Where the runs of a project are performed. */
export class RunStage {
  readonly options: RunStageOptions;

  constructor(options: RunStageOptions) {
    this.options = options;
  }

  /** Of each run that is kept. */
  get drain(): DrainRun {
    return (stop) => runDrain(this.options.drain, stop);
  }

  /**
   * Takes a place among the runs of this process, and opens the project for one. Where it does not begin, everything is given back.
   *
   * @param options.grants what it may do in the project as it is now
   * @throws as `RunRegistry.enter`
   */
  async accept<Begun>(
    { canAsk, grants }: {
      readonly canAsk: boolean;
      readonly grants: (open: OpenProject) => RunGrants;
    },
    begin: (placed: PlacedRun, open: OpenProject) => Promise<Begun>,
  ): Promise<Begun> {
    const { hold, registry } = this.options;
    const leaveRoom = registry.enter();
    try {
      const open = await hold.current(); // and used at once: while somebody waits it may be closed
      const placed = this.#place(open, { canAsk, grants: grants(open) });
      try {
        return await begin(placed, open);
      } catch (error) {
        placed.leave();
        throw error;
      }
    } finally {
      leaveRoom();
    }
  }

  /** Puts together what is around a run; one that may do more than all runs may opens the gadgets for itself alone. */
  #place(
    { app: { project }, accepted, openCatalog, use }: OpenProject,
    { canAsk, grants }: { readonly canAsk: boolean; readonly grants: RunGrants },
  ): PlacedRun {
    const { notice, hold: { secrets } } = this.options;
    const isShared = grants === this.options.grants;
    const stop = new AbortController();
    const asks = canAsk ? new Asks() : undefined;
    const asking = asks && askingUser(asks);
    const leave = use();
    const opened: (() => Promise<void>)[] = [];
    return {
      stop,
      asks,
      at: {
        project,
        grants,
        around: {
          opening: {
            notice,
            signal: stop.signal,
            secrets,
            user: asking?.user ?? NOBODY,
            approve: asking?.approve,
          },
          ...(isShared && { accepted, openCatalog }),
          approvals: asking?.approvals,
          found: [],
          unlessAborted: asItIs,
          open: isShared ? asItIs : async (work) => {
            const given = await work;
            if (given.catalog.close !== undefined) opened.push(given.catalog.close);
            return given;
          },
        },
      },
      leave() {
        leave();
        for (const close of opened.splice(0)) close().catch((error) => notice(messageOf(error)));
      },
    };
  }

  /** What it may do is there for whoever goes on with it. */
  async keepGrants(id: string, grants: RunGrants): Promise<void> {
    const { root } = this.options.hold;
    const own = { ...grants, flags: { ...grants.flags, "trust-project": false } }; // that the server was told, of what it began with
    if (!grantsNothing(own)) await keepGrants(id, own, { root, cwd: root });
  }

  /** Begins a run when this turn of the event loop is over: whoever asked for it is answered first. */
  begin(
    ready: ReadyRun,
    { id, journal, placed, startedAt, traceparent }: BegunRun,
  ): HeldRun {
    const { results: _results, ...shows } = ready.shows;
    const held = this.hold(ready.start, placed, { id, before: journal?.lastSeq, startedAt, shows });
    const { secrets } = this.options.hold;
    const { stop } = placed;
    const observer = placed.at.project.observe?.(ready.start.file, traceparent);
    const keeping = journal === undefined
      ? { id, secrets, observer, stop }
      : { journal, secrets, observer, stop, drain: this.drain };
    setTimeout(() => void this.follow(held, ready.events(keeping), { journal, placed }));
    return held;
  }

  /** Takes it among the runs under way. */
  hold(
    { kind, file }: ReadyRun["start"],
    { stop, asks }: PlacedRun,
    { id, before, startedAt, shows }: HoldRunOptions,
  ): HeldRun {
    const { registry, kinds } = this.options;
    if (startedAt !== undefined) asks?.goOn(startedAt, registry.find(id)?.asked);
    const isKept = before !== undefined;
    const held = new HeldRun({
      id,
      kind: runKind(kind, kinds),
      file,
      asks,
      stop,
      startedAt: startedAt ?? Date.now(),
      before,
      shows,
      onAsks: () => registry.changed(),
      earlier: isKept ? (after) => this.told(id, after) : undefined,
      keptSteps: isKept ? () => this.#summaryOf(id, () => undefined)?.steps : undefined,
    });
    registry.add(held);
    return held;
  }

  /** Reads what it tells until it is over. Never fails. @param options.journal absent where nothing is kept, or the run keeps itself */
  async follow(
    held: HeldRun,
    events: AsyncIterable<RunEvent>,
    { journal, placed }: { readonly journal?: RunJournal; readonly placed: PlacedRun },
  ): Promise<void> {
    const { hold: { secrets }, notice, registry } = this.options;
    let error: string | undefined;
    try {
      for await (const event of events) held.push(event);
    } catch (thrown) {
      error = secrets.mask(messageOf(thrown));
      try {
        journal?.release("stopped"); // it has not told how it ended: it can go on
      } catch (unreleased) {
        notice(messageOf(unreleased));
      }
    }
    placed.leave();
    const status = journal === undefined || held.outcome === "done"
      ? undefined
      : this.#summaryOf(held.id, notice)?.status;
    const keptAs = status === "held" || status === "stopped" ? status : undefined;
    if (journal !== undefined && keptAs === undefined && !grantsNothing(placed.at.grants)) {
      dropGrants(held.id);
    }
    held.end({ error, keptAs });
    registry.ended(held);
  }

  /** The id of a run, or that of which somebody has said the beginning. @throws {ServiceError} `not-found`, also where several begin so: `details.runs` */
  idOf(said: string): string {
    const { journal, registry } = this.options;
    if (registry.find(said) !== undefined) return said;
    const held = () =>
      beginningOf(said, (beginning) => registry.all.flatMap(({ id }) => id.startsWith(beginning) ? id : []));
    return inWords(said, () => {
      try {
        return journal.conversation(said, { last: 0 }).summary.id;
      } catch (error) {
        const id = error instanceof RunNotFoundError && error.runs.length === 0 ? held() : undefined;
        if (id === undefined) throw error;
        return id; // it is kept nowhere else
      }
    });
  }

  /** As the journal has it. @throws {ServiceError} `not-found`, also for the beginning of an id */
  kept(id: string): RunTrace {
    const trace = inWords(id, () => this.options.journal.read(id));
    if (trace.summary.id !== id) throw noRun(id);
    return trace;
  }

  /** How the journal lists it. @throws as `kept` */
  summary(id: string): RunTrace["summary"] {
    const { summary } = inWords(id, () => this.options.journal.conversation(id, { last: 0 }));
    if (summary.id !== id) throw noRun(id);
    return summary;
  }

  /** What the journal has of it between two turns of the event loop. @throws {ServiceError} `not-found` */
  told(id: string, after: number): readonly RunEvent[] {
    return inWords(id, () => this.options.journal.events(id, { after, ...PART }));
  }

  /** Undefined when it was removed, or the journal is closed. */
  #summaryOf(id: string, notice: (text: string) => void): RunTrace["summary"] | undefined {
    try {
      return this.options.journal.conversation(id, { last: 0 }).summary;
    } catch (error) {
      notice(messageOf(error));
      return undefined;
    }
  }
}
