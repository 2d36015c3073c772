// The effects of a tactic in a run.

import { DivergedError } from "../core/journal.ts";
import type { StepOutcome } from "../core/journal.ts";
import { toJson } from "../core/json.ts";
import type { Json } from "../core/json.ts";
import { PromptError } from "../core/prompt_error.ts";
import { messageOf } from "../core/source_error.ts";
import { foundValue } from "../schema/issue.ts";
import type { PromptRegistry } from "../prompt/prompt_registry.ts";
import type { Agent } from "./agent.ts";
import type { ReplayedStep } from "./replay.ts";
import { orAborted } from "./or_aborted.ts";
import type { Begun, Run } from "./run.ts";
import type { TacticHost } from "./tactic.ts";
import { contentHash, inKey, inPlace, insideOf, WorkPlace } from "./work_place.ts";

/** A tactic that another one calls: what it does stands below its name and its task, since others may run beside it. */
async function nested<Result>(
  outer: WorkPlace,
  { name, task, work }: { readonly name: string; readonly task: unknown; work(): Result | Promise<Result> },
): Promise<Result> {
  const { run, prefix } = outer;
  const id = `${inKey(name)}:${contentHash(run.mask(taskJson(task)))}`;
  using _work = outer.begin();
  const place = new WorkPlace(run, `${outer.numbered(`${prefix}tactic[${id}`)}]/`, { partOf: outer });
  return await inPlace(place, work);
}

function taskJson(task: unknown): Json {
  try {
    return toJson(task ?? null);
  } catch {
    return null; // such as a function: equal ones are told apart by their order
  }
}

const STEPS_A_TURN = 50;

/** What a tactic of a run lives on: its time and its effects are steps of the run. */
export function tacticHost(
  place: WorkPlace,
  { agents, prompts, startedAt }: {
    readonly agents: ReadonlyMap<string, () => Agent>;
    readonly prompts: PromptRegistry;
    /** ms since 1970: when the run began, the first time. */
    readonly startedAt: number;
  },
): TacticHost {
  let steps = 0;
  return {
    agents,
    prompts,
    now: () => new Date(startedAt),
    nest: (tactic, work) => nested(place.here(), { ...tactic, work }),
    step: async (name, perform, options = {}) => {
      assertStep(name, perform);
      // Steps that are always ready would leave no turn of the event loop to the journal, to signals and to other work.
      if (++steps % STEPS_A_TURN === 0) await new Promise((resolve) => setTimeout(resolve, 0));
      const input = stepInput(name, options.input);
      const here = place.here();
      const { run, prefix } = here;
      const id = `${prefix}step:${inKey(name)}${input === null ? "" : `:${contentHash(run.mask(input))}`}`;
      using work = here.beginStep(id, name);
      return await tacticStep(run, { key: work.key, name, input, perform });
    },
  };
}

/** @throws {PromptError} `define` */
function assertStep(name: unknown, perform: unknown): void {
  if (typeof name !== "string") {
    throw new PromptError(`step takes a name and a function, found ${foundValue(name)} as its name`, {
      code: "define",
    });
  }
  if (typeof perform === "function") return;
  throw new PromptError(`step "${name}" takes a function that does it, found ${foundValue(perform)}`, {
    code: "define",
  });
}

/** Null where none is given. @throws {PromptError} `define`, when it is no JSON */
function stepInput(name: string, input: unknown): Json {
  try {
    return input === undefined ? null : toJson(input);
  } catch (cause) {
    const message = `step "${name}": its input is not JSON: ${messageOf(cause).replace(/^not JSON: /, "")}`;
    throw new PromptError(message, { code: "define", cause });
  }
}

/** One effect of a tactic. Its outcome is JSON from then on, so that a resumed run has the same. */
async function tacticStep<Outcome>(
  run: Run,
  { key, name, input, perform }: {
    readonly key: string;
    readonly name: string;
    readonly input: Json;
    readonly perform: () => Outcome | Promise<Outcome>;
  },
): Promise<Outcome> {
  const begun = beginStep(run, { key, name, input });
  switch (begun.do) {
    case "answer":
      tellEnd(run, { key, ms: begun.ms, outcome: begun.outcome }); // what the user has settled was not told yet
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
function beginStep(
  run: Run,
  { key, name, input }: { readonly key: string; readonly name: string; readonly input: Json },
): Begun {
  try {
    return run.begin({ key, kind: "step", name, input, idempotent: false });
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
  tellEnd(run, { key, ms: 0, outcome });
  return outcomeOf(outcome);
}

function tellEnd(
  run: Run,
  { key, ms, outcome }: { readonly key: string; readonly ms: number; readonly outcome: StepOutcome },
): void {
  const how = "ok" in outcome ? { outcome: outcome.ok } : { error: outcome.error };
  run.emit({ type: "step-end", key, ms, ...how });
}

async function performed<Outcome>(
  run: Run,
  { key, perform }: { readonly key: string; readonly perform: () => Outcome | Promise<Outcome> },
): Promise<Outcome> {
  const begunAt = run.clock.now();
  const ms = (): number => Math.round((run.clock.now() - begunAt) * 1000) / 1000;
  try {
    const outcome = toJson(
      run.mask(toJson(await orAborted(insideOf(key, { run, work: perform }), run.signal) ?? null)),
    );
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
