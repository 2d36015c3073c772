import { linkedSignal } from "../core/async.ts";
import { PromptError } from "../core/prompt_error.ts";
import { defaultRuntime } from "../prompt/registry.ts";
import type { Agent } from "./agent.ts";
import { orAborted } from "./or_aborted.ts";
import { requireAgents, type Tactic, type TacticCtx, type TacticHost, type TacticOptions } from "./tactic.ts";

/** What a tactic does, its input and its agents as they come. */
export type TacticCall = (task: unknown, context: TacticCtx) => unknown;

/** How a tactic's run begins. */
const calls = new WeakMap<Tactic, TacticCall>();

/** A tactic calls another with its own signal: by that the other finds what the run lives on. */
const hosts = new WeakMap<AbortSignal, TacticHost>();

/** Keeps what a tactic does. */
export function keepCall(tactic: Tactic, call: TacticCall): void {
  calls.set(tactic, call);
}

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
