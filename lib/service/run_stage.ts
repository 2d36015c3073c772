// Runs from the moment they are accepted until they have ended: placed, held for whoever reads them, followed to their end.

import { eachValue } from "../core/async.ts";
import type { RunEvent } from "../core/event.ts";
import type { Journal, RunJournal, RunTrace } from "../core/journal.ts";
import type { Secrets } from "../core/secrets.ts";
import { messageOf } from "../core/source_error.ts";
import { grantsNothing } from "../project/grants.ts";
import type { RunGrants } from "../project/grants.ts";
import { dropGrants, keepGrants } from "../project/run_grants.ts";
import { RunDrain } from "../run/run_drain.ts";
import type { DrainRun } from "../run/run_drain.ts";
import { HeldRun } from "./held_run.ts";
import { runKind } from "./kept_run_state.ts";
import { placeRun } from "./placed_run.ts";
import type { PlacedRun, PlaceRunOptions } from "./placed_run.ts";
import type { OpenProject } from "./project_hold.ts";
import type { Keeping, ReadyRun } from "./ready_run.ts";
import { RunHub } from "./run_hub.ts";
import { inWords, noRun } from "./run_refusals.ts";
import type { RunRegistry } from "./run_registry.ts";

/** What is around all runs of a project that is held open. */
export interface RunStageOptions {
  /** Of the project: real and absolute. */
  readonly root: string;
  /** What every run may do. */
  readonly grants: RunGrants;
  readonly notice: (text: string) => void;
  readonly secrets: Secrets;
  readonly journal: Journal;
  readonly registry: RunRegistry;
  /** Once aborted, no run begins a further step. */
  readonly drain: AbortSignal;
}

/** What a run goes on in. */
export interface Following {
  /** Absent where nothing is kept, or the run keeps itself. */
  readonly journal?: RunJournal;
  readonly placed: PlacedRun;
}

/** Which run is held. */
export interface HoldRunOptions {
  readonly id: string;
  /** `seq` of the last event that is kept; absent where nothing is. */
  readonly before?: number;
  /** Of one that goes on, as the journal has it; ms since 1970. Default: now. */
  readonly startedAt?: number;
}

/** So much is read from the journal at once: it holds everybody up. */
const PART = { limit: 500, maxBytes: 65_536 };

/** Where the runs of a project are performed. */
export class RunStage {
  readonly #options: RunStageOptions;

  constructor(options: RunStageOptions) {
    this.#options = options;
  }

  /** Of each run that is kept. */
  get drain(): DrainRun {
    return (stop) => new RunDrain(this.#options.drain, stop);
  }

  /** Puts together what is around a run. */
  place(open: OpenProject, wishes: Pick<PlaceRunOptions, "canAsk" | "grants">): PlacedRun {
    const { notice, secrets, grants } = this.#options;
    return placeRun(open, { ...wishes, notice, secrets, isShared: wishes.grants === grants });
  }

  /** What it may do is there for whoever goes on with it. */
  async keepGrants(id: string, grants: RunGrants): Promise<void> {
    const { root } = this.#options;
    const own = { ...grants, flags: { ...grants.flags, "trust-project": false } }; // that the server was told, of what it began with
    if (!grantsNothing(own)) await keepGrants(id, own, { root, cwd: root });
  }

  /** Begins a run when this turn of the event loop is over: whoever asked for it is answered first. */
  begin(
    ready: ReadyRun,
    { id, journal, placed, startedAt }: Following & Pick<HoldRunOptions, "id" | "startedAt">,
  ): HeldRun {
    const held = this.hold(ready, placed, { id, before: journal?.lastSeq, startedAt });
    setTimeout(() =>
      void this.follow(held, ready.events(this.#keeping(id, journal, placed)), { journal, placed })
    );
    return held;
  }

  /** Takes it among the runs under way. */
  hold(
    { start: { kind, file } }: Pick<ReadyRun, "start">,
    { stop, asks }: PlacedRun,
    { id, before, startedAt }: HoldRunOptions,
  ): HeldRun {
    if (startedAt !== undefined) asks?.goOn(startedAt, this.#options.registry.find(id)?.hub.decided);
    const named = runKind(kind);
    const isKept = before !== undefined;
    const hub = new RunHub({
      id,
      kind: named,
      file,
      asks,
      startedAt: startedAt ?? Date.now(),
      before,
      onAsks: () => this.#options.registry.changed(),
      earlier: isKept ? (after) => this.told(id, after) : undefined,
      keptSteps: isKept ? () => this.#stepsOf(id) : undefined,
    });
    const held = new HeldRun({ id, kind: named, hub, stop });
    this.#options.registry.add(held);
    return held;
  }

  /** Reads what it tells until it is over. Never fails. */
  async follow(
    held: HeldRun,
    events: AsyncIterable<RunEvent>,
    { journal, placed }: Following,
  ): Promise<void> {
    const { hub, id } = held;
    let error: string | undefined;
    try {
      await eachValue(events, (event) => hub.push(event));
    } catch (thrown) {
      error = this.#options.secrets.mask(messageOf(thrown));
      this.#release(journal);
    }
    placed.leave();
    const keptAs = journal === undefined || hub.status === "done" ? undefined : this.#statusOf(id);
    const canGoOn = keptAs === "held" || keptAs === "stopped";
    if (journal !== undefined && !canGoOn && !grantsNothing(placed.at.grants)) dropGrants(id);
    held.end({ error, keptAs: canGoOn ? keptAs : undefined });
    this.#options.registry.ended(held);
  }

  /** As the journal has it. @throws {ServiceError} `not-found`, also for the beginning of an id */
  kept(id: string): RunTrace {
    const trace = inWords(id, () => this.#options.journal.read(id));
    if (trace.summary.id !== id) throw noRun(id);
    return trace;
  }

  /** How the journal lists it. @throws as `kept` */
  summary(id: string): RunTrace["summary"] {
    const { summary } = inWords(id, () => this.#options.journal.conversation(id, { last: 0 }));
    if (summary.id !== id) throw noRun(id);
    return summary;
  }

  #keeping(id: string, journal: RunJournal | undefined, { stop }: PlacedRun): Keeping {
    const { secrets } = this.#options;
    return journal === undefined ? { id, secrets, stop } : { journal, secrets, stop, drain: this.drain };
  }

  /** What the journal has of it between two turns of the event loop. @throws {ServiceError} `not-found` */
  told(id: string, after: number): readonly RunEvent[] {
    return inWords(id, () => this.#options.journal.events(id, { after, ...PART }));
  }

  /** Of a run that has not told how it ended: it can go on. */
  #release(journal: RunJournal | undefined): void {
    try {
      journal?.release("stopped");
    } catch (error) {
      this.#options.notice(messageOf(error));
    }
  }

  /** Undefined when it was removed, or the journal is closed. */
  #stepsOf(id: string): number | undefined {
    try {
      return this.#options.journal.conversation(id, { last: 0 }).summary.steps;
    } catch {
      return undefined;
    }
  }

  #statusOf(id: string): RunTrace["summary"]["status"] | undefined {
    try {
      return this.#options.journal.conversation(id, { last: 0 }).summary.status;
    } catch (error) {
      this.#options.notice(messageOf(error));
      return undefined;
    }
  }
}
