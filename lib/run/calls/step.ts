import {
  type AnyGadget,
  type BeginOptions,
  type CallErrorCode,
  CrashError,
  InputError,
  isJsonObject,
  isPromise,
  type Json,
  messageOf,
  PermissionRefused,
  ResultError,
  type RunEventBody,
  type Secrets,
  type StepOutcome,
  toJson,
} from "../../core/core.ts";
import { untypedTree } from "../../schema/text_value.ts";
import { enterStep, type OpenStep } from "../effect.ts";
import type { Run } from "../run.ts";
import { PlaceholderError } from "./gadget.ts";

/** How a call ended. */
export type CallOutcome =
  | { readonly status: "result"; readonly result: Json }
  | { readonly status: "error"; readonly failure: CallFailure }
  | { readonly status: "skip"; readonly reason: string };

/** Which call an event tells of. */
export interface CallPlace {
  readonly step?: string;
  readonly invocationId: string;
  readonly line: number;
}

/** What a step is made of. */
export interface CallStepOptions {
  readonly key: string;
  readonly place: CallPlace;
  readonly gadget: AnyGadget;
  /** The arguments with their placeholders filled. */
  readonly input: unknown;
  /** What runs in it are the steps. Default false. */
  readonly isContainer?: boolean;
}

/** A call as a journaled step of its run, from its beginning to its outcome. */
export class CallStep {
  readonly #run: Run;
  readonly #options: CallStepOptions;
  /** A secret may come in two pieces of a log. */
  #logMask: ReturnType<Secrets["stream"]> | undefined;
  /** While it is this process's to do. */
  #open: OpenStep | undefined;
  #isClosed = false;

  constructor(run: Run, options: CallStepOptions) {
    this.#run = run;
    this.#options = options;
  }

  /** Undefined when the gadget has to run; else what is known to come of it. @throws {CallError} */
  begin(options: BeginOptions = {}): Json | Promise<Json> | undefined {
    const { key, gadget, input, isContainer = false } = this.#options;
    if (!this.#run.isKept || isContainer) return undefined;
    const asJson = toJson(untypedTree(input));
    const idempotent = isIdempotent(gadget, asJson);
    const unknown = (): CallError =>
      new CallError(
        `Started before the process ended, and its end is not known: it is not run again unasked (step "${key}")`,
        "unverified",
      );
    const step = enterStep(this.#run, { key, kind: "gadget", name: gadget.name, input: asJson, idempotent }, {
      ...options,
      unknown,
    });
    if (step.outcome === undefined) return void (this.#open = step);
    return isPromise(step.outcome) ? step.outcome.then(resultOrThrow) : resultOrThrow(step.outcome);
  }

  /** The input is there and fits: the gadget starts. */
  started(): void {
    this.#run.emit({ type: "call-run", ...this.#options.place });
  }

  log(text: string): void {
    if (this.#isClosed) return;
    this.#logMask ??= this.#run.secrets?.stream();
    const shown = this.#logMask?.push(text) ?? text;
    if (shown !== "") this.#tellLog(shown);
  }

  progress(done: number, total: number | undefined): void {
    if (!Number.isFinite(done) || !(total === undefined || Number.isFinite(total))) {
      throw new TypeError(
        `progress(done, total?) takes finite numbers; found ${String(done)}, ${String(total)}`,
      );
    }
    if (this.#isClosed) return;
    const progress = { done, ...(total === undefined ? {} : { total }) };
    this.#run.emit({ type: "call-progress", ...this.#options.place, ...progress });
  }

  /** What the gadget tells from now on is not heard. */
  close(): void {
    const rest = this.#logMask?.end() ?? "";
    if (rest !== "" && !this.#isClosed) this.#tellLog(rest);
    this.#isClosed = true;
  }

  /** Commits the outcome, if it came of this very process, with the event that tells of it. */
  finish(outcome: CallOutcome, tell: () => void): void {
    if (this.#open === undefined || outcome.status === "skip") return tell();
    if (outcome.status === "result") return this.#open.end({ ok: outcome.result }, tell);
    const { error: message, code, flag } = outcome.failure;
    const error = { message, code, ...(flag === undefined ? {} : { flag }) };
    this.#open.end({ error }, tell);
  }

  #tellLog(text: string): void {
    this.#run.emit({ type: "call-log", ...this.#options.place, text });
  }
}

function isIdempotent({ idempotent = false }: AnyGadget, input: Json): boolean {
  if (typeof idempotent === "boolean") return idempotent;
  try {
    return isJsonObject(input) && idempotent(input) === true;
  } catch {
    return false;
  }
}

function resultOrThrow(outcome: StepOutcome): Json {
  if ("ok" in outcome) return outcome.ok;
  const { message, code, flag } = outcome.error;
  throw new CallError(message, callErrorCode(code), flag);
}

/** The event that tells of an outcome. */
export function outcomeEvent(outcome: CallOutcome, place: CallPlace): RunEventBody {
  switch (outcome.status) {
    case "result":
      return { type: "call-result", ...place, result: outcome.result };
    case "error":
      return { type: "call-error", ...place, ...outcome.failure };
    case "skip":
      return { type: "call-skip", ...place, reason: outcome.reason };
    default:
      return outcome satisfies never;
  }
}

/** Why a call failed, as its event tells it. */
export interface CallFailure {
  readonly error: string;
  readonly code: CallErrorCode;
  readonly flag?: string;
}

/** An error whose code is known where it is made: before a gadget runs. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly failure: CallFailure;

  constructor(error: string, code: CallErrorCode, flag?: string) {
    super(error);
    this.failure = flag === undefined ? { error, code } : { error, code, flag };
  }
}

/** What was thrown, as the failure of a call. */
export function callFailure(thrown: unknown, cause: "thrown" | "timeout" | "abort"): CallFailure {
  const error = messageOf(thrown);
  if (cause !== "thrown") return { error: cause === "abort" ? `Aborted: ${error}` : error, code: cause };
  if (thrown instanceof CallError) return thrown.failure;
  if (thrown instanceof PermissionRefused) return { error, code: "permission", flag: thrown.flag };
  if (thrown instanceof InputError || thrown instanceof PlaceholderError) return { error, code: "input" };
  if (thrown instanceof CrashError) return { error, code: "crash" };
  return { error, code: thrown instanceof ResultError ? "result" : "failed" };
}

const CODES: ReadonlySet<string> = new Set<CallErrorCode>(
  [
    "parse",
    "unknown-gadget",
    "not-trusted",
    "unavailable",
    "input",
    "permission",
    "timeout",
    "abort",
    "result",
    "unverified",
    "crash",
    "failed",
  ],
);

/** A code that was kept as text. */
export function callErrorCode(text: string | undefined): CallErrorCode {
  return isCode(text) ? text : "failed";
}

function isCode(text: string | undefined): text is CallErrorCode {
  return text !== undefined && CODES.has(text);
}
