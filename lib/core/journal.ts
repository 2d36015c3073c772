// The port of the journal (turn.md 3). All methods are synchronous: what has returned is durable, and nothing that depends on
// an outcome can run before its commit.
import type { RunEvent, StepError, StepKind } from "./event.ts";
import type { Json } from "./json.ts";
import type { MediaNote, MediaPart } from "./media.ts";
import type { Usage } from "./model.ts";

/** Where a run is. `running` with a dead owner may be resumed, as may `held` and `stopped`. */
export type JournalStatus = "running" | "held" | "done" | "failed" | "stopped";

/** A file that a run uses, kept with it: a resumed run is the same program. */
export interface StoredFile {
  /** Relative to the project root where it lies inside. */
  readonly path: string;
  readonly text: string;
}

/** What begins a run. */
export interface RunStart {
  /** `calls`, `ask`, `chat`, ...: who can resume it. */
  readonly kind: string;
  /** The file it was started from, as given. */
  readonly file?: string;
  readonly files?: readonly StoredFile[];
  /** What the engine needs to begin again: the text asked, the options that count. */
  readonly input: Json;
  /** Default: a new random one. */
  readonly id?: string;
}

/** A run as lists show it. */
export interface RunSummary {
  readonly id: string;
  readonly kind: string;
  readonly file?: string;
  readonly status: JournalStatus;
  /** True while its owner lives. */
  readonly owned: boolean;
  /** ms since 1970. */
  readonly startedAt: number;
  readonly updatedAt: number;
  readonly steps: number;
  readonly usage: Usage;
  /** It is `stopped` since what it did last has failed; it can go on. */
  readonly hasFailed?: true;
}

/** Which runs a list has: those that are all of it. */
export interface RunQuery {
  /** As it is kept: one whose owner has died is `running` still. */
  readonly status?: JournalStatus;
  /** As lists show it: then it is `stopped`. */
  readonly standing?: JournalStatus;
  readonly kind?: string;
  /** As given at the start. */
  readonly file?: string;
  /** So many of the newest. Default: all. */
  readonly limit?: number;
}

/** How a step ended. */
export type StepOutcome = { readonly ok: Json } | { readonly error: StepError };

/** One effect, as the engine is about to perform it. */
export interface StepStart {
  /** Its place and visit: `call:fetch_users`, `turn[1]/model`. */
  readonly key: string;
  readonly kind: StepKind;
  /** What is called: a gadget, a model, a URL. */
  readonly name: string;
  /** Compared with the recorded one. */
  readonly input: Json;
  /** Safe to perform again when it was started and its end is not known. */
  readonly idempotent: boolean;
}

/** A step as it is kept. */
export interface StepRecord extends StepStart {
  readonly status: "started" | "finished";
  readonly outcome?: StepOutcome;
  /** What a model had said up to its last completed call, piece by piece, when the step has not ended. */
  readonly prefix?: readonly Json[];
  /** ms of the run's own time, as in its events: what lies between two processes does not count. */
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly attempt: number;
}

/** What the journal says when a step is about to begin. */
export type StepTurn =
  /** Not there yet, or safe to do again: perform it. `prefix` has the pieces that earlier attempts had committed of it, at least one. */
  | { readonly do: "perform"; readonly attempt: number; readonly prefix?: readonly Json[] }
  /** It was done: this is what came of it. `ms` is how long it took. */
  | { readonly do: "answer"; readonly outcome: StepOutcome; readonly ms: number; readonly attempt: number }
  /** It was started, has no outcome, and may not be done again unasked. */
  | { readonly do: "unverified"; readonly attempt: number };

/** How the start of a step is kept. */
export interface BeginOptions {
  /** Default false. */
  readonly isDeferred?: boolean;
}

/** A process as an owner of runs. */
export interface RunOwner {
  /** The name of its machine. */
  readonly host: string;
  readonly pid: number;
  /** Tells it from an earlier process of the same number; absent where that cannot be known. */
  readonly startedAt?: string;
}

/** Which messages of a log. */
export interface MessageRange {
  /** Those from this `n` on. Default 1. */
  readonly from?: number;
  /** So many of the newest of them. Default: all. */
  readonly last?: number;
}

/** Which events of a run, and how much of them at once. */
export interface EventRange {
  /** Those whose `seq` is above this one. Default 0: from the first on. */
  readonly after?: number;
  /** So many at most. Default: all. */
  readonly limit?: number;
  /** No more once there is so much of their JSON, roughly; at least one. Default: all. */
  readonly maxBytes?: number;
}

/** A run as traces and exports show it. */
export interface RunTrace {
  readonly summary: RunSummary;
  readonly run: RunStart;
  readonly steps: readonly StepRecord[];
  readonly events: readonly RunEvent[];
  /** The whole log; empty for what is no conversation. */
  readonly messages: readonly LogEntry[];
  /** Oldest first. */
  readonly checkpoints: readonly Pick<Checkpoint, "n" | "messages">[];
}

/** A conversation between two turns. */
export interface ConversationRecord {
  readonly summary: RunSummary;
  readonly run: RunStart;
  /** The newest one; absent before the end of its first turn. */
  readonly checkpoint: Checkpoint | undefined;
  /** Those that were asked for. */
  readonly messages: readonly LogEntry[];
  /** A turn has begun behind the checkpoint, and has not ended. One whose beginning is not kept has not begun. */
  readonly isOpen: boolean;
  /** What the person said at its beginning: it is in no log before its end. Absent: nothing. */
  readonly said?: string;
}

/** The journal of one run, held by its owner until `release`, or until the whole journal is disposed of: then it is `stopped`. */
export interface RunJournal {
  readonly id: string;
  /** `running` until its release. */
  readonly status: JournalStatus;
  /** What was stored at the start. */
  readonly run: RunStart;
  /** The newest one when the run was opened; `undefined` before the end of a first turn, and for what is no conversation. */
  readonly checkpoint: Checkpoint | undefined;
  /** The events told behind the checkpoint, oldest first: all when there is none, none for a new run. */
  readonly events: readonly RunEvent[];
  /** `seq` of the last event when the run was opened; 0 for a new one. */
  readonly lastSeq: number;
  /** `at` of the last event when the run was opened, ms; 0 for a new one. */
  readonly lastAt: number;
  /** What was used before `events`: with what they tell of it is all until the opening. */
  readonly usage: Usage;
  /** Where the run was when it was opened: `undefined` for a new one. */
  readonly resumedFrom: JournalStatus | undefined;
  /**
   * Looks the step up and notes its start; the start of a step that is not idempotent is durable on return, or, when it `isDeferred`,
   * with the next commit: the caller sees to it that nothing of the step happens before.
   *
   * @throws {DivergedError} when the recorded step has another input, kind or name.
   */
  begin(step: StepStart, options?: BeginOptions): StepTurn;
  /** Commits the outcome of a begun step together with the events told since the last commit. */
  finish(key: string, outcome: StepOutcome): void;
  /** The same, durable with the next commit only: the caller sees to it that nothing that depends on it happens before. */
  end(key: string, outcome: StepOutcome): void;
  /** Makes all that waits durable; does nothing when nothing waits. */
  commit(): void;
  /**
   * Takes what a model has said since the piece before. Pieces are kept in their order until the step ends, another attempt's behind
   * those of the one before, and each is stored with the next commit: the start of a step that is not idempotent, and that the piece
   * led to, is one commit with it, and an idempotent step does not wait for one.
   */
  prefix(key: string, piece: Json): void;
  /** Takes an event; it is stored with the next commit. */
  tell(event: RunEvent): void;
  /** Text that is read once and not in any file (a pipe): appended, so that a resumed run reads the same; stored with the next commit. */
  file(stored: StoredFile): void;
  /**
   * Takes what a turn leaves behind, as one with the next commit: it ends in a checkpoint, before which lies whatever was told until then.
   *
   * @throws {Error} when `n` of a message does not go on where the log ends, or the run is in no journal; then nothing of it is taken
   */
  save(saved: ConversationSave): void;
  /** The log as it is kept, with what waits to be saved. */
  messages(options?: MessageRange): readonly LogEntry[];
  /** The slots of this scope and no other, with what waits to be saved. */
  slots(scope: SlotScope): Readonly<Record<string, Json>>;
  /**
   * What the user said of an unverified step: perform it again, or take it as done with this outcome.
   *
   * @throws {StepNotFoundError} when no such step was started; {Error} when it is not unverified.
   */
  settle(key: string, decision: "rerun" | { readonly outcome: StepOutcome }): void;
  /**
   * Of a journal whose commits are durable a while later only: settles when all of them so far are. Undefined where they are on return. What
   * others can see waits for it.
   *
   * @throws {Error} when they cannot be kept
   */
  whenKept?(): Promise<void> | undefined;
  /** Ends or pauses the run: commits what is left and gives up the lease. */
  release(status: JournalStatus, usage?: Usage): void;
}

/** All runs of a project. */
export interface Journal {
  /** The run is kept on return. @throws {Error} when `run.id` is taken. */
  create(run: RunStart): RunJournal;
  /**
   * Takes a run over, to go on with it.
   *
   * @param id A unique beginning of at least 4 characters is enough, here and below.
   * @throws {RunOwnedError} while another process owns it; {RunEndedError} when it is `done` or `failed`; {RunNotFoundError}, with the
   * nearest id.
   */
  open(id: string): RunJournal;
  /** Newest first. */
  list(options?: RunQuery): readonly RunSummary[];
  /** For traces: nothing is owned or changed. */
  read(id: string): RunTrace;
  /**
   * The events that were kept behind a place, in their order, as far as the bounds go; none when there are no more. What lies before the
   * place, and behind the bounds, is not read. Nothing is owned or changed.
   *
   * @throws {RunNotFoundError}
   */
  events(id: string, range?: EventRange): readonly RunEvent[];
  /**
   * Where a conversation is, however long it was: its steps and events are not read. Nothing is owned or changed.
   *
   * @param messages which of them the record has. Default: all
   */
  conversation(id: string, messages?: MessageRange): ConversationRecord;
  /** What came of a step that has ended. Nothing is owned or changed. */
  outcome(id: string, key: string): StepOutcome | undefined;
  /**
   * A new run, `stopped`, that has the steps which had ended when the step `from` began, and the events told till then; gives its id.
   *
   * @throws {StepNotFoundError}
   */
  fork(id: string, options: { readonly from: string }): string;
  /**
   * A new run, `held`, that stands where a conversation stood behind its turn `turn`, 0 being its beginning; gives its id. It has the
   * checkpoints and the messages of that time, the events told till then and the steps that began before; scoped slots are as they are now.
   *
   * @throws {TurnNotFoundError} that says which turns there are
   */
  branch(id: string, options: { readonly turn: number }): string;
  /** The slots of this scope and no other: what the turns of all conversations have left there. */
  slots(scope: SlotScope): Readonly<Record<string, Json>>;
  /** Scoped slots outlive it. @throws {RunOwnedError} */
  remove(id: string): void;
  [Symbol.dispose](): void;
}

/** A recorded step is not the one the run wants now. */
export class DivergedError extends Error {
  override readonly name = "DivergedError";
  readonly key: string;

  constructor(message: string, key: string) {
    super(message);
    this.key = key;
  }
}

/** Another process runs it. */
export class RunOwnedError extends Error {
  override readonly name = "RunOwnedError";
}

/** No run has this id, or several have this beginning of one. */
export class RunNotFoundError extends Error {
  override readonly name = "RunNotFoundError";
  /** Those that begin so, where there are several. */
  readonly runs: readonly string[];

  constructor(message: string, { runs = [] }: { readonly runs?: readonly string[] } = {}) {
    super(message);
    this.runs = runs;
  }
}

/** The run is over: it cannot go on. */
export class RunEndedError extends Error {
  override readonly name = "RunEndedError";
}

/** Why a conversation does not take a message. */
export type ConversationErrorCode =
  | "empty" // the message is blank
  | "busy" // it is still answering, here or in another process
  | "ended" // it is completed
  | "interrupted" // its last turn was not finished: `retry()` does that
  | "nothing" // there is nothing to try again
  | "changed" // the agent file is another one, without the step at which it waits
  | "gone"; // the store has no such conversation

/**
 * A conversation does not take a message (conversations.md 2.2); nothing has changed.
 *
 * ```ts
 * import { ConversationError, loadAgent, openConversation } from "orrery";
 *
 * const text = 'version: "0.1"\nstructure:\n  id: a\n  action: { id: m, message: { message: Bye. } }\n';
 * const conversation = await openConversation(await loadAgent({ file: "a.agent.yml", text }));
 * for await (const _event of conversation.start());
 * try {
 *   for await (const _event of conversation.say("Wait!"));
 * } catch (error) {
 *   if (error instanceof ConversationError) console.log(error.code, error.message);
 *   // => ended This conversation has ended. Start a new one.
 * }
 * ```
 */
export class ConversationError extends Error {
  override readonly name = "ConversationError";
  readonly code: ConversationErrorCode;

  constructor(message: string, code: ConversationErrorCode, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** A run has no step of this key. */
export class StepNotFoundError extends Error {
  override readonly name = "StepNotFoundError";
}

/** A conversation has no such turn, or none that has ended. */
export class TurnNotFoundError extends Error {
  override readonly name = "TurnNotFoundError";
}

/** The store of the journal cannot be opened, read or written. */
export class JournalError extends Error {
  override readonly name = "JournalError";
}

// What a record holds (turn.md 3): everything that came into a run from outside, in its order, and every event it told. A replay gives
// the engine the one and expects the other.

/** A line of a record. */
export type RecordLine =
  /** The first line. */
  | ({ readonly type: "run"; readonly version: 1 } & RunStart & { readonly id: string })
  /** A piece of text of the run's own source. */
  | { readonly type: "source"; readonly text: string }
  /** The engine asked for an effect. */
  | ({ readonly type: "step" } & StepStart)
  /** Something came of an effect before its end: a part of a model's answer, a line a gadget logged. */
  | { readonly type: "part"; readonly key: string; readonly part: Json }
  | { readonly type: "outcome"; readonly key: string; readonly outcome: StepOutcome }
  | { readonly type: "event"; readonly event: RunEvent };

/** The part of a record that says that the run was interrupted. */
export const ABORT_KEY = "run/abort";
/** The part of a record that holds an event which came from outside the run. */
export const TOLD_KEY = "run/told";
/** The part of a record that says that the source of the run has ended. */
export const SOURCE_END_KEY = "source/end";
/** The part of a record that says that the source of the run broke off. */
export const SOURCE_ERROR_KEY = "source/error";

/** Where a record is written: a line at a time, in order. */
export interface Recorder {
  write(line: RecordLine): void;
}

/** A replay met something that is not in its record. */
export class ReplayError extends Error {
  override readonly name = "ReplayError";
}

/** A message of a conversation (conversations.md 2.1). */
export interface LogEntry {
  /** From 1, in the order in which they were said. */
  readonly n: number;
  readonly who: "user" | "assistant";
  readonly text: string;
  /** Of the assistant: the step that said it. Of the user: the step or steps that it answers. */
  readonly steps: readonly string[];
  /** What was shown with it. A store names it alone: what began the turn has it whole. */
  readonly media?: readonly (MediaPart | MediaNote)[];
}

/** Whose slots: with a session those of the session, with a module alone those of the module, else the user's own (`global`). */
export interface SlotScope {
  readonly user: string;
  readonly module?: string;
  readonly session?: string;
}

/** A slot that outlives its conversation. */
export interface SlotWrite extends SlotScope {
  readonly name: string;
  readonly value: Json;
}

/** Where a conversation is behind a turn: what the next turn begins with. */
export interface Checkpoint {
  /** From 1: the turn that it is behind. */
  readonly n: number;
  /** The engine's own. */
  readonly state: Json;
  /** How many messages the log has by then. */
  readonly messages: number;
}

/** What a turn leaves behind; durable as one. */
export interface ConversationSave {
  readonly state: Json;
  /** Those that are new, in order; their `n` go on where the log ends. */
  readonly messages: readonly LogEntry[];
  readonly slots: readonly SlotWrite[];
}

/** The step of a conversation that keeps what its turn begins with: `{text?, …}`. @param turn from 1 */
export function turnKey(turn: number): string {
  return `turn[${turn}]`;
}
