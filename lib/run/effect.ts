// The one door through which engines reach the world: each effect is a journaled step, done once, and answered from the journal or a record
// afterwards.
import {
  type BeginOptions,
  type Json,
  messageOf,
  orAborted,
  PermissionRefused,
  type StepError,
  type StepKind,
  type StepOutcome,
  type StepStart,
  toldMs,
} from "../core/core.ts";
import type { Run } from "./run.ts";

/** What is to be done. */
export interface Effect {
  readonly key: string;
  readonly kind: StepKind;
  /** What is called: a command, a file. */
  readonly name: string;
  /** All that decides what comes of it. */
  readonly input: Json;
  /** Safe to do again when it was begun and its end is not known. */
  readonly isIdempotent: boolean;
  /** It is told to nobody, as a read: the journal and the record have it nevertheless. Default false. */
  readonly isSilent?: boolean;
  /** What fails behind its abort is not known to be done. Default: the run's. */
  readonly signal?: AbortSignal;
  /** It is done now, and was not before. */
  onFirst?(): void;
  /**
   * Undefined: nothing came of it, so that it is done again when the run is resumed. What it throws is what came of it, unless it is an
   * {@linkcode EffectError} that is not kept.
   *
   * @param tell takes text of it as it comes
   */
  perform(tell: (text: string) => void): Promise<Json | undefined>;
}

/**
 * A step has failed. Kept, it is what came of the step: whoever resumes the run sees it too. Else nothing came of it, and it is tried
 * again then.
 */
export class EffectError extends Error {
  override readonly name = "EffectError";
  readonly failure: StepError;
  readonly isKept: boolean;

  constructor(
    failure: StepError,
    { isKept = true, ...options }: ErrorOptions & { readonly isKept?: boolean } = {},
  ) {
    super(failure.message, options);
    this.failure = failure;
    this.isKept = isKept;
  }
}

/** A step that was entered: it was done before, or is to be done now. */
export type Entered = DoneStep | OpenStep;

/** It was done; a replay gives what came of it when its turn has come. */
interface DoneStep {
  readonly outcome: StepOutcome | Promise<StepOutcome>;
  readonly ms: number;
}

/** It is this process's to do. */
export interface OpenStep {
  readonly outcome?: undefined;
  readonly attempt: number;
  /** The pieces of an answer that earlier attempts had kept, at least one. */
  readonly prefix?: readonly Json[];
  /** What came of it, and the events that tell of it. A step that is never ended is done again when the run is resumed, or asked about. */
  end(outcome: StepOutcome, tell?: () => void): void;
}

/**
 * Enters a step: nowhere else do steps begin and end. Of what `isDeferred`, since somebody has to be asked first, nothing may happen
 * before {@linkcode Run.begins}.
 *
 * @param options.unknown for a step that may be done already and is not done again unasked
 * @throws {DivergedError}; what `unknown` gives; {Error} when the journal cannot be written
 */
export function enterStep(
  run: Run,
  step: StepStart,
  options: BeginOptions & { readonly unknown?: () => Error } = {},
): Entered {
  const begun = run.beginStep(step, options);
  switch (begun.do) {
    case "answer":
      return begun;
    case "unverified":
      throw options.unknown?.() ?? unverified(step);
    case "perform":
      return { ...begun, end: (outcome, tell) => run.endStep(step.key, outcome, tell) };
    default:
      return begun satisfies never;
  }
}

function unverified({ key, name }: StepStart): EffectError {
  const message =
    `${name} was started before the process ended, and its end is not known: it is not done again unasked (step "${key}")`;
  return new EffectError({ message, code: "unverified" }, { isKept: false });
}

/** Takes something in from outside, or gives what was taken in before: safe to do again, and told to nobody. @throws as `performEffect` */
export async function takeIn<Taken extends Json | undefined>(
  run: Run,
  effect: Pick<Effect, "key" | "kind" | "name" | "signal"> & { perform(): Promise<Taken> },
): Promise<Json | Extract<Taken, undefined>>;
export async function takeIn(
  run: Run,
  effect: Pick<Effect, "key" | "kind" | "name" | "signal" | "perform">,
): Promise<Json | undefined> {
  return await performEffect(run, { ...effect, input: null, isIdempotent: true, isSilent: true });
}

/** Performs an effect, or gives what came of it before. @throws {EffectError}; {DivergedError}; the reason of the signal */
export async function performEffect(run: Run, effect: Effect & { perform(): Promise<Json> }): Promise<Json>;
export async function performEffect(run: Run, effect: Effect): Promise<Json | undefined>;
export async function performEffect(run: Run, effect: Effect): Promise<Json | undefined> {
  const { key, kind, name, input, isIdempotent, isSilent = false, signal = run.signal } = effect;
  const step = enterStep(run, { key, kind, name, input, idempotent: isIdempotent });
  if (step.outcome !== undefined) {
    const outcome = await orAborted(step.outcome, signal);
    if (!isSilent) tellStepEnd(run, { key, ms: step.ms, outcome }); // what the user has settled was not told yet
    return resultOf(outcome);
  }
  if (step.attempt === 1) effect.onFirst?.();
  if (!isSilent) run.emit({ type: "step-start", key, kind, name, attempt: step.attempt });
  return await performed(run, effect, step);
}

async function performed(run: Run, effect: Effect, step: OpenStep): Promise<Json | undefined> {
  const { key, isSilent = false, signal = run.signal } = effect;
  const begunAt = run.clock.now();
  const end = (outcome: StepOutcome): Json => {
    const ms = toldMs(run.clock.now() - begunAt);
    step.end(outcome, () => isSilent ? undefined : tellStepEnd(run, { key, ms, outcome }));
    return resultOf(outcome);
  };
  const mask = run.secrets?.stream();
  const show = (text: string): void => {
    if (text !== "") run.emit({ type: "text-delta", step: key, text });
  };
  try {
    const perform = () => effect.perform((text) => show(mask?.push(text) ?? text));
    const outcome = await orAborted(Promise.resolve(run.onceKept(perform)), signal);
    show(mask?.end() ?? "");
    if (outcome !== undefined) return end({ ok: run.mask(outcome) });
    run.part(key, null); // only a record needs to know
    return undefined;
  } catch (error) {
    if (run.signal.aborted || signal.aborted) throw error; // not known to be done
    if (error instanceof EffectError && !error.isKept) throw error.cause ?? error;
    return end({ error: error instanceof EffectError ? error.failure : failureOf(error, run) });
  }
}

function failureOf(error: unknown, run: Run): StepError {
  const message = run.mask(messageOf(error));
  return error instanceof PermissionRefused
    ? { message, code: "permission", flag: error.flag }
    : { message, code: "error" };
}

/** Tells how a step ended. */
function tellStepEnd(
  run: Run,
  { key, ms, outcome }: { readonly key: string; readonly ms: number; readonly outcome: StepOutcome },
): void {
  const how = "ok" in outcome ? { outcome: outcome.ok } : { error: outcome.error };
  run.emit({ type: "step-end", key, ms, ...how });
}

function resultOf(outcome: StepOutcome): Json {
  if ("error" in outcome) throw new EffectError(outcome.error);
  return outcome.ok;
}
