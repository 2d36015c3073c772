// The effects of a tactic in a run.
import { type Json, messageOf, PromptError, toJson } from "../../core/core.ts";
import type { PromptRegistry } from "../../prompt/registry.ts";
import { foundValue } from "../../schema/issue.ts";
import type { Agent } from "../agent/agent.ts";
import { EffectError, performEffect } from "../effect.ts";
import { orderOf } from "../replay/program_order.ts";
import type { TacticHost } from "./tactic.ts";
import { contentHash, inKey, inPlace, insideOf, WorkPlace } from "../replay/work_place.ts";

/** A tactic that another one calls: what it does stands below its name and its task, since others may run beside it. */
async function nested<Result>(
  outer: WorkPlace,
  { name, task, work }: { readonly name: string; readonly task: unknown; work(): Result | Promise<Result> },
): Promise<Result> {
  const { run, prefix } = outer;
  const id = `${inKey(name)}:${contentHash(run.mask(taskJson(task)))}`;
  using _work = outer.begin(`tactic "${name}"`);
  const place = new WorkPlace(run, `${outer.arrived(`${prefix}tactic[${id}`)}]/`, { partOf: outer });
  return await inPlace(place, work);
}

function taskJson(task: unknown): Json {
  try {
    return toJson(task ?? null);
  } catch {
    return null; // such as a function: equal ones are told apart by their order
  }
}

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
  return {
    agents,
    prompts,
    now: () => new Date(startedAt),
    nest: (tactic, work) => nested(place.here(), { ...tactic, work }),
    step: (name, perform, options = {}) => {
      const here = place.here();
      if (here.whole === place.whole) return stepAt(here, { name, perform, ...options });
      let key = "";
      const outcome = stepAt(here, { name, perform, ...options, onKey: (known) => void (key = known) });
      return StepPromise.of(outcome, () => here.refusalOf(name, key));
    },
  };
}

async function stepAt<Outcome>(
  here: WorkPlace,
  { name, perform, input: given, onKey }: {
    readonly name: string;
    readonly perform: () => Outcome | Promise<Outcome>;
    readonly input?: unknown;
    readonly onKey?: (key: string) => void;
  },
): Promise<Outcome> {
  assertStep(name, perform);
  const input = stepInput(name, given);
  const { run, prefix } = here;
  const id = `${prefix}step:${inKey(name)}${input === null ? "" : `:${contentHash(run.mask(input))}`}`;
  using _work = here.begin(`step "${name}"`);
  const key = here.keyOfStep(id);
  onKey?.(key);
  try {
    return await tacticStep(here, { key, name, input, perform });
  } finally {
    here.order?.ended(key);
    await here.order?.given(key, run.signal);
  }
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
  place: WorkPlace,
  { key, name, input, perform }: {
    readonly key: string;
    readonly name: string;
    readonly input: Json;
    readonly perform: () => Outcome | Promise<Outcome>;
  },
): Promise<Outcome> {
  const { run } = place;
  try {
    const outcome = await performEffect(run, {
      key,
      kind: "step",
      name,
      input,
      isIdempotent: false,
      onFirst: () => warnOfTwice(place, key),
      perform: async () => toJson(await insideOf(key, { run, work: perform }) ?? null),
    });
    return asOutcome(outcome);
  } catch (error) {
    if (!(error instanceof EffectError)) throw error;
    throw new Error(error.message); // as a resumed run will see it
  }
}

/** Nothing says whether the two are meant to be one. */
function warnOfTwice({ run, whole }: WorkPlace, key: string): void {
  const done = orderOf(run)?.maybeDoneInside(key, whole.prefix);
  if (done === undefined) return;
  run.emit({
    type: "warning",
    text:
      `${key} is done now, and ${done} was done before the run was resumed: if both are meant to be one, it is done twice; ` +
      "begin it before the step or the call that it lies in",
  });
}

/** What a step gives is JSON, or it could not be kept: the type is the word of whoever wrote the step. */
function asOutcome<Outcome>(json: Json): Outcome {
  return json as Outcome;
}

// What comes of a step that is begun inside of another one. The outer step's outcome stands for it after a resume, and then nobody begins it
// in there: whoever waits for it from outside would do it a second time.

/** A promise that refuses to be waited for from outside of the place it was begun in. */
class StepPromise<Outcome> extends Promise<Outcome> {
  #refusal: () => PromptError | undefined = () => undefined;

  static override get [Symbol.species](): PromiseConstructor {
    return Promise;
  }

  /** @param refusal why whoever waits here and now may not; undefined: they may */
  static of<Outcome>(
    outcome: Promise<Outcome>,
    refusal: () => PromptError | undefined,
  ): StepPromise<Outcome> {
    const promise = new StepPromise<Outcome>((resolve, reject) => outcome.then(resolve, reject));
    promise.#refusal = refusal;
    return promise;
  }

  override then<Then = Outcome, Else = never>(
    onDone?: ((outcome: Outcome) => Then | PromiseLike<Then>) | null,
    onFailed?: ((error: unknown) => Else | PromiseLike<Else>) | null,
  ): Promise<Then | Else> {
    const refusal = this.#refusal();
    if (refusal === undefined) return super.then(onDone, onFailed);
    super.then(undefined, () => undefined);
    return Promise.reject(refusal).then(onDone, onFailed);
  }
}
