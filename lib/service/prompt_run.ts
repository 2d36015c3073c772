// A prompt or a tactic from its opening to its events: what the command line and a server do with it in the same way.
import type { RunEvent } from "../core/event.ts";
import type { JsonObject } from "../core/json.ts";
import { limitsOf, type ProjectSettings } from "../project/project.ts";
import type { AnyPrompt } from "../prompt/prompt.ts";
import { runPrompt, runTacticRun } from "../run/agent_run.ts";
import { ChangedError } from "./changed_error.ts";
import type { FoundPrompt } from "./find_prompt.ts";
import type { OpenedPromptRun } from "./open_prompt_run.ts";
import { profileAgent } from "./profile_agent.ts";
import type { PromptRunInput } from "./prompt_run_input.ts";
import { asFlagsSay, type PromptRunMeans, promptRunOptions } from "./prompt_run_options.ts";

/** What is said of a prompt. */
export interface Asked {
  readonly path: string;
  readonly say: string | undefined;
  readonly profile: string | undefined;
  readonly values: JsonObject;
  readonly temperature: number | undefined;
}

/** The same as a run keeps it. */
export function askedInput(
  { path, say, profile, values, temperature }: Asked,
): Pick<PromptRunInput, "path" | "say" | "profile" | "values" | "temperature"> {
  return {
    path,
    values,
    ...(say === undefined ? {} : { say }),
    ...(profile === undefined ? {} : { profile }),
    ...(temperature === undefined ? {} : { temperature }),
  };
}

/** What holds of a prompt, a tactic or an agent for the whole run. */
export function openedInput(
  { found, model, modelName }: OpenedPromptRun,
  { project, flags }: {
    readonly project: ProjectSettings;
    readonly flags: { readonly concurrency?: number; readonly timeout?: number };
  },
): Pick<PromptRunInput, "kind" | "contractHash" | "model" | "modelId" | "limits" | "startedAt"> {
  const { timeoutMs, resultBytes } = limitsOf(project, flags);
  return {
    kind: found.kind,
    ...(found.kind === "prompt" && { contractHash: found.prompt.info().contractHash }),
    ...(model === undefined ? {} : { model: modelName ?? model.id, modelId: model.id }),
    limits: {
      timeoutMs,
      resultBytes,
      concurrency: flags.concurrency,
    },
    startedAt: Date.now(),
  };
}

/** Those that are rendered with the values; none of a tactic, which is given whatever there is. */
export function renderedPrompts(
  { found, agent: { system } }: OpenedPromptRun,
  { say }: Pick<Asked, "say">,
): readonly AnyPrompt[] {
  if (found.kind === "tactic") return [];
  return say !== undefined || typeof system === "string" || system === found.prompt
    ? [found.prompt]
    : [found.prompt, system];
}

/** Runs it. */
export function promptEvents(means: PromptRunMeans): AsyncIterable<RunEvent> {
  const { input, opened: { found, opened, agent, model, modelOf } } = means;
  const common = promptRunOptions(means);
  if (found.kind === "prompt") {
    if (model === undefined) throw new Error("a prompt is asked of a model");
    return runPrompt({
      ...common,
      prompt: found.prompt,
      args: input.values,
      model,
      agent: asFlagsSay(agent, input),
      systemArgs: input.values,
      say: input.say,
      history: input.history,
    });
  }
  const agents = new Map([...opened.profiles].map(([name, profile]) => [name, {
    definition: asFlagsSay(profileAgent(profile, opened.registry), input),
    model: () => model ?? modelOf(profile.model),
  }]));
  return runTacticRun({
    ...common,
    tactic: found.tactic,
    task: taskOf(input.values),
    prompts: opened.registry,
    agents,
    startedAt: input.startedAt,
  });
}

/** `task` alone is the task itself; else it is the object of all inputs. */
function taskOf(values: Readonly<Record<string, unknown>>): unknown {
  const names = Object.keys(values);
  return names.length === 1 && names[0] === "task" ? values.task : values;
}

/** @throws {UsageError} when the prompt is not the one that the run began with */
export function assertSamePrompt(found: FoundPrompt, input: PromptRunInput, id: string): void {
  if (found.kind === "tactic" || input.contractHash === undefined) return;
  const { contractHash } = found.prompt.info();
  if (contractHash === input.contractHash) return;
  const { path, say, profile } = input;
  const what = path === ""
    ? `system prompt of profile ${JSON.stringify(profile)}`
    : `prompt ${JSON.stringify(path)}`;
  const anew = say === undefined && path !== "" ? ` with orrery run ${path}` : "";
  throw new ChangedError([
    `Run ${id} began with another version of the ${what} (${input.contractHash}; ` +
    `now ${contractHash}): bring that back to go on, or begin anew${anew}`,
  ], { command: "resume" });
}
