import { DivergedError } from "../core/journal.ts";
import type { RunEvent } from "../core/event.ts";
import type { Model } from "../core/model.ts";
import { messageOf } from "../core/source_error.ts";
import { agentsOfRun, answerOf } from "./agent_run.ts";
import type { RunAgentsOptions } from "./agent_run.ts";
import { AgentError } from "./agent_error.ts";
import { BudgetError } from "./budget_error.ts";
import type { DialogSource } from "./dialog.ts";
import { endOfError } from "./end_reason.ts";
import type { AgentDefinition } from "./make_agent.ts";
import { systemPromptOf } from "./make_agent.ts";
import type { Run, RunOptions } from "./run.ts";
import { talk } from "./talk.ts";
import type { Answered } from "./talk.ts";
import { endingRun } from "./work_run.ts";

/** Whom to talk with. */
export interface AgentTalkOptions extends RunOptions, Omit<RunAgentsOptions, "keepsFailure"> {
  readonly agent: AgentDefinition;
  /** Of its system prompt. Default: none. */
  readonly args?: Readonly<Record<string, unknown>>;
  readonly model: Model;
}

/**
 * Talks with an agent in one run and one dialog: each message is one turn, held to the contract of its system prompt (prompts.md 8). A
 * turn that fails is told as a `warning`, and the conversation goes on; a budget, and an agent that cannot be asked at all, ends it.
 */
export function agentTalk(source: DialogSource, options: AgentTalkOptions): AsyncIterable<RunEvent> {
  const { agent, args, model } = options;
  return endingRun("chat", options, async (run) => {
    const make = agentsOfRun(run, { ...options, keepsFailure: true });
    const dialog = make(agent, () => model).open(args);
    const system = systemPromptOf(agent);
    return await talk(run, {
      source,
      async answer({ text }) {
        try {
          return { value: answerOf(await dialog.say(text).call(), system) };
        } catch (error) {
          return whatIsLeft(error, run);
        }
      },
    });
  });
}

/** @throws the error, when nothing could come after it */
function whatIsLeft(error: unknown, run: Run): Answered {
  if (error instanceof BudgetError) return { end: endOfError(error) };
  const isOver = run.signal.aborted || error instanceof DivergedError ||
    (error instanceof AgentError && error.code === "config");
  if (isOver) throw error;
  return { problem: messageOf(error) };
}
