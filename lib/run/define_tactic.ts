import { defineError } from "../core/prompt_error.ts";
import { didYouMeanNames } from "../core/did_you_mean_names.ts";
import { isRecord } from "../core/json.ts";
import { hostOf, keepCall, runTactic, type TacticCall } from "./run_tactic.ts";
import type { Tactic, TacticCtx, TacticOptions } from "./tactic.ts";

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
  keepCall(tactic, definition.call.bind(definition) as TacticCall); // it gets the agents that it names
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
