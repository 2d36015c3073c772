// One effect of an engine as a journaled step: done once, and answered from the journal or a record afterwards.
import {
  type Json,
  messageOf,
  orAborted,
  PermissionRefused,
  type StepError,
  type StepKind,
  type StepOutcome,
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
  /** A failure is what came of it. Default true; else it is done again when the run is resumed. */
  readonly keepsFailure?: boolean;
  /** It is done now, and was not before. */
  onFirst?(): void;
  /**
   * Undefined: nothing came of it, so that it is done again when the run is resumed.
   *
   * @param tell takes text of it as it comes
   */
  perform(tell: (text: string) => void): Promise<Json | undefined>;
}

/** An effect failed: as whoever resumes the run sees it too. */
export class EffectError extends Error {
  override readonly name = "EffectError";
  readonly failure: StepError;

  constructor(failure: StepError, options?: ErrorOptions) {
    super(failure.message, options);
    this.failure = failure;
  }
}

/** The one door for effects: performs one, or gives what came of it before. @throws {EffectError}; {DivergedError}; the reason of the signal */
export async function performEffect(run: Run, effect: Effect & { perform(): Promise<Json> }): Promise<Json>;
export async function performEffect(run: Run, effect: Effect): Promise<Json | undefined>;
export async function performEffect(run: Run, effect: Effect): Promise<Json | undefined> {
  const { key, kind, name, input, isIdempotent, isSilent = false, signal = run.signal } = effect;
  const begun = run.begin({ key, kind, name, input, idempotent: isIdempotent });
  switch (begun.do) {
    case "answer": {
      const outcome = await orAborted(begun.outcome, signal);
      if (!isSilent) tellStepEnd(run, { key, ms: begun.ms, outcome }); // what the user has settled was not told yet
      return resultOf(outcome);
    }
    case "unverified":
      throw new EffectError({
        message:
          `${name} was started before the process ended, and its end is not known: it is not done again unasked (step "${key}")`,
        code: "unverified",
      });
    case "perform":
      if (begun.attempt === 1) effect.onFirst?.();
      if (!isSilent) run.emit({ type: "step-start", key, kind, name, attempt: begun.attempt });
      return await performed(run, effect);
    default:
      return begun satisfies never;
  }
}

async function performed(run: Run, effect: Effect): Promise<Json | undefined> {
  const { key, isSilent = false, signal = run.signal, keepsFailure = true } = effect;
  const begunAt = run.clock.now();
  const end = (outcome: StepOutcome): Json => {
    const ms = toldMs(run.clock.now() - begunAt);
    run.finish(key, outcome, () => isSilent ? undefined : tellStepEnd(run, { key, ms, outcome }));
    return resultOf(outcome);
  };
  const mask = run.secrets?.stream();
  const show = (text: string): void => {
    if (text !== "") run.emit({ type: "text-delta", step: key, text });
  };
  try {
    const outcome = await orAborted(effect.perform((text) => show(mask?.push(text) ?? text)), signal);
    show(mask?.end() ?? "");
    if (outcome !== undefined) return end({ ok: run.mask(outcome) });
    run.part(key, null); // only a record needs to know
    return undefined;
  } catch (error) {
    const isOpen = run.signal.aborted || signal.aborted || error instanceof EffectError; // not known to be done
    if (isOpen || !keepsFailure) throw error;
    return end({ error: failureOf(error, run) });
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
