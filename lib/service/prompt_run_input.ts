import { toJson } from "../core/json.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Message } from "../core/message.ts";
import type { Budget } from "../run/budget.ts";
import type { CallLimits } from "../run/call_graph.ts";
import { budgetFrom, limitsFrom, messagesFrom, numberFrom, objectFrom, textFrom } from "./kept_input.ts";

/** What a run of a prompt, a tactic or an agent is made of: kept with the run, so that a resumed one is the same. */
export interface PromptRunInput {
  /** Of the prompt, or the name of the tactic; empty: the system prompt of the profile. */
  readonly path: string;
  readonly kind: "prompt" | "tactic";
  /** Of the prompt's template and all that its answer is held to; absent for a tactic. */
  readonly contractHash?: string;
  readonly values: JsonObject;
  /** The prompt is the system prompt, and this is said. */
  readonly say?: string;
  /** What was said before, in place of `say`: the last of it is what is answered. */
  readonly history?: readonly Message[];
  /** The agent of `orrery.yaml` that is asked. */
  readonly profile?: string;
  /** As it was named; absent where each agent has its own. */
  readonly model?: string;
  /** What that was when the run began. */
  readonly modelId?: string;
  readonly temperature?: number;
  readonly budget: Budget;
  /** Of the calls of its tools; `concurrency` only where the user said it. */
  readonly limits: CallLimits;
  /** ms since 1970. */
  readonly startedAt: number;
}

/** As a run keeps it. */
export function promptRunJson(input: PromptRunInput): Json {
  return toJson(input);
}

/** What a run has kept. */
export function promptRunInput(kept: Json): PromptRunInput {
  const input = objectFrom(kept);
  const { history } = input;
  return {
    path: String(input.path),
    kind: input.kind === "tactic" ? "tactic" : "prompt",
    contractHash: textFrom(input.contractHash),
    values: objectFrom(input.values),
    say: textFrom(input.say),
    history: history === undefined ? undefined : messagesFrom(history),
    profile: textFrom(input.profile),
    model: textFrom(input.model),
    modelId: textFrom(input.modelId),
    temperature: numberFrom(input.temperature),
    budget: budgetFrom(input.budget),
    limits: limitsFrom(input.limits),
    startedAt: numberFrom(input.startedAt) ?? 0,
  };
}

/** Whether what a conversation has kept is a chat with a profile of `orrery.yaml`. */
export function isAgentTalk(kept: Json): boolean {
  return textFrom(objectFrom(kept).profile) !== undefined;
}
