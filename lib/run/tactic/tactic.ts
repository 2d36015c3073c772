import {
  defineError,
  didYouMeanNames,
  isRecord,
  linkedSignal,
  orAborted,
  PromptError,
} from "../../core/core.ts";
import { defaultRuntime, type PromptRegistry } from "../../prompt/registry.ts";
import type { Agent } from "../agent/agent.ts";

/** A tactic as it is written. */
export interface TacticDefinition<Name extends string, Input, Result> {
  readonly name: string;
  /** The names of the agents that it needs. */
  readonly agents: readonly Name[];
  call(task: Input, context: TacticCtx<Name>): Result | Promise<Result>;
}

/**
 * Defines a tactic: several turns of several agents as one function (prompts.md 10).
 *
 * ```ts
 * import { createAgent, definePrompt, defineTactic, fakeModel } from "orrery";
 *
 * const task = definePrompt({ path: "task", template: "Translate: {text}" });
 * const translate = defineTactic({
 *   name: "translate",
 *   agents: ["translator"],
 *   async call(text: string, { agents, signal }) {
 *     const reply = await agents.translator.open().ask(task, { text }, { signal });
 *     return reply.text;
 *   },
 * });
 * const translator = createAgent({ name: "translator", model: fakeModel(["Hallo"]), system: "" });
 * console.log(await translate.run("Hello", { agents: { translator } })); // => Hallo
 * ```
 *
 * @throws {PromptError} `define`, when a field is wrong or unknown.
 */
export function defineTactic<const Name extends string, Input, Result>(
  definition: TacticDefinition<Name, Input, Result>,
): Tactic<Input, Awaited<Result>> {
  checkDefinition(definition);
  const { name, agents } = definition;
  const tactic: Tactic<Input, Awaited<Result>> = Object.freeze({
    kind: "tactic",
    name,
    agents: Object.freeze([...agents]),
    run: async (task: Input, options: TacticOptions = {}): Promise<Awaited<Result>> => {
      const result = await runTactic(tactic, task, { host: hostOf(options), signal: options.signal });
      return result as Awaited<Result>; // what its own `call` gave
    },
  });
  calls.set(tactic, definition.call.bind(definition) as TacticCall); // it gets the agents that it names
  return tactic;
}

const KEYS: readonly string[] = ["name", "agents", "call"];

function checkDefinition(definition: unknown): void {
  if (!isRecord(definition)) throw defineError("defineTactic takes an object with name, agents and call");
  const { name, agents, call } = definition;
  if (typeof name !== "string" || name === "") throw defineError("tactic: name must be text");
  const wrong = (message: string) => defineError(`tactic "${name}": ${message}`);
  const unknown = Object.keys(definition).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) {
    throw wrong(`unknown key ${JSON.stringify(unknown)}${didYouMeanNames(unknown, KEYS)}`);
  }
  if (!Array.isArray(agents) || !agents.every((agent) => typeof agent === "string" && agent !== "")) {
    throw wrong("agents must be a list of names");
  }
  if (typeof call !== "function") throw wrong("call must be a function");
}

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
function requireAgents(
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

/** What a tactic does, its input and its agents as they come. */
export type TacticCall = (task: unknown, context: TacticCtx) => unknown;

/** How a tactic's run begins. */
const calls = new WeakMap<Tactic, TacticCall>();

/** A tactic calls another with its own signal: by that the other finds what the run lives on. */
const hosts = new WeakMap<AbortSignal, TacticHost>();

/**
 * Runs a tactic on a host.
 *
 * @throws {PromptError} `define`, when an agent that it needs is not there, and whatever the tactic throws
 */
export async function runTactic(
  tactic: Tactic,
  task: unknown,
  { host, signal }: { readonly host: TacticHost; readonly signal?: AbortSignal },
): Promise<unknown> {
  const { name } = tactic;
  const call = calls.get(tactic);
  if (call === undefined) {
    throw new PromptError(`tactic "${name}": it was defined by another copy of Orrery`, { code: "define" });
  }
  requireAgents(tactic, host.agents.keys());
  using linked = linkedSignal([signal]);
  linked.signal.throwIfAborted();
  hosts.set(linked.signal, host);
  const agents = new Map<string, Agent>();
  for (const agent of tactic.agents) {
    const made = host.agents.get(agent)?.();
    if (made !== undefined) agents.set(agent, made);
  }
  const work = (): unknown =>
    call(task, {
      agents: Object.fromEntries(agents),
      prompts: host.prompts,
      signal: linked.signal,
      now: () => host.now(),
      step: (step, perform, options) => host.step(step, perform, options),
    });
  const isNested = signal !== undefined && hosts.has(signal);
  const working = isNested && host.nest !== undefined ? host.nest({ name, task }, work) : work();
  return await orAborted(Promise.resolve(working), linked.signal);
}

/** What is given, over what the run that the signal belongs to lives on. */
export function hostOf({ agents, prompts, signal }: TacticOptions): TacticHost {
  const outer = signal && hosts.get(signal);
  return {
    agents: agents === undefined
      ? outer?.agents ?? new Map()
      : new Map(Object.entries(agents).map(([name, agent]) => [name, () => agent])),
    prompts: prompts ?? outer?.prompts ?? defaultRuntime().prompts,
    now: outer?.now ?? (() => new Date()),
    nest: outer?.nest,
    step: outer?.step ?? (async (_name, perform) => await perform()),
  };
}
