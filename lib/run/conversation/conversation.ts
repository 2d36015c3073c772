// A conversation as whoever holds it sees it. It belongs to a process only while a turn is made: between turns it is in the store, where
// any other one may go on with it.
import { MessageLog } from "../../conversation/message_log.ts";
import { type ConversationState, keptState, missingStep } from "../../conversation/position.ts";
import {
  type ConversationScope,
  ConversationSlots,
  preloadSlots,
  scopeOf,
  slotPath,
  type SlotValues,
} from "../../conversation/slots.ts";
import { stepTree } from "../../conversation/step_tree.ts";
import {
  ConversationError,
  type ConversationRecord,
  type Journal,
  type Json,
  type JsonObject,
  linkedSignal,
  type LogEntry,
  messageOf,
  objectOrEmpty,
  RunEndedError,
  type RunEvent,
  type RunJournal,
  RunNotFoundError,
  RunOwnedError,
  type RunStart,
} from "../../core/core.ts";
import type { AgentFile } from "../../parse/agent/agent.ts";
import { readAgentFile } from "../../parse/agent/read.ts";
import { runConversationTurn, type TurnStart } from "./turn.ts";
import { busyError, type ConversationMeans, endedError } from "./work.ts";
import type { Replay } from "../replay/replay.ts";
import type { RunOptions } from "../run.ts";

/** Where a conversation is. `running`: a turn is being made, or was begun by a process that is gone. */
export type ConversationStatus = "running" | "held" | "completed" | "failed";

/** A conversation of one agent with one person (conversations.md 2.1). */
export interface Conversation {
  readonly id: string;
  readonly status: ConversationStatus;
  /** What was said, oldest first. */
  readonly log: readonly LogEntry[];
  /** Finished turns. */
  readonly turns: number;
  /**
   * Begins it, up to the first hold that nothing answers. The events begin with the first read; leaving the loop early interrupts the turn,
   * unless it is over by then: `status` says so.
   *
   * @param message answers the first hold
   * @throws {ConversationError} for a blank message, and when it has begun
   */
  start(message?: string): AsyncIterable<RunEvent>;
  /** Answers it. One that has failed tries its step again, and has the text in its log. @throws {ConversationError} */
  say(text: string): AsyncIterable<RunEvent>;
  /** Tries the step that failed again, or finishes the turn that was interrupted. @throws {ConversationError} */
  retry(): AsyncIterable<RunEvent>;
  /** All slots as they are now, by `destination.name`. */
  slots(): Readonly<Record<string, Json>>;
}

/** What a conversation is made of. */
export interface ConversationHome
  extends
    Pick<RunOptions, "clock" | "signal" | "drain" | "secrets" | "approvals" | "containers" | "recorder"> {
  readonly agent: AgentFile;
  readonly means: ConversationMeans;
  readonly journal: Journal;
  readonly scope: ConversationScope;
  /** What its preloaded slots come from: `{user, module, session, …}`. */
  readonly context: Json;
  /** Slots that are set before the first step, by `destination.name`. */
  readonly given?: JsonObject;
  readonly maxSteps?: number;
  /** What was kept of it besides, to be able to go on with it: the options that count. */
  readonly about?: JsonObject;
  /** Answers the effects of the turn that is about to be made. Default: they are performed. */
  readonly replay?: () => Replay;
  /** The run of the journal was taken over for a turn, of which nothing was made yet. */
  readonly onOpen?: (run: RunJournal) => void;
}

/** What a turn is made for. */
interface Wanted {
  readonly kind: "start" | "say" | "retry";
  readonly text?: string;
}

/** The events of a turn that is being made; each is noted when it is taken. */
interface MadeTurn {
  next(): Promise<RunEvent | undefined>;
}

/** A conversation whose turns are runs of one journal. */
export class LiveConversation implements Conversation {
  readonly id: string;
  readonly #home: ConversationHome;
  readonly #log: MessageLog;
  #state: ConversationState | undefined;
  #turns = 0;
  #isBusy = false;
  /** A turn was begun and not finished. */
  #isOpen = false;
  #isStored = false;
  /** It could not be given back: the store could not be written. */
  #unreleased: RunJournal | undefined;

  private constructor(id: string, home: ConversationHome, messages: number) {
    this.id = id;
    this.#home = home;
    this.#log = new MessageLog(messages, (from) => home.journal.conversation(id, { from }).messages);
  }

  /** A new one; the store has it from its first turn on. @param id that no other run has */
  static begin(id: string, home: ConversationHome): LiveConversation {
    return new LiveConversation(id, home, 0);
  }

  /**
   * One that the store has. It stays that of its user, module and session.
   *
   * @param id a unique beginning of at least 4 characters is enough
   * @throws {ConversationError} `gone`
   */
  static open(id: string, home: ConversationHome): LiveConversation {
    const { summary, run, checkpoint, isOpen } = readStored(home.journal, id);
    const scoped = { ...home, scope: storedScope(run) ?? home.scope };
    const live = new LiveConversation(summary.id, scoped, checkpoint?.messages ?? 0);
    if (checkpoint !== undefined) {
      live.#take({ n: checkpoint.n, state: keptState(checkpoint.state), messages: [] });
    }
    live.#isStored = true;
    live.#isOpen = isOpen;
    return live;
  }

  get status(): ConversationStatus {
    return this.#isBusy || this.#isOpen ? "running" : this.#state?.status ?? "held";
  }

  get log(): readonly LogEntry[] {
    return this.#log.all();
  }

  get turns(): number {
    return this.#turns;
  }

  /** Why it failed. */
  get error(): string | undefined {
    return this.#state?.error;
  }

  start(message?: string): AsyncIterable<RunEvent> {
    return this.#events({ kind: "start", text: message });
  }

  say(text: string): AsyncIterable<RunEvent> {
    return this.#events({ kind: "say", text });
  }

  retry(): AsyncIterable<RunEvent> {
    return this.#events({ kind: "retry" });
  }

  slots(): Readonly<Record<string, Json>> {
    return new ConversationSlots({ conversation: this.#state?.slots ?? {}, ...this.#scoped() }).all;
  }

  #events(wanted: Wanted): AsyncIterable<RunEvent> {
    return { [Symbol.asyncIterator]: () => this.#turn(wanted) };
  }

  /** Whoever reads the last event may answer at once; whoever leaves before waits until the turn has stopped. */
  async *#turn(wanted: Wanted): AsyncGenerator<RunEvent> {
    assertText(wanted);
    if (this.#isBusy) throw busyError();
    if (wanted.text?.trim() === "") throw new ConversationError("The message is empty.", "empty");
    this.#isBusy = true;
    const left = new AbortController();
    using stop = linkedSignal([this.#home.signal, left.signal]);
    let turn: MadeTurn | undefined;
    let isOver = false;
    try {
      turn = this.#begin(wanted, stop.signal);
      for (let event = await turn.next(); event !== undefined; event = await turn.next()) {
        isOver = event.type === "run-end";
        if (isOver) this.#isBusy = false;
        yield event;
      }
    } finally {
      if (!isOver) {
        left.abort(new DOMException("nobody reads the turn any more", "AbortError"));
        while (await turn?.next() !== undefined);
        this.#isBusy = false;
      }
    }
  }

  /** @throws {ConversationError} */
  #begin(wanted: Wanted, signal: AbortSignal): MadeTurn {
    if (!this.#isStored) {
      const start = this.#startOf(wanted);
      return this.#made({ journal: this.#create(), start, signal });
    }
    if (this.#state?.status === "completed") this.#startOf(wanted); // it stays so
    this.#release();
    const journal = openStored(this.#home.journal, this.id);
    try {
      this.#home.onOpen?.(journal);
      this.#catchUp(journal);
      const start = this.#startOf(wanted);
      keepAgent(journal, this.#home.agent);
      return this.#made({ journal, start, signal });
    } catch (error) {
      leaveStored(journal);
      throw error;
    }
  }

  #create(): RunJournal {
    const created = this.#home.journal.create({ ...conversationStart(this.#home), id: this.id });
    this.#isStored = true;
    return created;
  }

  /** Somebody else may have gone on with it. */
  #catchUp(opened: RunJournal): void {
    const { checkpoint } = opened;
    this.#isOpen = readStored(this.#home.journal, this.id).isOpen;
    if (checkpoint === undefined || checkpoint.n === this.#turns) return;
    const messages = opened.messages({ from: this.#log.length + 1 });
    this.#take({ n: checkpoint.n, state: keptState(checkpoint.state), messages });
  }

  #made({ journal, start, signal }: {
    readonly journal: RunJournal;
    readonly start: TurnStart | undefined;
    readonly signal: AbortSignal;
  }): MadeTurn {
    const { agent, means, scope, maxSteps, context: _context, given: _given, about: _about, replay, ...run } =
      this.#home;
    let saved: { readonly status: string; take(): void } | undefined;
    const turn = runConversationTurn({
      ...run,
      replay: replay?.(),
      signal,
      journal,
      agent,
      storedAgent: (hash) =>
        replay === undefined ? storedAgent(journal, { file: agent.file, hash }) : Promise.resolve(agent),
      means,
      scope,
      turn: this.#turns + 1,
      state: this.#state,
      log: this.#log,
      start,
      maxSteps,
      save: (changes, state) => {
        journal.save(changes);
        const n = this.#turns + 1;
        saved = {
          status: state.status,
          take: () => this.#take({ n, state, messages: changes.messages }),
        };
      },
    });
    this.#isOpen = true;
    const events = turn[Symbol.asyncIterator]();
    return {
      next: async () => {
        const { value: event, done } = await events.next();
        if (done === true) return undefined;
        if (event.type === "run-end") {
          if (event.reason === "journal") this.#release(journal);
          else if (event.status === saved?.status) {
            saved.take();
            this.#isOpen = false;
          }
        }
        return event;
      },
    };
  }

  /** A store that cannot be written may be written again later: the next turn hears of it. */
  #release(broken?: RunJournal): void {
    this.#unreleased ??= broken;
    try {
      this.#unreleased?.release("stopped");
      this.#unreleased = undefined;
    } catch (error) {
      const isTaken = error instanceof RunOwnedError || error instanceof RunNotFoundError;
      if (isTaken) this.#unreleased = undefined; // somebody else has given it back, or has it
      else if (broken === undefined) throw error;
    }
  }

  /** What the turn begins with; undefined: it has begun. @throws {ConversationError} when the conversation does not take it now */
  #startOf({ kind, text }: Wanted): TurnStart | undefined {
    const isUnbegun = this.#state === undefined && !this.#isOpen;
    switch (kind) {
      case "start":
        if (!isUnbegun) {
          throw new ConversationError("This conversation has begun already: answer it with say()", "busy");
        }
        return this.#turnStart({ text, isFirst: true });
      case "say":
        if (this.#isOpen) {
          throw new ConversationError(
            "The last turn of this conversation was interrupted: finish it with retry() first",
            "interrupted",
          );
        }
        if (this.#state?.status === "completed") throw endedError();
        this.#assertAgent();
        return this.#turnStart({ text, isFirst: isUnbegun });
      case "retry":
        if (this.#isOpen) return undefined;
        if (this.#state?.status !== "failed") {
          throw new ConversationError("There is nothing to try again: the last turn was finished", "nothing");
        }
        this.#assertAgent();
        return this.#turnStart({ text, isFirst: false });
      default:
        return kind satisfies never;
    }
  }

  #turnStart(
    { text, isFirst }: { readonly text: string | undefined; readonly isFirst: boolean },
  ): TurnStart {
    const { agent, context, given = {} } = this.#home;
    return {
      hash: agent.hash,
      text,
      slots: this.#scoped(),
      ...(isFirst && {
        preloaded: preloadSlots(agent, context),
        given: Object.entries(given).map(([key, value]) => ({ path: slotPath(key), value })),
      }),
    };
  }

  #scoped(): Omit<SlotValues, "conversation"> {
    const { journal, scope } = this.#home;
    return {
      session: journal.slots(scopeOf("session", scope)),
      module: journal.slots(scopeOf("module", scope)),
      global: journal.slots(scopeOf("global", scope)),
    };
  }

  #take({ n, state, messages }: {
    readonly n: number;
    readonly state: ConversationState;
    readonly messages: readonly LogEntry[];
  }): void {
    this.#turns = n;
    this.#state = state;
    this.#log.push(...messages);
  }

  /** Another agent file has to have the steps at which the conversation stands. */
  #assertAgent(): void {
    const { agent } = this.#home;
    const { position, hash } = this.#state ?? {};
    if (position === undefined || hash === agent.hash) return;
    const missing = missingStep(stepTree(agent), position);
    if (missing === undefined) return;
    throw new ConversationError(
      `The agent file changed and step "${missing}" is gone; start a new conversation.`,
      "changed",
    );
  }
}

/** Of a program without types: what is no text is no answer. @throws {TypeError} */
function assertText({ kind, text }: Wanted): void {
  if (typeof text === "string" || (text === undefined && kind !== "say")) return;
  throw new TypeError(`${kind}() takes the text of a message, found ${text === null ? "null" : typeof text}`);
}

// A conversation in its store: taken over for a turn, looked at, and the agent files that are kept with it.

/** Takes it over for a turn. @throws {ConversationError} `busy`, `ended`, `gone` */
function openStored(journal: Journal, id: string): RunJournal {
  try {
    return journal.open(id);
  } catch (error) {
    if (error instanceof RunOwnedError) throw busyError(error);
    if (error instanceof RunEndedError) throw endedError(error);
    throw error instanceof RunNotFoundError ? goneError(error) : error;
  }
}

/** What is kept of one at its beginning. */
export function conversationStart(
  { agent, scope, about }: Pick<ConversationHome, "agent" | "scope" | "about">,
): RunStart {
  const files = [{ path: agent.file, text: agent.text }];
  return { kind: "conversation", file: agent.file, files, input: { agent: agent.id, ...scope, ...about } };
}

/** Gives it back as it was. */
function leaveStored(opened: RunJournal): void {
  opened.release(opened.resumedFrom === "held" ? "held" : "stopped");
}

/** Looks at it. @throws {ConversationError} `gone`, also for a run that is no conversation */
function readStored(journal: Journal, id: string): Omit<ConversationRecord, "messages"> {
  try {
    const record = journal.conversation(id, { last: 0 });
    const { kind } = record.summary;
    if (kind === "conversation") return record;
    throw new ConversationError(`Run "${id}" is no conversation: it is of the kind "${kind}"`, "gone");
  } catch (error) {
    throw error instanceof RunNotFoundError ? goneError(error) : error;
  }
}

/** Whose slots it has had from its beginning; undefined when that was not kept. */
function storedScope({ input }: Pick<RunStart, "input">): ConversationScope | undefined {
  const { user, module, session } = objectOrEmpty(input);
  const isKept = typeof user === "string" && typeof module === "string" && typeof session === "string";
  return isKept ? { user, module, session } : undefined;
}

/** Keeps an agent file with it, unless it has it. */
function keepAgent(opened: RunJournal, { file, hash, text }: AgentFile): void {
  const isKept = opened.run.files?.some((stored) => stored.text === text) ?? false;
  if (!isKept) opened.file({ path: `${file}@${hash}`, text });
}

/** The agent file that began a turn, as it was then. @throws {Error} when it is not with the conversation */
async function storedAgent(
  { run, id }: RunJournal,
  { file, hash }: Pick<AgentFile, "file" | "hash">,
): Promise<AgentFile> {
  for (const { text } of run.files ?? []) {
    const { agent } = await readAgentFile(text, { file });
    if (agent?.hash === hash) return agent;
  }
  throw new Error(
    `The file of the agent with which this turn began is not with conversation "${id}" any more`,
  );
}

function goneError(error: unknown): ConversationError {
  return new ConversationError(messageOf(error), "gone", { cause: error });
}
