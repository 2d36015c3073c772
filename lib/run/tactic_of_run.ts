import { DivergedError } from "../core/journal.ts";
import type { StepOutcome } from "../core/journal.ts";
import { toJson } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { messageOf } from "../core/source_error.ts";
import type { PromptRegistry } from "../prompt/prompt_registry.ts";
import type { Agent } from "./agent.ts";
import type { ReplayedStep } from "./replay.ts";
import { orAborted } from "./or_aborted.ts";
import type { Begun, Run } from "./run.ts";
import type { TacticHost } from "./tactic.ts";

/** What a tactic of a run lives on: its time and its effects are steps of the run. */
export function tacticHost(
  run: Run,
  { agents, prompts, startedAt }: {
    readonly agents: ReadonlyMap<string, () => Agent>;
    readonly prompts: PromptRegistry;
    /** ms since 1970: when the run began, the first time. */
    readonly startedAt: number;
  },
): TacticHost {
  const visits = new Map<string, number>();
  return {
    agents,
    prompts,
    now: () => new Date(startedAt),
    step: async (name, perform) => await tacticStep(run, { key: visitKey(name, visits), name, perform }),
  };
}

/** `step:NAME`, and from the second time `step:NAME#2`. */
function visitKey(name: string, visits: Map<string, number>): string {
  const visit = (visits.get(name) ?? 0) + 1;
  visits.set(name, visit);
  return visit === 1 ? `step:${name}` : `step:${name}#${visit}`;
}

/** One effect of a tactic. Its outcome is JSON from then on, so that a resumed run has the same. */
async function tacticStep<Outcome>(
  run: Run,
  { key, name, perform }: {
    readonly key: string;
    readonly name: string;
    readonly perform: () => Outcome | Promise<Outcome>;
  },
): Promise<Outcome> {
  const begun = beginStep(run, { key, name });
  switch (begun.do) {
    case "answer":
      return outcomeOf(begun.outcome);
    case "replay":
      return await replayed(run, { key, name, step: begun.step });
    case "unverified":
      throw new Error(
        `Step "${key}" was started before the process ended, and its end is not known: it is not done again unasked`,
      );
    case "perform": {
      run.emit({ type: "step-start", key, kind: "step", name, attempt: begun.attempt });
      return await performed(run, { key, perform });
    }
    default:
      return begun satisfies never;
  }
}

/** A tactic may swallow what it throws: the run is told that it is not the recorded one. */
function beginStep(run: Run, { key, name }: { readonly key: string; readonly name: string }): Begun {
  try {
    return run.begin({ key, kind: "step", name, input: null, idempotent: false });
  } catch (error) {
    if (error instanceof DivergedError) run.diverged(error);
    throw error;
  }
}

async function replayed<Outcome>(
  run: Run,
  { key, name, step }: { readonly key: string; readonly name: string; readonly step: ReplayedStep },
): Promise<Outcome> {
  run.emit({ type: "step-start", key, kind: "step", name, attempt: step.attempt });
  const outcome = await step.outcome;
  run.emit({
    type: "step-end",
    key,
    ms: 0,
    ...("ok" in outcome ? { outcome: outcome.ok } : { error: outcome.error }),
  });
  return outcomeOf(outcome);
}

async function performed<Outcome>(
  run: Run,
  { key, perform }: { readonly key: string; readonly perform: () => Outcome | Promise<Outcome> },
): Promise<Outcome> {
  const begunAt = run.clock.now();
  const ms = (): number => Math.round((run.clock.now() - begunAt) * 1000) / 1000;
  try {
    const outcome = toJson(run.mask(toJson(await orAborted(perform(), run.signal) ?? null)));
    run.finish(key, { ok: outcome }, () => run.emit({ type: "step-end", key, ms: ms(), outcome }));
    return asOutcome(outcome);
  } catch (error) {
    if (run.signal.aborted) throw error; // not known to be done: it stays open
    const failed = { message: run.mask(messageOf(error)), code: "error" };
    run.finish(key, { error: failed }, () => run.emit({ type: "step-end", key, ms: ms(), error: failed }));
    throw new Error(failed.message, { cause: error }); // as a resumed run will see it
  }
}

function outcomeOf<Outcome>(outcome: StepOutcome): Outcome {
  if ("error" in outcome) throw new Error(outcome.error.message);
  return asOutcome(outcome.ok);
}

/** What a step gives is JSON, or it could not be kept: the type is the word of whoever wrote the step. */
function asOutcome<Outcome>(json: Json): Outcome {
  return json as Outcome;
}
