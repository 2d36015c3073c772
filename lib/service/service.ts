// A project that is held open: what the server, and whoever else serves it, may ask of it. Nothing here knows of HTTP.

import { ProblemsError, SourceError, type Span } from "../core/core.ts";
import type {
  Effort,
  Json,
  JsonObject,
  MediaNote,
  Message,
  MessageRange,
  Model,
  RunEvent,
  RunStatus,
  RunTrace,
  Usage,
  Words,
} from "../core/core.ts";
import type { MergeMode } from "../parse/document/operation.ts";
import type { Budget } from "../run/budget.ts";
import type { Look } from "./look/look.ts";

/** What anybody may wish of a run; no wish widens what it may do. */
export interface RunWishes {
  /** Default: the project's. */
  readonly model?: string;
  /** How hard models think, whatever files and profiles say. */
  readonly effort?: Effort;
  readonly budget?: Budget;
  /** Whether what is not granted is asked about (`OpenAsk`). Default false: refused at once, as where there is no terminal. */
  readonly canAsk?: boolean;
  /** The span that it is a part of, as the header of W3C's Trace Context says it. Default: as the environment says. */
  readonly traceparent?: string;
}

/** What is run. */
export type StartRun =
  & RunWishes
  & (
    | {
      /** A call file or a document. */
      readonly kind: "file";
      /** Relative to the project root, with `/`. */
      readonly file: string;
      readonly input?: JsonObject;
      /** What a document is asked, put before its first block. */
      readonly prompt?: string;
      readonly blocks?: readonly string[];
      readonly mode?: MergeMode;
      /** Where a document's result goes: beside it, nowhere, or a file below the root. Default `none`. */
      readonly out?: "beside" | "none" | { readonly file: string };
    }
    | {
      /** A prompt of the registry, or a tactic. */
      readonly kind: "prompt";
      readonly path: string;
      readonly input?: JsonObject;
      /** The names in `input` whose values are text as it was typed: read as the prompt wants it, and unknown ones are refused. Default: none. */
      readonly texts?: readonly string[];
      /** What is said to it. */
      readonly say?: string;
      readonly profile?: string;
    }
    | {
      /** A text of calls, whole or as it comes. */
      readonly kind: "calls";
      /** As errors name it. */
      readonly name: string;
      readonly text: string | AsyncIterable<string>;
    }
    | { readonly kind: "gadget"; readonly name: string; readonly input: JsonObject }
    /** A profile of `orrery.yaml`, with what was said so far. */
    | { readonly kind: "ask"; readonly messages: readonly Message[]; readonly profile: string }
  );

/** Something that waits for a person. */
export interface OpenAsk {
  /** `a1`, `a2`, … in its run. */
  readonly ask: string;
  readonly kind: "permission" | "question";
  /** Of a permission: what is wanted, such as `read /etc/hosts`. */
  readonly subject?: string;
  /** Of a permission: the flags that would allow it. */
  readonly permissions?: readonly string[];
  readonly question: string;
  /** Absent: any text will do. */
  readonly choices?: readonly string[];
}

/** What a person says. */
export type Answer = { readonly allow: boolean } | { readonly text: string };

/** What a reader gets. */
export type Frame =
  | { readonly event: RunEvent }
  | { readonly ask: OpenAsk }
  /** The number of an ask that is open no more. */
  | { readonly answered: string }
  /** Events up to this `seq` are not held any more. */
  | { readonly gap: number };

/** A cursor in the events of a run; a slow one gets the deltas of a step joined. */
export interface RunReader {
  /** What has come since, at least one frame; undefined when there will be no more. */
  next(options: { readonly maxBytes: number }): Promise<readonly Frame[] | undefined>;
  /** Ends a `next` that waits. The run goes on. */
  leave(): void;
}

/** A run as it stands. */
export interface RunState {
  readonly id: string;
  readonly kind: string;
  readonly status: RunStatus | "running";
  /** Whether a process that lives has it. */
  readonly owned: boolean;
  readonly file?: string;
  /** ms since 1970. */
  readonly startedAt: number;
  readonly ms: number;
  readonly usage: Usage;
  readonly steps: number;
  readonly value?: Json;
  readonly error?: string;
  /** Why it was stopped or cancelled; where it is running and nobody has it: why nobody takes it. */
  readonly reason?: string;
  /** It is `stopped` since what it did last has failed; it can go on. */
  readonly hasFailed?: true;
  /** As `orrery run --json` has them; where they are known. */
  readonly calls?: readonly Json[];
  readonly asks: readonly OpenAsk[];
  /** Of a run of this process, and not in lists. */
  readonly shows?: RunShows;
}

/** What goes on in a project, as far as this process knows. */
export interface ProjectNow {
  /** Another one whenever a run has begun, ended, asked or been answered. */
  readonly version: number;
  /** Runs under way. */
  readonly active: number;
  /** Those of them that wait for a person. */
  readonly waiting: readonly RunState[];
}

/** A cursor in what goes on; what a slow one has missed is in the next. */
export interface ProjectReader {
  /** How it stands, at once and then at every change; undefined when there will be no more. */
  next(): Promise<ProjectNow | undefined>;
  /** Ends a `next` that waits. */
  leave(): void;
}

/** How what comes of a run is shown. */
export interface RunShows {
  /** The answer is any text, and nothing can come before it: it may be shown while it comes. */
  readonly asItComes?: boolean;
  /** A value that is text is JSON too. */
  readonly isJson?: boolean;
  /** A line end is put behind a value that is text. */
  readonly endsLine?: boolean;
  /** Of a text of calls: what a call begins with. */
  readonly marker?: string;
}

/** A run of this process, under way or ended a while ago. */
export interface RunHandle {
  readonly id: string;
  readonly kind: string;
  readonly state: RunState;
  /** That of `state`, which takes longer to make. */
  readonly status: RunState["status"];
  /** The `seq` behind which its own events begin: those of earlier turns, and of earlier processes, are before. 0 for a new run. */
  readonly before: number;
  /** How what comes of it is shown; absent for a turn of a conversation. */
  readonly shows?: RunShows;
  /** From behind this `seq`; 0 for all of it. */
  read(options: { readonly after: number }): RunReader;
  /** Never fails: a run that failed has ended too. */
  readonly ended: Promise<RunState>;
  cancel(reason?: string): void;
  /** False when it is not open, or open no more. @param options.by as the log names who answered */
  answer(ask: string, answer: Answer, options: { readonly by: string }): boolean | Promise<boolean>;
  /** What was said to one that is open no more, in words; undefined where that is not known here. */
  decided(ask: string): string | undefined;
}

/** How a run goes on. */
export interface ResumeWishes {
  /** Steps whose end is not known: to be done again. */
  readonly rerun?: readonly string[];
  /** The same: to be left out. */
  readonly skip?: readonly string[];
  readonly budget?: Budget;
  readonly canAsk?: boolean;
}

/** Which runs. */
export interface RunsQuery {
  readonly status?: RunState["status"];
  readonly kind?: string;
  readonly file?: string;
  /** Default 50. */
  readonly limit?: number;
  /** Only those that began before this run. */
  readonly before?: string;
}

/** What a conversation begins with. */
export interface BeginTalk extends RunWishes {
  /** The file of the agent, relative to the root. */
  readonly agent: string;
  readonly slots?: JsonObject;
  readonly user?: string;
  readonly module?: string;
  readonly session?: string;
  readonly message?: Words;
}

/** A conversation as it stands between turns. */
export interface TalkState {
  readonly id: string;
  readonly agent: string;
  /** Whose it is; absent: nobody was named. */
  readonly user?: string;
  readonly status: "held" | "completed" | "failed" | "running";
  readonly turns: number;
  readonly messages: readonly {
    readonly n: number;
    readonly role: "user" | "assistant";
    readonly text: string;
    /** What was shown with it. */
    readonly media?: readonly MediaNote[];
    /** Of what the person said last, while its turn goes on or has been interrupted: `n` is the place that is free then. */
    readonly answered?: false;
  }[];
  readonly slots: JsonObject;
  /** The step that waits for the person. */
  readonly step?: string;
  readonly error?: string;
  /** Its last turn did not fail: it was stopped. */
  readonly interrupted?: true;
  readonly usage: Usage;
  readonly asks: readonly OpenAsk[];
}

/** A conversation with an agent. */
export interface TalkHandle {
  readonly id: string;
  state(range?: MessageRange): Promise<TalkState>;
  /** All that is kept of it, as `orrery show conversation --json` has it. */
  exported(): Promise<JsonObject>;
  /** The turn that the message begins. @throws {ServiceError} `busy`, `ended` */
  say(words: Words): Promise<RunHandle>;
  /** Tries the turn that failed again. */
  retry(): Promise<RunHandle>;
  /** Takes back so many turns. */
  back(turns: number): Promise<TalkState>;
  /** Over all turns; until it is completed. */
  read(options: { readonly after: number }): RunReader;
}

/** The conversations of the project. */
export interface Talks {
  /** Gives the first turn: it has said what the agent says by itself, or answers the message. */
  begin(wishes: BeginTalk): Promise<{ readonly talk: TalkHandle; readonly turn: RunHandle }>;
  open(id: string): Promise<TalkHandle>;
  list(options?: { readonly agent?: string; readonly limit?: number }): Promise<readonly TalkState[]>;
}

/** What the service will not do, in words for a person. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: ServiceErrorCode;
  /** What a program can do something with, such as the steps whose end is not known. */
  readonly details: JsonObject;

  constructor(
    message: string,
    { code, details = {} }: { readonly code: ServiceErrorCode; readonly details?: JsonObject },
  ) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** What cannot be done because of one field of what is wished; `details.field` names it. @param code default `invalid` */
export function fieldError(
  field: string,
  message: string,
  code: ServiceErrorCode = "invalid",
): ServiceError {
  return new ServiceError(message, { code, details: { field } });
}

/** The code of what is wrong with a file only here: a key, a model or a gadget is missing that another machine may have. */
export const LACKS = "E-lacks";

/** The errors among what is wrong with files. @param code of each that has none of its own */
export function problemsError(
  problems: readonly (Span & {
    readonly message: string;
    readonly severity: string;
    readonly hint?: string;
    readonly code?: string;
  })[],
  code: string,
): ProblemsError {
  const errors = problems.filter(({ severity }) => severity === "error");
  return new ProblemsError(
    errors.map(({ file, line, column, message, hint, code: own = code }) =>
      new SourceError(message, { code: own, hint, ...(file !== "" && { span: { file, line, column } }) })
    ),
  );
}

/** Why. */
export type ServiceErrorCode =
  /** There is no such run, file, gadget and so on. */
  | "not-found"
  /** Another has it, or it is under way. */
  | "busy"
  | "ended"
  /** As many runs as may are under way. */
  | "limit"
  /** The process is about to end. */
  | "stopping"
  /** Not below the project root. */
  | "outside"
  /** Steps whose end is not known: `details.steps`. */
  | "unverified"
  /** A file is not what it was when the run began. */
  | "changed"
  /** No grant allows it: `details.flag`. */
  | "refused"
  /** What was asked for cannot be: `details.field`. */
  | "invalid"
  /** What it was made of is not there any more. */
  | "gone";

/** A project that is held open. Every promise fails with a {@linkcode ServiceError}, or with what the command line tells as well: a
 * `SourceError`, `ProblemsError`, `FileError`, `ModelError`, `PromptError`, `JournalError`. */
export interface Service extends AsyncDisposable {
  /** Absolute. */
  readonly root: string;
  readonly version: string;
  /** Runs under way, and how many there may be. */
  readonly active: number;
  readonly limit: number;
  readonly now: ProjectNow;
  watch(): ProjectReader;
  /** Comes back when the run is durable, or `--ephemeral` begun. */
  start(request: StartRun): Promise<RunHandle>;
  /** Undefined where this process does not hold it, and where it has ended and any process may have gone on with it. */
  find(id: string): RunHandle | undefined;
  /** The whole id of a run of which somebody has said the beginning, by the rule of `orrery trace`. @throws {ServiceError} `not-found` */
  idOf(beginning: string): Promise<string>;
  run(id: string): Promise<RunState>;
  /** The same of it alone, however long it is. */
  status(id: string): Promise<RunState["status"]>;
  runs(query?: RunsQuery): Promise<readonly RunState[]>;
  trace(id: string): Promise<RunTrace>;
  /** Of a run of any process: what the journal has, where this one does not hold it. */
  read(id: string, options: { readonly after: number }): Promise<RunReader>;
  resume(id: string, wishes: ResumeWishes): Promise<RunHandle>;
  remove(id: string): Promise<void>;
  /** For whoever passes its own requests on. @throws {ServiceError} not-found, stopping, limit */
  model(name: string): Promise<Model>;
  readonly talks: Talks;
  readonly look: Look;
  /** Nothing new begins; what is under way may end its steps for so long, and is then resumable. Comes back when nothing is under way. */
  stop(options: { readonly graceMs: number }): Promise<void>;
}
