import type { RunEvent } from "../core/event.ts";
import type { Terminal } from "../host/terminal.ts";
import type { KeptRun } from "../project/open_run.ts";
import { hasContract, runPrompt, runTacticRun } from "../run/agent_run.ts";
import type { Replay } from "../run/replay.ts";
import { AnswerStream } from "./answer_stream.ts";
import { endRun, namingRecord, sayWhatIsLeft } from "./end_run.ts";
import type { FoundPrompt } from "./find_prompt.ts";
import { followRun } from "./follow_run.ts";
import type { Interruptible } from "./around_run.ts";
import type { PromptCallsOptions } from "./open_prompt_calls.ts";
import type { OpenedPromptRun } from "./open_prompt_run.ts";
import { profileAgent } from "./profile_agent.ts";
import type { PromptRunInput } from "./prompt_run_input.ts";
import { asFlagsSay, promptRunOptions } from "./prompt_run_options.ts";
import type { DeliverOptions } from "./end_run.ts";
import type { RunView } from "./run_view.ts";
import { UsageError } from "./exit_code.ts";

/** A prompt or a tactic that is about to run. */
export interface PromptWork {
  readonly terminal: Terminal;
  readonly flags: DeliverOptions["flags"];
  readonly cwd: string;
  readonly view: RunView;
  readonly stop: Interruptible;
  readonly input: PromptRunInput;
  readonly opened: OpenedPromptRun;
  readonly kept: KeptRun | undefined;
  readonly replay?: Replay | undefined;
  /** Where the prompts are that its calls may ask. */
  readonly prompts: PromptCallsOptions["place"];
}

/** Whether the answer goes to stdout as it comes: it is any text, and nothing can come before it. */
export function isStreamedPrompt(
  found: FoundPrompt,
  { json, jsonl, output }: DeliverOptions["flags"],
): boolean {
  if (found.kind === "tactic" || json || jsonl || output !== undefined) return false;
  return !hasContract(found.prompt) && found.prompt.tools.length === 0;
}

/** Runs it and delivers the value; gives the exit code. */
export async function performPrompt(work: PromptWork): Promise<number> {
  const { terminal, view, stop, kept, flags, opened: { found } } = work;
  stop.onSecond(() => {
    view.abandon();
    sayWhatIsLeft(terminal, kept);
  });
  const answer = isStreamedPrompt(found, flags)
    ? new AnswerStream({ stdout: terminal.stdout, onBegin: () => view.pause(), onEnd: () => view.resume() })
    : undefined;
  const events = eventsOf(work);
  const summary = await namingRecord(kept, {
    terminal,
    work: () => followRun(events, { terminal, view, flags, answer, stop }),
  });
  const isJson = found.kind === "prompt" && hasContract(found.prompt);
  return await endRun(summary, { ...work, isShown: answer !== undefined, isJson });
}

function eventsOf(work: PromptWork): AsyncIterable<RunEvent> {
  const { input, opened: { found, opened, agent, model, modelOf } } = work;
  const common = promptRunOptions({ ...work, signal: work.stop.signal });
  if (found.kind === "prompt") {
    if (model === undefined) throw new Error("a prompt is asked of a model");
    return runPrompt({
      ...common,
      prompt: found.prompt,
      args: input.values,
      model,
      agent: asFlagsSay(agent, input),
      systemArgs: input.values,
      ...(input.say === undefined ? {} : { say: input.say }),
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

/** `--input task=…` alone is the task itself; else it is the object of all inputs. */
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
  throw new UsageError([
    `Run ${id} began with another version of the ${what} (${input.contractHash}; ` +
    `now ${contractHash}): bring that back to go on, or begin anew${anew}`,
  ], { command: "resume" });
}
