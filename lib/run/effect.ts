// One effect of an engine as a journaled step: done once, and answered from the journal or a record afterwards.
import {
  isJsonObject,
  type Json,
  messageOf,
  orAborted,
  PermissionRefused,
  type StepError,
  type StepKind,
  type StepOutcome,
} from "../core/core.ts";
import type { ReplayedStep } from "./replay/replay.ts";
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
  /** @param tell takes text of it as it comes */
  perform(tell: (text: string) => void): Promise<Json>;
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

/** Performs an effect, or gives what came of it before. @throws {EffectError}; {DivergedError}; the reason of the run's signal */
export async function performEffect(run: Run, effect: Effect): Promise<Json> {
  const { key, kind, name, input, isIdempotent, isSilent = false } = effect;
  const start = (attempt: number): void =>
    isSilent ? undefined : run.emit({ type: "step-start", key, kind, name, attempt });
  const begun = run.begin({ key, kind, name, input, idempotent: isIdempotent });
  switch (begun.do) {
    case "answer":
      if (!isSilent) tellStepEnd(run, { key, ms: begun.ms, outcome: begun.outcome }); // what the user has settled was not told yet
      return resultOf(begun.outcome);
    case "unverified":
      throw new EffectError({
        message:
          `${name} was started before the process ended, and its end is not known: it is not done again unasked (step "${key}")`,
        code: "unverified",
      });
    case "replay":
      start(begun.step.attempt);
      return await replayed(run, { key, isSilent, step: begun.step });
    case "perform":
      start(begun.attempt);
      return await performed(run, effect);
    default:
      return begun satisfies never;
  }
}

async function performed(run: Run, { key, isSilent = false, perform }: Effect): Promise<Json> {
  const begunAt = run.clock.now();
  const end = (outcome: StepOutcome): Json => {
    const ms = Math.round((run.clock.now() - begunAt) * 1000) / 1000;
    run.finish(key, outcome, () => isSilent ? undefined : tellStepEnd(run, { key, ms, outcome }));
    return resultOf(outcome);
  };
  const mask = run.secrets?.stream();
  const show = (text: string): void => {
    if (text === "") return;
    run.part(key, { text });
    run.emit({ type: "text-delta", step: key, text });
  };
  try {
    const outcome = await orAborted(perform((text) => show(mask?.push(text) ?? text)), run.signal);
    show(mask?.end() ?? "");
    return end({ ok: run.mask(outcome) });
  } catch (error) {
    if (run.signal.aborted || error instanceof EffectError) throw error; // not known to be done: it stays open
    return end({ error: failureOf(error, run) });
  }
}

function failureOf(error: unknown, run: Run): StepError {
  const message = run.mask(messageOf(error));
  return error instanceof PermissionRefused
    ? { message, code: "permission", flag: error.flag }
    : { message, code: "error" };
}

async function replayed(
  run: Run,
  { key, isSilent, step }: {
    readonly key: string;
    readonly isSilent: boolean;
    readonly step: ReplayedStep;
  },
): Promise<Json> {
  for await (const part of step.parts) {
    if (isJsonObject(part) && typeof part.text === "string") {
      run.emit({ type: "text-delta", step: key, text: part.text });
    }
  }
  const outcome = await step.outcome;
  if (!isSilent) tellStepEnd(run, { key, ms: 0, outcome });
  return resultOf(outcome);
}

/** Tells how a step ended. */
export function tellStepEnd(
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
