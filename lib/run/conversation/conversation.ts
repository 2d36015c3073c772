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
  type MediaNote,
  type MediaPart,
  messageOf,
  noteOf,
  objectOrEmpty,
  RunEndedError,
  type RunEvent,
  type RunJournal,
  RunNotFoundError,
  RunOwnedError,
  type RunStart,
  splitWords,
  turnKey,
  type Words,
  wordsFrom,
} from "../../core/core.ts";
import type { AgentFile } from "../../parse/agent/agent.ts";
import { readAgentFile } from "../../parse/agent/read.ts";
import { readTurnStart, runConversationTurn, type TurnStart } from "./turn.ts";
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
  start(message?: Words): AsyncIterable<RunEvent>;
  /** Answers it. One that has failed tries its step again, and has the text in its log. @throws {ConversationError} */
  say(words: Words): AsyncIterable<RunEvent>;
  /** Tries the step that failed again, or finishes the turn that was interrupted. @throws {ConversationError} */
  retry(): AsyncIterable<RunEvent>;
  /** All slots as they are now, by `destination.name`. */
  slots(): Readonly<Record<string, Json>>;
}

/** What a conversation is made of. */
export interface ConversationHome extends
  Pick<
    RunOptions,
    "clock" | "signal" | "drain" | "secrets" | "approvals" | "containers" | "recorder" | "observer" | "effort"
  > {
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
  readonly words?: Words;
}

/** The events of a turn that is being made; each is noted when it is taken. */
interface MadeTurn {
  next(): Promise<RunEvent | undefined>;
}

/** A conversation whose turns are runs of one journal. */
export interface LiveConversation extends Conversation {
  /** Why it failed. */
  readonly error: string | undefined;
}

/** A new one; the store has it from its first turn on. @param id that no other run has */
export function newConversation(id: string, home: ConversationHome): LiveConversation {
  return liveConversation(id, home);
}

/**
 * One that the store has. It stays that of its user, module and session.
 *
 * @param id a unique beginning of at least 4 characters is enough
 * @throws {ConversationError} `gone`
 */
export function storedConversation(id: string, home: ConversationHome): LiveConversation {
  const stored = readStored(home.journal, id);
  return liveConversation(
    stored.summary.id,
    { ...home, scope: storedScope(stored.run) ?? home.scope },
    stored,
  );
}

function liveConversation(
  id: string,
  home: ConversationHome,
  stored?: Pick<ConversationRecord, "checkpoint" | "isOpen">,
): LiveConversation {
  const checkpoint = stored?.checkpoint;
  let state = checkpoint && keptState(checkpoint.state);
  let turns = checkpoint?.n ?? 0;
  let isBusy = false;
  /** A turn was begun and not finished. */
  let isOpen = stored?.isOpen ?? false;
  let isStored = stored !== undefined;
  /** It could not be given back: the store could not be written. */
  let unreleased: RunJournal | undefined;
  const log = new MessageLog(
    checkpoint?.messages ?? 0,
    (from) => withMedia(home.journal.conversation(id, { from }).messages),
  );

  function eventsOf(wanted: Wanted): AsyncIterable<RunEvent> {
    return { [Symbol.asyncIterator]: () => turnFor(wanted) };
  }

  /** Whoever reads the last event may answer at once; whoever leaves before waits until the turn has stopped. */
  async function* turnFor(wanted: Wanted): AsyncGenerator<RunEvent> {
    assertWords(wanted);
    if (isBusy) throw busyError();
    if (typeof wanted.words === "string" && wanted.words.trim() === "") {
      throw new ConversationError("The message is empty.", "empty");
    }
    isBusy = true;
    const left = new AbortController();
    using stop = linkedSignal([home.signal, left.signal]);
    let turn: MadeTurn | undefined;
    let isOver = false;
    try {
      turn = begin(wanted, stop.signal);
      for (let event = await turn.next(); event !== undefined; event = await turn.next()) {
        isOver = event.type === "run-end";
        if (isOver) isBusy = false;
        yield event;
      }
    } finally {
      if (!isOver) {
        left.abort(new DOMException("nobody reads the turn any more", "AbortError"));
        while (await turn?.next() !== undefined);
        isBusy = false;
      }
    }
  }

  /** @throws {ConversationError} */
  function begin(wanted: Wanted, signal: AbortSignal): MadeTurn {
    if (!isStored) {
      const start = startOf(wanted);
      return madeTurn({ journal: create(), start, signal });
    }
    if (state?.status === "completed") startOf(wanted); // it stays so
    release();
    const journal = openStored(home.journal, id);
    try {
      home.onOpen?.(journal);
      catchUp(journal);
      const start = startOf(wanted);
      keepAgent(journal, home.agent);
      return madeTurn({ journal, start, signal });
    } catch (error) {
      leaveStored(journal);
      throw error;
    }
  }

  function create(): RunJournal {
    const created = home.journal.create({ ...conversationStart(home), id });
    isStored = true;
    return created;
  }

  /** Somebody else may have gone on with it. */
  function catchUp(opened: RunJournal): void {
    const { checkpoint } = opened;
    isOpen = readStored(home.journal, id).isOpen;
    if (checkpoint === undefined || checkpoint.n === turns) return;
    const messages = withMedia(opened.messages({ from: log.length + 1 }));
    take({ n: checkpoint.n, state: keptState(checkpoint.state), messages });
  }

  /** The store names media alone; whole they are in what began the turns. */
  function withMedia(entries: readonly LogEntry[]): readonly LogEntry[] {
    const wanted = new Set(
      entries.flatMap(({ media = [] }) => media.flatMap((each) => "sha256" in each ? [each.sha256] : [])),
    );
    if (wanted.size === 0) return entries;
    const found = new Map<string, MediaPart>();
    const newest = home.journal.conversation(id, { last: 0 }).checkpoint?.n ?? 0;
    for (let n = newest; n > 0 && found.size < wanted.size; n--) {
      const outcome = home.journal.outcome(id, turnKey(n));
      const start = outcome !== undefined && "ok" in outcome ? readTurnStart(outcome.ok) : undefined;
      for (const part of start?.media ?? []) found.set(noteOf(part).sha256, part);
    }
    const whole = (each: MediaPart | MediaNote) => "sha256" in each ? found.get(each.sha256) ?? each : each;
    return entries.map((entry) => ({ ...entry, media: entry.media?.map(whole) }));
  }

  function madeTurn({ journal, start, signal }: {
    readonly journal: RunJournal;
    readonly start: TurnStart | undefined;
    readonly signal: AbortSignal;
  }): MadeTurn {
    const { agent, means, scope, maxSteps, context: _context, given: _given, about: _about, replay, ...run } =
      home;
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
      turn: turns + 1,
      state,
      log,
      start,
      maxSteps,
      save: (changes, state) => {
        journal.save(changes);
        const n = turns + 1;
        saved = {
          status: state.status,
          take: () => take({ n, state, messages: changes.messages }),
        };
      },
    });
    isOpen = true;
    const events = turn[Symbol.asyncIterator]();
    return {
      next: async () => {
        const { value: event, done } = await events.next();
        if (done === true) return undefined;
        if (event.type === "run-end") {
          if (event.reason === "journal") release(journal);
          else if (event.status === saved?.status) {
            saved.take();
            isOpen = false;
          }
        }
        return event;
      },
    };
  }

  /** A store that cannot be written may be written again later: the next turn hears of it. */
  function release(broken?: RunJournal): void {
    unreleased ??= broken;
    try {
      unreleased?.release("stopped");
      unreleased = undefined;
    } catch (error) {
      const isTaken = error instanceof RunOwnedError || error instanceof RunNotFoundError;
      if (isTaken) unreleased = undefined; // somebody else has given it back, or has it
      else if (broken === undefined) throw error;
    }
  }

  /** What the turn begins with; undefined: it has begun. @throws {ConversationError} when the conversation does not take it now */
  function startOf({ kind, words }: Wanted): TurnStart | undefined {
    const isUnbegun = state === undefined && !isOpen;
    switch (kind) {
      case "start":
        if (!isUnbegun) {
          throw new ConversationError("This conversation has begun already: answer it with say()", "busy");
        }
        return turnStart({ words, isFirst: true });
      case "say":
        if (isOpen) {
          throw new ConversationError(
            "The last turn of this conversation was interrupted: finish it with retry() first",
            "interrupted",
          );
        }
        if (state?.status === "completed") throw endedError();
        assertAgent();
        return turnStart({ words, isFirst: isUnbegun });
      case "retry":
        if (isOpen) return undefined;
        if (state?.status !== "failed") {
          throw new ConversationError("There is nothing to try again: the last turn was finished", "nothing");
        }
        assertAgent();
        return turnStart({ words, isFirst: false });
      default:
        return kind satisfies never;
    }
  }

  function turnStart(
    { words, isFirst }: { readonly words: Words | undefined; readonly isFirst: boolean },
  ): TurnStart {
    const { agent, context, given = {} } = home;
    return {
      hash: agent.hash,
      ...(words !== undefined && splitWords(words)),
      slots: scoped(),
      ...(isFirst && {
        preloaded: preloadSlots(agent, context),
        given: Object.entries(given).map(([key, value]) => ({ path: slotPath(key), value })),
      }),
    };
  }

  function scoped(): Omit<SlotValues, "conversation"> {
    const { journal, scope } = home;
    return {
      session: journal.slots(scopeOf("session", scope)),
      module: journal.slots(scopeOf("module", scope)),
      global: journal.slots(scopeOf("global", scope)),
    };
  }

  function take(taken: {
    readonly n: number;
    readonly state: ConversationState;
    readonly messages: readonly LogEntry[];
  }): void {
    turns = taken.n;
    state = taken.state;
    log.push(...taken.messages);
  }

  /** Another agent file has to have the steps at which the conversation stands. */
  function assertAgent(): void {
    const { agent } = home;
    const { position, hash } = state ?? {};
    if (position === undefined || hash === agent.hash) return;
    const missing = missingStep(stepTree(agent), position);
    if (missing === undefined) return;
    throw new ConversationError(
      `The agent file changed and step "${missing}" is gone; start a new conversation.`,
      "changed",
    );
  }

  return {
    id,
    get status() {
      return isBusy || isOpen ? "running" : state?.status ?? "held";
    },
    get log() {
      return log.all();
    },
    get turns() {
      return turns;
    },
    get error() {
      return state?.error;
    },
    start: (words) => eventsOf({ kind: "start", words }),
    say: (words) => eventsOf({ kind: "say", words }),
    retry: () => eventsOf({ kind: "retry" }),
    slots: () => new ConversationSlots({ conversation: state?.slots ?? {}, ...scoped() }).all,
  };
}

/** Of a program without types: what is no text is no answer. @throws {TypeError} */
function assertWords({ kind, words }: Wanted): void {
  if (wordsFrom(words) !== undefined || (words === undefined && kind !== "say")) return;
  throw new TypeError(
    `${kind}() takes the text of a message, found ${words === null ? "null" : typeof words}`,
  );
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
