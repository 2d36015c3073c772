import {
  type ConversationRecord,
  type Journal,
  type JsonObject,
  type MessageRange,
  type RunEvent,
  RunNotFoundError,
  RunOwnedError,
  type Secrets,
  toJsonObject,
} from "../../core/core.ts";
import { newRunId } from "../../journal/new_run.ts";
import { dropGrants, NOBODY } from "../../project/trust/grants.ts";
import { forkRun } from "../start/fork.ts";
import type { LiveConversation } from "../../run/conversation/conversation.ts";
import type { DrainRun } from "../../run/drain.ts";
import {
  type BeginTalk,
  fieldError,
  type Frame,
  type ResumeWishes,
  type RunHandle,
  type RunReader,
  ServiceError,
  type TalkHandle,
  type Talks,
  type TalkState,
} from "../service.ts";
import { signalAt, type StartPlace } from "../start/ready_run.ts";
import { settled } from "../start/settle.ts";
import { conversationInput } from "./agent.ts";
import { agentPath, begunTurn, openTalk, type TalkPlace, wishedTalk } from "./open.ts";
import type { ConversationSession } from "./session.ts";
import { conversationJson, talkState } from "./state.ts";

/** The conversations of a project that is held open, and what makes an interrupted one go on. */
export interface OpenedTalks extends Talks {
  /** Finishes a turn that was interrupted, or tries one again that failed. @throws {ServiceError} `unverified`, `invalid` for a budget, and as `TalkHandle.retry` */
  resume(id: string, wishes: ResumeWishes): Promise<RunHandle>;
  /** As `begin`, under an id that was given away. */
  beginAs(id: string, wish: BeginTalk): Promise<RunHandle>;
  /** It is not there any more: whoever waits for its next turn waits no longer. */
  removed(id: string): void;
}

/** So many conversations are known that are not kept; the oldest are forgotten. */
const MOST_EPHEMERAL = 1000;

/** The conversations of a project that is held open. */
export function openTalks(host: TalkHost): OpenedTalks {
  return new ProjectTalks(host);
}

/** How a turn is made. */
type Make = (session: ConversationSession, signal: AbortSignal) => Promise<AsyncIterable<RunEvent>>;

class ProjectTalks implements OpenedTalks {
  readonly #host: TalkHost;
  /** Oldest first. */
  readonly #ephemeral = new Set<string>();
  /** Whoever waits for the next turn of a conversation. */
  readonly #waiting = new Map<string, Set<WakeReader>>();

  constructor(host: TalkHost) {
    this.#host = host;
  }

  async begin(wish: BeginTalk): Promise<{ readonly talk: TalkHandle; readonly turn: RunHandle }> {
    const id = newRunId(Date.now());
    return { talk: this.#handle(id), turn: await this.beginAs(id, wish) };
  }

  async beginAs(id: string, wish: BeginTalk): Promise<RunHandle> {
    const { root } = this.#host;
    const turn = await this.#turn({
      id,
      file: agentPath(wish, root),
      canAsk: wish.canAsk ?? false,
      isNew: true,
      open: (place) =>
        openTalk({ ...place, isNew: true }, (agent) => wishedTalk(wish, { ...place.at, agent })),
      make: (session, signal) => begun(session, (live) => live.start(wish.message), signal),
    });
    this.#noteEphemeral(id);
    return turn;
  }

  async open(id: string): Promise<TalkHandle> {
    const { summary } = await Promise.resolve(this.#record(id, { last: 0 }));
    return this.#handle(summary.id);
  }

  async list({ agent, limit = 50 }: { readonly agent?: string; readonly limit?: number } = {}): Promise<
    readonly TalkState[]
  > {
    const { journal } = this.#host;
    const found = await Promise.resolve(journal.list({
      kind: "conversation",
      limit,
      file: agent,
    }));
    return found.map(({ id }) => this.#state(id, { last: 1 }));
  }

  removed(id: string): void {
    for (const wake of this.#takeWaiting(id)) wake("removed");
  }

  async resume(id: string, { rerun, skip, canAsk, budget }: ResumeWishes): Promise<RunHandle> {
    if (budget !== undefined) throw ofOwnBudget(id);
    return await this.#next(id, {
      canAsk,
      make: async (session, signal) => {
        if (session.isInterrupted) {
          await settled(id, { rerun, skip }, (decisions) => session.settle({ user: NOBODY, decisions }));
        }
        const isUnbegun = session.live.turns === 0 && session.live.status === "held"; // it went back to its beginning
        return await begun(session, (live) => isUnbegun ? live.start() : live.retry(), signal);
      },
    });
  }

  #handle(id: string): TalkHandle {
    return {
      id,
      state: async (range) => await Promise.resolve(this.#state(id, range)),
      exported: async () => await Promise.resolve(this.#exported(id)),
      say: async (words) =>
        await this.#next(id, {
          make: (session, signal) => begun(session, (live) => live.say(words), signal),
        }),
      retry: async () => await this.resume(id, {}),
      back: async (turns) => await this.#back(id, turns),
      read: (options) => this.#read(id, options),
    };
  }

  /** The next turn of one that the journal has. */
  async #next(
    id: string,
    { make, canAsk }: { readonly make: Make; readonly canAsk?: boolean },
  ): Promise<RunHandle> {
    const { run, summary: { file = "", startedAt } } = this.#record(id, { last: 0 });
    const input = conversationInput(run.input);
    return await this.#turn({
      id,
      file,
      canAsk: canAsk ?? input.canAsk ?? false,
      isNew: false,
      startedAt,
      open: (place) => openTalk({ ...place, isNew: false }, () => input),
      make,
    });
  }

  async #turn({ id, file, canAsk, isNew, startedAt, open, make }: {
    readonly id: string;
    readonly file: string;
    readonly canAsk: boolean;
    readonly isNew: boolean;
    /** Of one that is not new. */
    readonly startedAt?: number;
    readonly open: (place: TurnPlace) => Promise<ConversationSession>;
    readonly make: Make;
  }): Promise<RunHandle> {
    const host = this.#host;
    const { journal, secrets, isEphemeral, learnSlots } = host;
    try {
      const handle = await host.turn({ id, file, canAsk }, async (at, drain) => {
        const session = await open({ id, file, at, journal, secrets, isEphemeral, drain, learnSlots });
        host.assertGoing();
        const events = await make(session, signalAt(at));
        return { events: this.#untilOver(events, session), before: session.before, startedAt };
      });
      for (const wake of this.#takeWaiting(id)) wake("turn");
      return handle;
    } catch (error) {
      if (isNew && !isEphemeral) dropGrants(id);
      throw error;
    }
  }

  /** What it was allowed is forgotten with its end. */
  async *#untilOver(
    events: AsyncIterable<RunEvent>,
    { live }: ConversationSession,
  ): AsyncGenerator<RunEvent> {
    yield* events;
    if (live.status === "completed" && !this.#host.isEphemeral) dropGrants(live.id);
  }

  async #back(id: string, count: number): Promise<TalkState> {
    const { checkpoint, isOpen, summary } = this.#record(id, { last: 0 });
    if (summary.owned) {
      throw new ServiceError("The agent is still answering; try again when it is done.", { code: "busy" });
    }
    const turns = (checkpoint?.n ?? 0) + (isOpen ? 1 : 0);
    if (!Number.isSafeInteger(count) || count < 1 || count > turns) {
      throw fieldError(
        "turns",
        `turns: ${count} cannot be taken back: there ${turns === 1 ? "is 1 turn" : `are ${turns} turns`}`,
      );
    }
    const branch = await forkRun(id, { turn: turns - count }, this.#host);
    this.#noteEphemeral(branch);
    return this.#state(branch);
  }

  #read(id: string, options: { readonly after: number }): RunReader {
    return new TalkReader({
      read: (from) => this.#host.read(id, from),
      isCompleted: () => this.#state(id, { last: 0 }).status === "completed",
      wake: (reader) => {
        const waiting = this.#waiting.get(id) ?? new Set();
        this.#waiting.set(id, waiting.add(reader));
        return () => {
          waiting.delete(reader);
          if (waiting.size === 0 && this.#waiting.get(id) === waiting) this.#waiting.delete(id);
        };
      },
    }, options);
  }

  #takeWaiting(id: string): ReadonlySet<WakeReader> {
    const waiting = this.#waiting.get(id) ?? new Set();
    this.#waiting.delete(id);
    return waiting;
  }

  #exported(id: string): JsonObject {
    const { journal } = this.#host;
    return toJsonObject(conversationJson(this.#record(id), (scope) => ({ ...journal.slots(scope) })));
  }

  #state(id: string, range?: MessageRange): TalkState {
    const { journal } = this.#host;
    const asks = this.#host.find(id)?.state.asks ?? [];
    return talkState(this.#record(id, range), { journal, asks, range });
  }

  /** @throws {ServiceError} `not-found`, also for a run that is no conversation */
  #record(id: string, range?: MessageRange): ConversationRecord {
    try {
      const record = this.#host.journal.conversation(id, range);
      if (record.summary.kind === "conversation") return record;
    } catch (error) {
      if (!(error instanceof RunNotFoundError)) throw error;
    }
    throw new ServiceError(`There is no conversation ${JSON.stringify(id)}`, { code: "not-found" });
  }

  #noteEphemeral(id: string): void {
    if (!this.#host.isEphemeral) return;
    this.#ephemeral.add(id);
    for (const oldest of this.#ephemeral) {
      if (this.#ephemeral.size <= MOST_EPHEMERAL) return;
      if (this.#isForgotten(oldest)) this.#ephemeral.delete(oldest);
    }
  }

  /** False for one that makes a turn: it stays. */
  #isForgotten(id: string): boolean {
    try {
      this.#host.journal.remove(id);
      this.removed(id);
    } catch (error) {
      if (error instanceof RunOwnedError) return false;
      if (!(error instanceof RunNotFoundError)) throw error; // somebody has removed it
    }
    return true;
  }
}

function ofOwnBudget(id: string): ServiceError {
  return fieldError("budget", `budget: the conversation ${id} has the one that it began with; leave it out`);
}

/** Where a turn is made. */
type TurnPlace = Omit<TalkPlace, "isNew">;

async function begun(
  session: ConversationSession,
  make: (live: LiveConversation) => AsyncIterable<RunEvent>,
  signal: AbortSignal,
): Promise<AsyncIterable<RunEvent>> {
  return await begunTurn(session.turn(make, { signal }));
}

/** The turns of a conversation, one after the other. */
interface TurnSource {
  /** What there is from behind a `seq` on: of the turn under way, or of those that have ended. */
  read(options: { readonly after: number }): Promise<RunReader>;
  /** It takes no further turn. */
  isCompleted(): boolean;
  /** Calls back once, when the next turn begins or it was removed; gives what takes that back. */
  wake(reader: WakeReader): () => void;
}

/** Is told why it waits no longer. */
type WakeReader = (why: "turn" | "removed") => void;

/** Reads a conversation over all its turns, until it is completed. One `next` at a time. */
class TalkReader implements RunReader {
  readonly #source: TurnSource;
  #cursor: number;
  #turn: RunReader | undefined;
  #hasLeft = false;
  #wake = () => {};

  constructor(source: TurnSource, { after }: { readonly after: number }) {
    this.#source = source;
    this.#cursor = after;
  }

  async next(options: { readonly maxBytes: number }): Promise<readonly Frame[] | undefined> {
    while (!this.#hasLeft) {
      const began = this.#nextTurn(); // before it is read: what begins meanwhile is not missed
      try {
        this.#turn ??= await this.#source.read({ after: this.#cursor });
        const frames = this.#hasLeft ? undefined : await this.#turn.next(options);
        if (frames !== undefined) {
          for (const frame of frames) if ("event" in frame) this.#cursor = frame.event.seq;
          return frames;
        }
        this.#turn = undefined;
        if (this.#hasLeft) return undefined;
        if (!this.#source.isCompleted()) await began.promise;
        else if (!began.isBegun()) return undefined;
      } finally {
        began.forget();
      }
    }
    return undefined;
  }

  leave(): void {
    this.#hasLeft = true;
    this.#turn?.leave();
    this.#wake();
  }

  #nextTurn(): { readonly promise: Promise<void>; isBegun(): boolean; forget(): void } {
    const { promise, resolve } = Promise.withResolvers<void>();
    let isBegun = false;
    const forget = this.#source.wake((why) => {
      isBegun = true;
      this.#hasLeft ||= why === "removed";
      resolve();
    });
    this.#wake = resolve;
    return { promise, isBegun: () => isBegun, forget };
  }
}

/** What conversations need of whoever holds the project. */
export interface TalkHost {
  /** Of the project: real and absolute. */
  readonly root: string;
  /** Where they are kept; in memory where nothing is to be written. */
  readonly journal: Journal;
  /** What that journal masks. */
  readonly secrets: Secrets;
  readonly learnSlots?: TalkPlace["learnSlots"];
  /** Nothing outlives this process. */
  readonly isEphemeral: boolean;
  /** Takes a place among the runs of this process, for one turn. @throws {ServiceError} `busy`, `limit`, `stopping`, and what `begin` throws */
  turn(wish: TurnWish, begin: BeginTurn): Promise<RunHandle>;
  /** Asked last before a turn begins. @throws {ServiceError} `stopping` */
  assertGoing(): void;
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

/**
 * Opens a turn and begins it.
 *
 * @param at what it is opened with; its asks are those of the turn, and its signal stops it
 * @param drain stops it behind the steps that are under way when the process is about to end; absent where it could not be gone on with
 */
type BeginTurn = (at: StartPlace, drain: DrainRun | undefined) => Promise<BegunTurn>;

/** A turn that was begun, and what there was before. */
interface BegunTurn {
  readonly events: AsyncIterable<RunEvent>;
  /** `seq` of the last event of before; 0 where there was none. */
  readonly before: number;
  /** When its conversation began, ms since 1970; absent: now. */
  readonly startedAt?: number;
}
