import {
  ConversationError,
  isRecord,
  type JsonObject,
  type LogEntry,
  type RunEvent,
  type RunTrace,
  splitWords,
  type User,
  type Words,
} from "../../core/core.ts";
import type { TalkState } from "../../service/service.ts";
import { type Decisions, settleSteps } from "../../service/start/settle.ts";
import type { TalkLive, TalkSession } from "../conversation/talk.ts";
import { ServerError, type StartedRun } from "./client.ts";
import { cancelling, eventsOf, type FollowThere } from "./perform.ts";

/** How a conversation at a server is held. */
export interface TalkThereOptions extends FollowThere {
  /** What begins it; undefined where it is one that the server has. */
  readonly wish?: Readonly<Record<string, unknown>>;
  /** One that the server has. */
  readonly state?: TalkState;
  /** What is kept of it. */
  readonly trace?: RunTrace;
  /** Its log is wanted with the steps that said each message. Default: without them. */
  readonly withSteps?: boolean;
}

const BUSY_WITH_IT: ReadonlySet<string> = new Set([
  "empty",
  "busy",
  "ended",
  "interrupted",
  "changed",
  "nothing",
  "gone",
]);

/** A conversation of a server, held as one of this process: each of its turns is asked for, followed, and then it is looked at anew. */
export class TalkThere implements TalkSession, TalkLive {
  readonly #options: TalkThereOptions;
  #id: string;
  #state: TalkState | undefined;
  #log: readonly LogEntry[] = [];
  /** `seq` of the last event that it has told. */
  #told: number;
  /** The same before its last turn. */
  #before: number;
  #decisions: Decisions = { rerun: [], skip: [] };
  #signal = new AbortController().signal;

  constructor(options: TalkThereOptions) {
    const { state, trace } = options;
    this.#options = options;
    this.#id = state?.id ?? "";
    this.#told = lastSeq(trace);
    this.#before = (trace?.events.findLast(({ type }) => type === "run-start")?.seq ?? 1) - 1;
    this.#know(state);
  }

  get live(): TalkLive {
    return this;
  }

  get id(): string {
    return this.#id;
  }

  get status(): TalkLive["status"] {
    return this.isInterrupted ? "running" : this.#state?.status ?? "held";
  }

  get turns(): number {
    return this.#state?.turns ?? 0;
  }

  get log(): readonly LogEntry[] {
    return this.#log;
  }

  slots(): JsonObject {
    return this.#state?.slots ?? {};
  }

  start(): AsyncIterable<RunEvent> {
    return this.#id === ""
      ? this.#turn("/v1/conversations", { ...this.#options.wish })
      : this.#turn(`/v1/conversations/${this.#id}/retry`, {});
  }

  say(words: Words): AsyncIterable<RunEvent> {
    const { text, media } = splitWords(words);
    const files = media?.map(({ name, data }) => ({ name, data }));
    return this.#turn(`/v1/conversations/${this.#id}/messages`, { text, files });
  }

  retry(): AsyncIterable<RunEvent> {
    const ask = this.#options.user.canAnswer;
    return this.#turn(`/v1/runs/${this.#id}/resume`, { ...this.#decisions, ask }, this.isInterrupted);
  }

  get isInterrupted(): boolean {
    return this.#state?.interrupted === true;
  }

  async *turn(
    make: (live: TalkLive) => AsyncIterable<RunEvent>,
    { signal }: { readonly signal: AbortSignal },
  ): AsyncGenerator<RunEvent> {
    this.#signal = signal;
    yield* make(this);
  }

  /** What is said here is sent when the turn is tried again. */
  async settle(
    { user, decisions }: { readonly user: User; readonly decisions: Decisions },
  ): ReturnType<TalkSession["settle"]> {
    const { client, trace } = this.#options;
    const { left, ...settled } = await decidedThere(trace ?? await client.trace(this.#id), {
      user,
      decisions,
    });
    this.#decisions = settled;
    return left;
  }

  async back(count: number): ReturnType<TalkSession["back"]> {
    const { client } = this.#options;
    const turns = this.turns + (this.isInterrupted ? 1 : 0);
    if (count > turns) {
      throw new RangeError(`There ${turns === 1 ? "is 1 turn" : `are ${turns} turns`} to take back`);
    }
    this.#know(await client.back(this.#id, count));
    this.#told = lastSeq(await client.trace(this.#id));
    return { turn: this.turns };
  }

  /** It belongs to the server. */
  close(): void {}

  /** @param isAgain it is the last one, which was interrupted: what it had told is told again, so that what comes has its place */
  async *#turn(
    path: string,
    body: Readonly<Record<string, unknown>>,
    isAgain = false,
  ): AsyncGenerator<RunEvent> {
    const { client, withSteps = false } = this.#options;
    const signal = this.#signal;
    const begun: Promise<StartedRun> = isAgain
      ? client.json(path, isRecord, body).then(() => ({ id: this.#id }))
      : client.begin(path, body);
    const { id, body: told } = await begun.catch((error) => {
      const isRefused = error instanceof ServerError && BUSY_WITH_IT.has(error.code);
      throw isRefused ? refusal(error) : error;
    });
    this.#id = id;
    if (isAgain) this.#told = this.#before;
    else this.#before = this.#told;
    this.#decisions = { rerun: [], skip: [] };
    using _cancelling = cancelling(id, { ...this.#options, stop: { signal } });
    const frames = client.frames(id, { after: this.#told, body: told });
    for await (const event of eventsOf(frames, { ...this.#options, id, stop: { signal } })) {
      this.#told = event.seq;
      yield event;
    }
    this.#know(await client.talk(id));
    if (withSteps) this.#log = (await client.trace(id)).messages;
  }

  #know(state: TalkState | undefined): void {
    this.#state = state;
    this.#id = state?.id ?? this.#id;
    this.#log = (state?.messages ?? []).filter(({ answered }) => answered !== false)
      .map(({ n, role, text }) => ({ n, who: role, text, steps: [] }));
  }
}

function lastSeq(trace: RunTrace | undefined): number {
  return trace?.events.at(-1)?.seq ?? 0;
}

function refusal({ message, code }: ServerError): ConversationError {
  return new ConversationError(message, code as ConversationError["code"]);
}

/** What is to be done with steps of a run whose end is not known: by the flags, or as the user says. */
export async function decidedThere(
  { steps }: Pick<RunTrace, "steps">,
  { user, decisions }: { readonly user: User; readonly decisions: Decisions },
): Promise<Decisions & { readonly left: Awaited<ReturnType<typeof settleSteps>> }> {
  const rerun: string[] = [];
  const skip: string[] = [];
  const left = await settleSteps({
    settle: (key, decision) => void (decision === "rerun" ? rerun : skip).push(key),
  }, { steps, decisions, user });
  return { rerun, skip, left };
}
