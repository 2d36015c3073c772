import { isRecord } from "../core/json.ts";
import { PromptError } from "../core/prompt_error.ts";
import type { PromptRegistry } from "../prompt/registry.ts";
import type { Agent } from "./agent.ts";

/** What a tactic works with. */
export interface TacticCtx<Name extends string = string> {
  /** The agents that it names, fresh in each run. */
  readonly agents: { readonly [Key in Name]: Agent };
  readonly prompts: PromptRegistry;
  /** Aborted with the run. Another tactic that is given it has the same agents and prompts. */
  readonly signal: AbortSignal;
  /** The time of the run: it stays the same when a run is resumed or replayed. */
  now(): Date;
  /**
   * Does something to the outside once: a run that is resumed has its outcome from the journal, by its name and its `input`, if there is one.
   *
   * The same name and input may come again, also in branches that run side by side, and are numbered as they begin. A resumed run gives a
   * tactic what its steps and turns have given before, one after the other in the same order, so that it begins them in the same order;
   * where that cannot be, it ends as diverged. What neither step nor turn shows, such as which of two timers is first, is not seen: give
   * the steps behind those names of their own. What is done inside of a step (dialogs, further steps) is a part of it: it has to be begun
   * and waited for in there. The run ends when all that was begun has ended, awaited or not.
   *
   * @throws {PromptError} `define`, for an input that is no JSON, and for a step that is begun inside of one that has ended, or waited
   * for outside of the one that it was begun in
   */
  step<Outcome>(
    name: string,
    perform: () => Outcome | Promise<Outcome>,
    options?: {
      /** JSON: what tells it from others of its name, such as the item that it is done for. */
      readonly input?: unknown;
    },
  ): Promise<Outcome>;
}

/** Work of several turns and agents, as a program (prompts.md 10). */
export interface Tactic<Input = never, Result = unknown> {
  readonly kind: "tactic";
  readonly name: string;
  readonly agents: readonly string[];
  /** Runs it. @throws {PromptError} `define`, when an agent that it needs is not there, and whatever it throws itself */
  run(task: Input, options?: TacticOptions): Promise<Result>;
}

/** With what a tactic runs. With the `signal` of another tactic's run, what is left out is that of the other. */
export interface TacticOptions {
  readonly agents?: Readonly<Record<string, Agent>>;
  /** Default: those of the default runtime. */
  readonly prompts?: PromptRegistry;
  readonly signal?: AbortSignal;
}

/** What a run of tactics lives on. */
export interface TacticHost extends Pick<TacticCtx, "prompts" | "now" | "step"> {
  /** By name: makes the agent, for one run of one tactic. */
  readonly agents: ReadonlyMap<string, () => Agent>;
  /** Does the work of a tactic that another one calls. Default: nothing is around it. */
  nest?<Result>(
    tactic: { readonly name: string; readonly task: unknown },
    work: () => Result | Promise<Result>,
  ): Promise<Result>;
}

/** Whether a value is a tactic. */
export function isTactic(value: unknown): value is Tactic {
  return isRecord(value) && value.kind === "tactic" && typeof value.run === "function";
}

/** @throws {PromptError} `define`, for the first agent that a tactic needs and that is not known */
export function requireAgents(
  { name, agents }: Pick<Tactic, "name" | "agents">,
  known: Iterable<string>,
): void {
  const names = [...known];
  const missing = agents.find((agent) => !names.includes(agent));
  if (missing === undefined) return;
  const list = names.length === 0 ? "none" : names.join(", ");
  const message = `tactic "${name}" needs agent "${missing}", which is not configured (known: ${list})`;
  throw new PromptError(message, { code: "define" });
}
